import { randomInt, randomUUID } from 'node:crypto'
import type { Config } from './config.ts'
import type { Clock } from './domain/instant.ts'
import type { RetentionDays } from './domain/plan.ts'
import { base62Alphabet, type Randomness } from './domain/randomness.ts'
import type { Store } from './domain/store.ts'
import type { StoreStatus } from './domain/store-status.ts'
import { type OpenOptions, openStore, placeOf } from './storage/open-store.ts'
import { readStoreStatus } from './storage/store-status.ts'

const systemClock: Clock = Date.now

const systemRandomness: Randomness = {
  uuid: () => randomUUID(),
  base62: (length) => Array.from({ length }, () => base62Alphabet.charAt(randomInt(62))).join(''),
}

/** What commands and the service work with: the store's ports, the plans' windows, the time, and chance. */
export interface Workplace extends Store {
  retentionDays: RetentionDays
  clock: Clock
  randomness: Randomness
}

/** Opens the store, and puts beside it what is needed to work with it. */
export async function openWorkplace(
  { store, retentionDays }: Pick<Config, 'store' | 'retentionDays'>,
  options?: OpenOptions,
): Promise<Workplace> {
  return {
    ...(await openStore(store, options)),
    retentionDays,
    clock: systemClock,
    randomness: systemRandomness,
  }
}

/** Where the store is, and a look at it that changes nothing there: it rejects when there is none, or it does not answer. */
export function storeStatus({ store }: Pick<Config, 'store'>): {
  place: string
  readStore(): Promise<StoreStatus>
} {
  return { place: placeOf(store), readStore: () => readStoreStatus(store) }
}
