import { randomInt, randomUUID } from 'node:crypto'
import type { Config } from './config.ts'
import type { Clock } from './domain/instant.ts'
import type { RetentionDays } from './domain/plan.ts'
import { base62Alphabet, type Randomness } from './domain/randomness.ts'
import type { Store } from './domain/store.ts'
import { openLimiter } from './limiter/open-limiter.ts'
import type { StatusSources } from './operations/read-status.ts'
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

/** What a status is read from. Nothing of it is opened before it is asked, nor left open. */
export function statusSources({ store, limiter, retentionDays }: Config): StatusSources {
  return {
    place: placeOf(store),
    readStore: () => readStoreStatus(store),
    limiterEngine: limiter.engine,
    async isLimiterReachable() {
      const opened = await openLimiter(limiter, systemClock, { onLost() {}, onFound() {} })
      try {
        return opened.isReachable()
      } finally {
        await opened.close()
      }
    },
    retentionDays,
  }
}
