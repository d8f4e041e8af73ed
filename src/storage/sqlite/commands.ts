import type { DatabaseSync } from 'node:sqlite'
import { apiKeyCommands } from './api-key.ts'
import { ingestCommands } from './ingest.ts'
import { organisationCommands } from './organisation.ts'
import { subjectCommands } from './subject.ts'
import { trackerCommands } from './tracker.ts'
import { logTruncation } from './write-ahead-log.ts'

/** Everything that writes, on one connection. Each command is one transaction. */
export function commands(db: DatabaseSync) {
  const truncateLog = logTruncation(db)
  const { eraseSubject } = subjectCommands(db)
  return {
    ...organisationCommands(db),
    ...trackerCommands(db),
    ...apiKeyCommands(db),
    ...ingestCommands(db),
    /** Also when nothing was there any more: an erasure that was cut off after its commit has left its pages in the log. */
    eraseSubject(...args: Parameters<typeof eraseSubject>): ReturnType<typeof eraseSubject> {
      const counts = eraseSubject(...args)
      if (counts !== null) truncateLog()
      return counts
    },
  }
}

export type Commands = ReturnType<typeof commands>
