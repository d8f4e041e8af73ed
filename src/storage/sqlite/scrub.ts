import type { DatabaseSync } from 'node:sqlite'
import type { Instant } from '../../domain/instant.ts'
import type { ScrubState } from '../../domain/upkeep.ts'
import { integer } from '../rows/row.ts'
import { transaction, withBusyTimeout, writeTimeoutMs } from './connection.ts'
import { truncateLog } from './write-ahead-log.ts'

/** How long a scrub waits at its end for reads that began before it. */
const readersTimeoutMs = 60_000

export function scrubQueries(db: DatabaseSync) {
  const state = db.prepare('SELECT * FROM scrubs')
  return {
    scrubState(): ScrubState {
      const row = state.get() ?? {}
      return {
        lastAt: integer(row, 'scrubbed_at'),
        isDue: integer(row, 'deletions') !== integer(row, 'scrubbed_deletions'),
      }
    },
  }
}

export function scrubCommands(db: DatabaseSync) {
  const state = db.prepare('SELECT deletions FROM scrubs')
  const note = db.prepare('UPDATE scrubs SET scrubbed_deletions = ?, scrubbed_at = ?')
  const noteSweep = db.prepare(
    'INSERT INTO sweeps VALUES (1, ?) ON CONFLICT (id) DO UPDATE SET begun_at = excluded.begun_at',
  )
  const adopt = db.prepare(
    'UPDATE scrubs SET scrubbed_at = ?, deletions = max(deletions, scrubbed_deletions + ?)',
  )
  return {
    /**
     * Deleting overwrites the rows themselves, but when SQLite moves rows from page to page it leaves copies in the gaps. Only
     * writing every page anew rids the file of them; emptying the log then puts the new pages in the place of the old.
     */
    scrub(now: Instant): void {
      const deletions = integer(state.get() ?? {}, 'deletions')
      withBusyTimeout(db, writeTimeoutMs, () => db.exec('VACUUM'))
      if (!truncateLog(db, readersTimeoutMs)) {
        throw new Error(
          'Another process has been using old pages for a minute; scrub again when it has ended.',
        )
      }
      transaction(db, () => note.run(deletions, now))
      truncateLog(db, readersTimeoutMs)
    },
    noteSweep: (begunAt: Instant): void =>
      transaction(db, () => {
        noteSweep.run(begunAt)
      }),
    adoptScrubState: ({ lastAt, isDue }: ScrubState): void =>
      transaction(db, () => {
        adopt.run(lastAt, isDue ? 1 : 0)
      }),
  }
}

/** Counts a deletion, within its transaction: a scrub is due from then on. */
export function deletionNote(db: DatabaseSync): () => void {
  const note = db.prepare('UPDATE scrubs SET deletions = deletions + 1')
  return () => {
    note.run()
  }
}
