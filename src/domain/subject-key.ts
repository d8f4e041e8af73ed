import { hash } from 'node:crypto'

/**
 * The compact key that sessions and events hang on: the first 16 bytes of SHA-256 over tracker id, NUL, subject id. The same on
 * every engine. Ids hold no control characters, so the NUL keeps ('a', 'bc') and ('ab', 'c') apart.
 */
export function subjectKey(trackerId: string, subjectId: string): Uint8Array {
  return hash('sha256', `${trackerId}\0${subjectId}`, 'buffer').subarray(0, 16)
}
