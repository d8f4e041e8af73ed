import { rename, writeFile } from 'node:fs/promises'
import type { Config } from './config.ts'
import type { Clock } from './domain/instant.ts'
import { KnownChanges } from './domain/journal.ts'
import type { ReplayedInSetBack } from './domain/replay.ts'
import type { RetentionPolicy } from './domain/retention.ts'
import { FairQueue } from './domain/semaphore.ts'
import type { Services, ServicesWithoutSecrets } from './domain/services.ts'
import type { Store, StoreStatus } from './domain/store.ts'
import { FileJournal, mergeJournals } from './journal.ts'
import { LedgerJournal } from './operations/journal.ts'
import { type ReplayOptions, type RestoredDeps, replayIfSetBack } from './operations/replay-journal.ts'
import { type BackupContents, contentsPath, formatContents } from './restore.ts'
import { systemRandomness } from './runtime/randomness.ts'
import {
  adoptStore,
  openKeyring,
  readKeyring,
  type SecretReports,
  secretPath,
} from './runtime/secret-file.ts'
import { type OpenOptions, openStore, placeOf, storeExists } from './storage/open-store.ts'
import { readStoreStatus } from './storage/store-status.ts'

export { type BackupContents, checkBackup, type Restored, restoreStore } from './restore.ts'

export { rotateSecret } from './runtime/secret-file.ts'

const systemClock: Clock = Date.now

/** Few enough that a request between their slices hardly waits. */
const jobBounds = { permits: 4, maxWaitingEach: 100, waitTimeoutMs: 60_000 }

type ServicesConfig = Pick<
  Config,
  'store' | 'secretFile' | 'ledgerOrigin' | 'journal' | keyof RetentionPolicy
>

/**
 * Opens the store, which must be there unless it may be made, and puts beside it what is needed to work with it, the secrets it
 * belongs to among it.
 */
export async function openServices(
  config: ServicesConfig,
  options?: OpenOptions & SecretReports,
): Promise<Services> {
  return withSecrets(config, await openServicesWithoutSecrets(config, options), options)
}

/** The same for work that needs no secret: one that was lost must not keep anybody from revoking a key. */
export async function openServicesWithoutSecrets(
  config: ServicesConfig,
  options?: OpenOptions,
): Promise<ServicesWithoutSecrets> {
  const { retentionDays, activityDays, tombstoneDays, journal } = config
  const store = await openStore(config.store, options)
  return {
    ...store,
    retentionDays,
    activityDays,
    tombstoneDays,
    clock: systemClock,
    randomness: systemRandomness,
    jobs: new FairQueue(jobBounds),
    ...(journal !== null && { journal: new LedgerJournal(new FileJournal(journal), store) }),
  }
}

/** Adds the secrets that a store belongs to. Where that fails, it is closed. */
export async function withSecrets(
  config: ServicesConfig,
  services: ServicesWithoutSecrets,
  reports: SecretReports = {},
): Promise<Services> {
  try {
    return {
      ...services,
      keyring: await openKeyring(config, services.secrets, systemClock(), reports),
    }
  } catch (error) {
    await services.close()
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

/** Does once more, in a store that was set back, what journals tell of. */
export function replayJournals(
  services: RestoredDeps & Pick<Services, 'keyring'>,
  paths: readonly string[],
  onUnreadable: (path: string, line: number) => void,
  options?: ReplayOptions,
): Promise<ReplayedInSetBack> {
  return replayIfSetBack(services, services.keyring, mergeJournals(paths, onUnreadable), options)
}

/** What journals hold. `onLines` is told how many lines were read, now and then. */
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

/** Replays journals in the copy of a store, with the secrets that the store belongs to. */
export async function replayInto(
  config: Config,
  { from, target, journals }: { from: Config['store']; target: Store; journals: readonly string[] },
  onUnreadable: (path: string, line: number) => void,
): Promise<ReplayedInSetBack> {
  const keyring = await readKeyring({ ...config, store: from }, await target.secrets.list())
  if (!keyring) throw new Error(`There are no secrets at ${secretFileOf(config, from)}.`)
  await adoptStore(target.secrets, keyring)
  const deps = { ...target, clock: systemClock, randomness: systemRandomness }
  return replayIfSetBack(deps, keyring, mergeJournals(journals, onUnreadable))
}
