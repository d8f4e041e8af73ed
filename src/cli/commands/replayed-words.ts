import type { Replayed, ReplayedInSetBack } from '../../domain/replay.ts'
import { counted } from '../counted.ts'

/** What a replay did, in lines for people. */
export function replayedInWords({
  entries,
  tombstones,
  movedEntries,
  revokedKeys,
  rotatedKeys,
  removed,
  entriesOfOthers,
  stoppedBatches = 0,
  endedSignIns = 0,
  withdrawnLinks = 0,
}: Replayed & Partial<ReplayedInSetBack>): string[] {
  const lines = [
    `Appended ${counted(entries, 'entry', 'entries')} of ledgers and ${counted(tombstones, 'tombstone')}; revoked ${counted(revokedKeys, 'key')}, rotated ${rotatedKeys}.`,
    `Removed ${counted(removed.subjects, 'erased subject')} with ${counted(removed.sessions, 'session')} and ${counted(removed.events, 'event')}.`,
  ]
  if (movedEntries > 0) {
    lines.push(
      `Moved ${counted(movedEntries, 'entry', 'entries')} of ledgers behind those of the journal. Receipts issued for them since the store was set back no longer match: get new ones.`,
    )
  }
  if (stoppedBatches > 0) {
    lines.push(
      `Stopped ${counted(stoppedBatches, 'batch', 'batches')} of erasures that ran when the store was copied.`,
    )
  }
  if (endedSignIns + withdrawnLinks > 0) {
    lines.push(
      `Ended ${counted(endedSignIns, 'sign-in')} and withdrew ${counted(withdrawnLinks, 'link')} to set a password that the copy brought back.`,
    )
  }
  if (entriesOfOthers > 0) {
    lines.push(
      `Left out ${counted(entriesOfOthers, 'entry', 'entries')} of organisations that this store does not have.`,
    )
  }
  return lines
}
