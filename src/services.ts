import { randomInt, randomUUID } from 'node:crypto'
import { rename, writeFile } from 'node:fs/promises'
import type { Config } from './config.ts'
import type { Clock } from './domain/instant.ts'
import { base62Alphabet, type Randomness } from './domain/randomness.ts'
import type { RetentionPolicy } from './domain/retention-window.ts'
import type { Services } from './domain/services.ts'
import type { Store } from './domain/store.ts'
import type { StoreStatus } from './domain/store-status.ts'
import { FileJournal } from './journal/file-journal.ts'
import { mergeJournals } from './journal/merge-journals.ts'
import { type Replayed, replayChanges } from './operations/journal/replay-changes.ts'
import { type BackupContents, contentsPath, formatContents } from './restore.ts'
import { openKeyring, readKeyring, secretPath } from './secret-file.ts'
import { type OpenOptions, openStore, placeOf, storeExists } from './storage/open-store.ts'
import { readStoreStatus } from './storage/store-status.ts'

export { type BackupContents, checkBackup, type Restored, restoreStore } from './restore.ts'

export { rotateSecret } from './secret-file.ts'

const systemClock: Clock = Date.now

const systemRandomness: Randomness = {
  uuid: () => randomUUID(),
  base62: (length) => Array.from({ length }, () => base62Alphabet.charAt(randomInt(62))).join(''),
}

/** Opens the store, which must be there unless it may be made, and puts beside it what is needed to work with it, the secrets it belongs to among it. */
export async function openServices(
  config: Pick<Config, 'store' | 'secretFile' | 'ledgerOrigin' | 'journal' | keyof RetentionPolicy>,
  options?: OpenOptions,
): Promise<Services> {
  const { retentionDays, activityDays, tombstoneDays } = config
  const store = await openStore(config.store, options)
  try {
    const keyring = await openKeyring(config, store.secrets, systemClock())
    return {
      ...store,
      retentionDays,
      activityDays,
      tombstoneDays,
      clock: systemClock,
      randomness: systemRandomness,
      keyring,
      ...(config.journal !== null && { journal: new FileJournal(config.journal) }),
    }
  } catch (error) {
    await store.close()
    throw error
  }
}

/** Opens any store, without the secrets it belongs to: enough to move it as it is. */
export async function openBareStore(
  address: Config['store'],
  options?: OpenOptions,
): Promise<Store & Pick<Services, 'clock'>> {
  return { ...(await openStore(address, options)), clock: systemClock }
}

/** Makes an empty store where there is none. One that is there is not touched, not even upgraded. */
export async function createStore({ store }: Pick<Config, 'store'>): Promise<{
  place: string
  created: boolean
}> {
  const created = !(await storeExists(store))
  if (created) await (await openStore(store, { create: true })).close()
  return { place: placeOf(store), created }
}

/** Where the store is, and a look at it that changes nothing there: it rejects when there is none, or it does not answer. */
export function storeStatus({ store }: Pick<Config, 'store'>): {
  place: string
  readStore(): Promise<StoreStatus>
} {
  return { place: placeOf(store), readStore: () => readStoreStatus(store) }
}

/** Does once more, in a store that is older than it was, what journals tell of. */
export function replayJournals(
  services: Pick<Services, 'replay' | 'ledger' | 'transfer' | 'keyring'>,
  paths: readonly string[],
  onUnreadable: (path: string, line: number) => void,
): Promise<Replayed> {
  return replayChanges(services, services.keyring, mergeJournals(paths, onUnreadable))
}

/** Reads a backup that was just written, and puts what it holds beside it. */
export async function describeBackup(file: string): Promise<BackupContents> {
  const { readBackup } = await import('./storage/sqlite/backup-file.ts')
  const contents = await readBackup(file)
  const draft = `${contentsPath(file)}.partial`
  await writeFile(draft, formatContents(contents), { mode: 0o600 })
  await rename(draft, contentsPath(file))
  return contents
}

/** Where the secrets of a store are looked for. */
export function secretFileOf({ secretFile }: Pick<Config, 'secretFile'>, store: Config['store']): string {
  return secretPath({ secretFile, store })
}

/** Replays the configured journal in the copy of a store, with the secrets that the store belongs to. */
export async function replayInto(
  config: Config,
  { from, target }: { from: Config['store']; target: Store },
  onUnreadable: (path: string, line: number) => void,
): Promise<Replayed> {
  const keyring = await readKeyring({ ...config, store: from }, await target.secrets.list())
  const paths = config.journal === null ? [] : [config.journal]
  if (!keyring) throw new Error(`There are no secrets at ${secretFileOf(config, from)}.`)
  return replayJournals({ ...target, keyring }, paths, onUnreadable)
}
