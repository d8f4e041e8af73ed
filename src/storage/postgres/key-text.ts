import { subjectKey } from '../../domain/subject.ts'

/** A subject key as PostgreSQL writes a uuid. */
export function keyText(key: Uint8Array): string {
  const hex = Buffer.from(key.buffer, key.byteOffset, key.byteLength).toString('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
}

export function subjectKeyText(trackerId: string, subjectId: string): string {
  return keyText(subjectKey(trackerId, subjectId))
}
