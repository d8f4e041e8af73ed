import type { DatabaseSync } from 'node:sqlite'
import { activityCommands } from './activity.ts'
import { apiKeyCommands } from './api-key.ts'
import { backupCommands } from './backup.ts'
import { pause, touch, transaction } from './connection.ts'
import { deletionCommands } from './deletion.ts'
import { erasureBatchCommands } from './erasure-batch.ts'
import { derivationCommands } from './identifier-derivation.ts'
import { ingestCommands } from './ingest.ts'
import { memberCommands } from './member.ts'
import { organisationCommands } from './organisation.ts'
import { replayCommands } from './replay.ts'
import { retentionWindowCommands } from './retention-window.ts'
import { scrubCommands } from './scrub.ts'
import { scrubPages } from './scrub-pages.ts'
import { secretCommands } from './secret.ts'
import { signInCommands } from './sign-in.ts'
import { subjectCommands } from './subject.ts'
import { sweepCommands } from './sweep.ts'
import { tombstoneCommands } from './tombstone.ts'
import { trackerCommands } from './tracker.ts'
import { transferCommands } from './transfer.ts'

/** Long enough for a writer of another process, who looks every millisecond, to find the store free. */
const courtesyMs = 2

/** Everything that writes, on one connection. Each command is one transaction. */
export function commands(db: DatabaseSync) {
  const activity = activityCommands(db)
  const deletions = deletionCommands(db)
  const { ingest, countRefused } = ingestCommands(db)
  return {
    /** Nothing: who asks for it learns that the thread is ready. */
    getReady(): void {},
    /** Finds out whether the disk can be written to. */
    tryToWrite(): void {
      transaction(db, () => db.exec(touch))
    },
    ...organisationCommands(db),
    ...trackerCommands(db),
    ...apiKeyCommands(db),
    ...memberCommands(db),
    ...signInCommands(db),
    ...activity,
    ...deletions,
    ...subjectCommands(db),
    ...erasureBatchCommands(db),
    ...tombstoneCommands(db),
    ...secretCommands(db),
    ...scrubCommands(db),
    ...backupCommands(db),
    ...transferCommands(db),
    ...replayCommands(db),
    ...retentionWindowCommands(db),
    countRefused,
    // These come one after the other for as long as there is work.
    scrubPages: courteous(scrubPages),
    ingest: courteous(ingest),
    addDerived: courteous(derivationCommands(db).addDerived),
    sweep: courteous(sweepCommands(db).sweep),
    sweepActivity: courteous(activity.sweepActivity),
    removeTracker: courteous(deletions.removeTracker),
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
