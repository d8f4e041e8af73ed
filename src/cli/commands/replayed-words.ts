import type { Replayed } from '../../operations/journal/replay-changes.ts'

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
    `Appended ${entries} entries of ledgers and ${tombstones} tombstones; revoked ${revokedKeys} keys, rotated ${rotatedKeys}.`,
    `Removed ${removed.subjects} erased subjects with ${removed.sessions} sessions and ${removed.events} events.`,
  ]
  if (entriesOfOthers === 0) return lines
  return [...lines, `Left out ${entriesOfOthers} entries of organisations that this store does not have.`]
}
