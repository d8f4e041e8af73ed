import type { Replayed } from '../../operations/journal/replay-changes.ts'
import { counted } from '../counted.ts'

/** What a replay did, in lines for people. */
export function replayedInWords({
  entries,
  tombstones,
  revokedKeys,
  rotatedKeys,
  removed,
  entriesOfOthers,
}: Replayed): string[] {
  const lines = [
    `Appended ${counted(entries, 'entry', 'entries')} of ledgers and ${counted(tombstones, 'tombstone')}; revoked ${counted(revokedKeys, 'key')}, rotated ${rotatedKeys}.`,
    `Removed ${counted(removed.subjects, 'erased subject')} with ${counted(removed.sessions, 'session')} and ${counted(removed.events, 'event')}.`,
  ]
  if (entriesOfOthers === 0) return lines
  return [
    ...lines,
    `Left out ${counted(entriesOfOthers, 'entry', 'entries')} of organisations that this store does not have.`,
  ]
}
