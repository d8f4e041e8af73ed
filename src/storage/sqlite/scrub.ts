import { realpathSync } from 'node:fs'
import { dirname } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { setTimeout as delay } from 'node:timers/promises'
import type { Instant } from '../../domain/instant.ts'
import type { MaintenanceStore, ScrubOptions, ScrubState } from '../../domain/maintenance.ts'
import { integer } from '../nouns/row.ts'
import { removeAbandonedBackups } from './backup.ts'
import { transaction } from './connection.ts'
import type { CommandRunner, Connections } from './connections.ts'
import { rawHandle, type scrubPages } from './scrub-pages.ts'
import { truncateLog } from './write-ahead-log.ts'

/** The pause before a piece is tried again while readers hold the log. */
const lookAgainMs = 50

type Commands = ReturnType<typeof scrubCommands> & { scrubPages: typeof scrubPages }

export function scrubStore({
  path,
  reader,
  writer,
}: Connections<Commands>): Pick<MaintenanceStore, 'scrubState' | 'scrubsEveryByte' | 'scrub'> {
  const readState = scrubStateReading(reader)
  const state = reader.prepare('SELECT * FROM scrubs')
  const pageCount = reader.prepare('PRAGMA page_count')
  return {
    scrubState: async () => readState(),
    scrubsEveryByte: true,
    async scrub(now, options) {
      // The scope of a scrub that begins now: the deletions and pages so far.
      const scope = {
        deletions: integer(state.get() ?? {}, 'deletions'),
        pages: integer(pageCount.get() ?? {}, 'page_count'),
      }
      await scrubInPieces(path, writer, scope, now, options)
      removeAbandonedBackups(dirname(realpathSync(path)))
    },
  }
}

/** Reads the scrub state of a store. */
export function scrubStateReading(db: DatabaseSync): () => ScrubState {
  const state = db.prepare('SELECT * FROM scrubs')
  return () => {
    const row = state.get() ?? {}
    return {
      lastAt: integer(row, 'scrubbed_at'),
      isDue: integer(row, 'deletions') !== integer(row, 'scrubbed_deletions'),
    }
  }
}

/**
 * Scrubs in small pieces, each a separate write, so that other writes come in between. What is deleted after
 * it began is left to the next scrub. Rejects if readers block it for longer than `readersTimeoutMs`.
 */
export async function scrubInPieces(
  path: string,
  writer: CommandRunner<Commands>,
  { deletions, pages }: { deletions: number; pages: number },
  now: Instant,
  { signal, onProgress, readersTimeoutMs = 60_000 }: ScrubOptions & { readersTimeoutMs?: number } = {},
): Promise<void> {
  // SQLite puts the log beside the file itself, not beside a link to it.
  const file = realpathSync(path)
  const handle = rawHandle(file)
  for (let next = 1; next <= pages; ) {
    next = await untilFree(
      () => writer.run('scrubPages', file, handle, next, pages),
      readersTimeoutMs,
      signal,
    )
    onProgress?.((next - 1) / pages)
  }
  await writer.run('noteScrub', deletions, now)
  await untilFree(() => writer.run('truncateLog'), readersTimeoutMs, signal)
}

/** Retries until readers release the log, without blocking the writer. Rejects if they hold it too long. */
async function untilFree<Result>(
  attempt: () => Promise<Result | null>,
  timeoutMs: number,
  signal: AbortSignal | undefined,
): Promise<Result> {
  const deadline = performance.now() + timeoutMs
  for (;;) {
    signal?.throwIfAborted()
    const result = await attempt()
    if (result !== null) return result
    if (performance.now() > deadline) {
      throw new Error('Another process has been using old pages for a minute; scrub again when it has ended.')
    }
    await delay(lookAgainMs)
  }
}

export function scrubCommands(db: DatabaseSync) {
  const note = db.prepare('UPDATE scrubs SET scrubbed_deletions = ?, scrubbed_at = ?')
  return {
    /** Records that all pages were scrubbed. */
    noteScrub: (deletions: number, now: Instant): void =>
      transaction(db, () => {
        note.run(deletions, now)
      }),
    /** Empties the log; `null` if somebody holds it. */
    truncateLog: (): true | null => (truncateLog(db) ? true : null),
  }
}

/** Reads the number of deletions so far. */
export function deletionCount(db: DatabaseSync): () => number {
  const state = db.prepare('SELECT * FROM scrubs')
  return () => integer(state.get() ?? {}, 'deletions')
}
