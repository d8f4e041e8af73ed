import type { DatabaseSync } from 'node:sqlite'
import { activityCommands } from './activity.ts'
import { apiKeyCommands } from './api-key.ts'
import { backupCommands } from './backup.ts'
import { pause } from './connection.ts'
import { ingestCommands } from './ingest.ts'
import { memberCommands } from './member.ts'
import { organisationCommands } from './organisation.ts'
import { retentionCommands } from './retention.ts'
import { retentionWindowCommands } from './retention-window.ts'
import { scrubCommands } from './scrub.ts'
import { signInCommands } from './sign-in.ts'
import { type ErasureOutcome, type SubjectErasure, subjectCommands } from './subject.ts'
import { trackerCommands } from './tracker.ts'
import { transferCommands } from './transfer.ts'
import { logTruncation } from './write-ahead-log.ts'

/** Long enough for a writer of another process, who looks every millisecond, to find the store free. */
const courtesyMs = 2

/** Everything that writes, on one connection. Each command is one transaction. */
export function commands(db: DatabaseSync) {
  const truncateLog = logTruncation(db)
  const { eraseSubjects } = subjectCommands(db)
  return {
    ...organisationCommands(db),
    ...trackerCommands(db),
    ...apiKeyCommands(db),
    ...memberCommands(db),
    ...signInCommands(db),
    ...scrubCommands(db),
    ...backupCommands(db),
    ...transferCommands(db),
    ...retentionWindowCommands(db),
    // These come one after the other for as long as there is work.
    ingest: courteous(ingestCommands(db).ingest),
    sweep: courteous(retentionCommands(db).sweep),
    sweepActivity: courteous(activityCommands(db).sweepActivity),
    /**
     * Empties the log once for all of them; also when nothing was there any more: an erasure that was cut off after its commit has
     * left its pages in the log.
     */
    eraseSubjects(erasures: readonly SubjectErasure[]): ErasureOutcome[] {
      const outcomes = eraseSubjects(erasures)
      if (outcomes.some((outcome) => outcome !== null && !(outcome instanceof Error))) truncateLog()
      return outcomes
    },
  }
}

/** Leaves a moment after a command in which other processes come to write. */
function courteous<Args extends unknown[], Result>(
  command: (...args: Args) => Result,
): (...args: Args) => Result {
  return (...args) => {
    const result = command(...args)
    pause(courtesyMs)
    return result
  }
}

export type Commands = ReturnType<typeof commands>
