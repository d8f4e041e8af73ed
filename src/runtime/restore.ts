import { existsSync } from 'node:fs'
import { readFile, rename, writeFile } from 'node:fs/promises'
import { isDeepStrictEqual } from 'node:util'
import type { Config } from '../config.ts'
import { LetheError } from '../domain/errors.ts'
import { KnownChanges } from '../domain/journal.ts'
import type { JournalLine } from '../domain/journal-line.ts'
import type { ReplayedInSetBack } from '../domain/replay.ts'
import type { Services } from '../domain/services.ts'
import type { Store } from '../domain/store.ts'
import { mergeJournals } from '../journal.ts'
import { readChanges } from '../operations/journal-changes.ts'
import {
  type ReplayOptions,
  type RestoredDeps,
  replayIfSetBack,
  replayInRestored,
} from '../operations/replay-journal.ts'
import { storeExists } from '../storage/open-store.ts'
import type { BackupContents } from '../storage/sqlite/backup.ts'
import type { StoreInPlace } from '../storage/sqlite/replace-store.ts'
import { systemRandomness } from './randomness.ts'
import { adoptStore, openKeyring, readKeyring, type SecretReports, secretPath } from './secret-file.ts'

export type { BackupContents } from '../storage/sqlite/backup.ts'

export interface Restored extends ReplayedInSetBack {
  /** What the backup replaced. */
  replaced: 'store' | 'unreadable' | 'none'
  backup: BackupContents
}

interface RestoreOptions extends SecretReports {
  backup: string
  journals: readonly string[]
  onUnreadable(path: string, line: number): void
  /** Called before the store is replaced. Throws to cancel. */
  confirm(isThere: boolean): Promise<void>
}

/**
 * Replaces the embedded store by a backup and repeats later changes, from the store and from journals. Throws
 * if the backup is invalid, a process uses the store, or a ledger would be changed; nothing changes then.
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
  const { replaceStore } = await import('../storage/sqlite/replace-store.ts')
  const restored = await replaceStore(store.path, options.backup, async (restored, inPlace) => {
    const keyring = await openKeyring(config, restored.secrets, Date.now(), options)
    if (typeof inPlace === 'object') await readKeyring(config, await inPlace.secrets.list())
    const deps = { ...restored, clock: Date.now, activityDays: config.activityDays }
    const replayed = await replayInRestored(deps, keyring, changes(inPlace, options))
    await restored.maintenance.scrub(Date.now())
    const replaced = typeof inPlace === 'object' ? ('store' as const) : inPlace
    return { replaced, backup: contents, ...replayed }
  })
  if (restored) return restored
  throw new LetheError(
    'invalid_request',
    `Another process uses the store ${store.path}. Stop the service and any other process that uses it, then try again.`,
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

/** Reads a backup completely and compares it with the file next to it. Throws if it is invalid. */
export async function checkBackup(file: string): Promise<BackupContents> {
  const { readBackup } = await import('../storage/sqlite/backup.ts')
  const contents = await readBackup(file)
  const beside = await readFile(contentsPath(file), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null
    throw error
  })
  if (beside !== null && !describes(beside, contents)) {
    throw new Error(`${file} is not the backup that ${contentsPath(file)} describes.`)
  }
  return contents
}

/** In any order: another version may know other tables. */
function describes(text: string, contents: BackupContents): boolean {
  try {
    return isDeepStrictEqual(JSON.parse(text), contents)
  } catch {
    return false
  }
}

/** The file next to a backup that describes it. */
function contentsPath(file: string): string {
  return `${file}.json`
}

function formatContents(contents: BackupContents): string {
  return `${JSON.stringify(contents, null, 2)}\n`
}

/** Replays journals in a store that was set back. */
export function replayJournals(
  services: RestoredDeps & Pick<Services, 'keyring'>,
  paths: readonly string[],
  onUnreadable: (path: string, line: number) => void,
  options?: ReplayOptions,
): Promise<ReplayedInSetBack> {
  return replayIfSetBack(services, services.keyring, mergeJournals(paths, onUnreadable), options)
}

/** `onLines` is called with the number of lines read. */
export async function readJournals(
  paths: readonly string[],
  onUnreadable: (path: string, line: number) => void,
  onLines: (count: number) => void,
): Promise<KnownChanges> {
  const known = new KnownChanges()
  let lines = 0
  for await (const line of mergeJournals(paths, onUnreadable)) {
    known.add(line)
    lines += 1
    if (lines % 1_000 === 0) onLines(1_000)
  }
  return known
}

/** Throws if the description of a new backup would replace a file. */
export function requireNoContents(file: string): void {
  const path = contentsPath(file)
  if (existsSync(path)) throw new Error(`${path} already exists. Choose another file.`)
}

/** Describes a new backup in a file next to it. */
export async function describeBackup(file: string): Promise<BackupContents> {
  const { readBackup } = await import('../storage/sqlite/backup.ts')
  const contents = await readBackup(file)
  const draft = `${contentsPath(file)}.partial`
  await writeFile(draft, formatContents(contents), { mode: 0o600 })
  await rename(draft, contentsPath(file))
  return contents
}

export function secretFileOf({ secretFile }: Pick<Config, 'secretFile'>, store: Config['store']): string {
  return secretPath({ secretFile, store })
}

/** Replays journals in the copy of a store. */
export async function replayInto(
  config: Config,
  { from, target, journals }: { from: Config['store']; target: Store; journals: readonly string[] },
  onUnreadable: (path: string, line: number) => void,
): Promise<ReplayedInSetBack> {
  const keyring = await readKeyring({ ...config, store: from }, await target.secrets.list())
  if (!keyring) throw new Error(`There are no secrets at ${secretFileOf(config, from)}.`)
  await adoptStore(target.secrets, keyring)
  const { activityDays } = config
  const deps = { ...target, clock: Date.now, randomness: systemRandomness, activityDays }
  return replayIfSetBack(deps, keyring, mergeJournals(journals, onUnreadable))
}
