import { randomInt, randomUUID } from 'node:crypto'
import type { Config } from './config.ts'
import type { Clock } from './domain/instant.ts'
import { base62Alphabet, type Randomness } from './domain/randomness.ts'
import type { RetentionPolicy } from './domain/retention-window.ts'
import type { Services } from './domain/services.ts'
import type { StoreStatus } from './domain/store-status.ts'
import { type OpenOptions, openStore, placeOf, storeExists } from './storage/open-store.ts'
import { readStoreStatus } from './storage/store-status.ts'

const systemClock: Clock = Date.now

const systemRandomness: Randomness = {
  uuid: () => randomUUID(),
  base62: (length) => Array.from({ length }, () => base62Alphabet.charAt(randomInt(62))).join(''),
}

/** Opens the store, which must be there unless it may be made, and puts beside it what is needed to work with it. */
export async function openServices(
  { store, retentionDays, activityDays }: Pick<Config, 'store' | keyof RetentionPolicy>,
  options?: OpenOptions,
): Promise<Services> {
  return {
    ...(await openStore(store, options)),
    retentionDays,
    activityDays,
    clock: systemClock,
    randomness: systemRandomness,
  }
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
