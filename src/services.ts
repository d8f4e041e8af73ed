import { randomInt, randomUUID } from 'node:crypto'
import type { Config } from './config.ts'
import type { Clock } from './domain/instant.ts'
import { base62Alphabet, type Randomness } from './domain/randomness.ts'
import type { RetentionPolicy } from './domain/retention-window.ts'
import type { Services } from './domain/services.ts'
import type { Store } from './domain/store.ts'
import type { StoreStatus } from './domain/store-status.ts'
import { FileJournal } from './journal/file-journal.ts'
import { openKeyring } from './secret-file.ts'
import { type OpenOptions, openStore, placeOf, storeExists } from './storage/open-store.ts'
import { readStoreStatus } from './storage/store-status.ts'

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
