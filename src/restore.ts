import { readFile } from 'node:fs/promises'
import type { Config } from './config.ts'
import { LetheError } from './domain/errors.ts'
import { KnownChanges } from './domain/journal.ts'
import type { JournalLine } from './domain/journal-line.ts'
import type { ReplayedInSetBack } from './domain/replay.ts'
import { mergeJournals } from './journal.ts'
import { readChanges } from './operations/journal-changes.ts'
import { replayInRestored } from './operations/replay-journal.ts'
import { systemRandomness } from './runtime/randomness.ts'
import { openKeyring, readKeyring, type SecretReports } from './runtime/secret-file.ts'
import { storeExists } from './storage/open-store.ts'
import type { BackupContents } from './storage/sqlite/backup-file.ts'
import type { StoreInPlace } from './storage/sqlite/replace-store.ts'

export type { BackupContents } from './storage/sqlite/backup-file.ts'

/** What a restore did. */
export interface Restored extends ReplayedInSetBack {
  /** What stood in the place of the store before. */
  replaced: 'store' | 'unreadable' | 'none'
  backup: BackupContents
}

interface RestoreOptions extends SecretReports {
  backup: string
  journals: readonly string[]
  onUnreadable(path: string, line: number): void
  /** Told what is in place before it is touched; whoever does not want it replaced throws. */
  confirm(isThere: boolean): Promise<void>
}

/**
 * Puts a backup in the place of the embedded store, and does once more what has happened since: as the store in place tells, and
 * journals. Throws, with nothing changed, for a backup that will not do, while a process uses the store, and where a ledger would not
 * end as it was.
 */
export async function restoreStore(config: Config, options: RestoreOptions): Promise<Restored> {
  const { store } = config
  if (store.engine !== 'sqlite') {
    throw new LetheError(
      'invalid_request',
      'The store is a PostgreSQL database: restore it with its own tools, then run "lethe journal replay".',
    )
  }
  const contents = await checkBackup(options.backup)
  await readKeyring(config, contents.secrets)
  await options.confirm(await storeExists(store).catch(() => true))
  const { replaceStore } = await import('./storage/sqlite/replace-store.ts')
  const restored = await replaceStore(store.path, options.backup, async (restored, inPlace) => {
    const keyring = await openKeyring(config, restored.secrets, Date.now(), options)
    if (typeof inPlace === 'object') await readKeyring(config, await inPlace.secrets.list())
    const deps = { ...restored, clock: Date.now, randomness: systemRandomness }
    const replayed = await replayInRestored(deps, keyring, changes(inPlace, options))
    await restored.maintenance.scrub(Date.now())
    const replaced = typeof inPlace === 'object' ? ('store' as const) : inPlace
    return { replaced, backup: contents, ...replayed }
  })
  if (restored) return restored
  throw new LetheError(
    'invalid_request',
    `A process uses the store ${store.path}. Stop the service and whatever else works with it, then try again.`,
  )
}

async function* changes(
  inPlace: StoreInPlace,
  { journals, onUnreadable }: Pick<RestoreOptions, 'journals' | 'onUnreadable'>,
): AsyncGenerator<JournalLine> {
  if (typeof inPlace === 'object') {
    for await (const lines of readChanges(inPlace, new KnownChanges())) yield* lines
  }
  yield* mergeJournals(journals, onUnreadable)
}

/** Reads a backup from end to end, and holds it against what stands beside it. Throws for one that will not do. */
export async function checkBackup(file: string): Promise<BackupContents> {
  const { readBackup } = await import('./storage/sqlite/backup-file.ts')
  const contents = await readBackup(file)
  const beside = await readFile(contentsPath(file), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null
    throw error
  })
  if (beside !== null && beside !== formatContents(contents)) {
    throw new Error(`${file} is not the backup that ${contentsPath(file)} tells of.`)
  }
  return contents
}

/** The file beside a backup that tells what it holds. */
export function contentsPath(file: string): string {
  return `${file}.json`
}

export function formatContents(contents: BackupContents): string {
  return `${JSON.stringify(contents, null, 2)}\n`
}
