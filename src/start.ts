import { randomInt, randomUUID } from 'node:crypto'
import type { Logger } from 'pino'
import type { Config } from './config.ts'
import type { Clock } from './domain/instant.ts'
import type { RetentionDays } from './domain/plan.ts'
import { base62Alphabet, type Randomness } from './domain/randomness.ts'
import type { Store } from './domain/store.ts'
import { buildServer } from './http/build-server.ts'
import { clientAddress } from './http/client-address.ts'
import { MemoryLimiter } from './limiter/memory-limiter.ts'
import { keepHouse } from './operations/keep-house.ts'
import { keyUse } from './operations/note-key-use.ts'
import { type OpenOptions, openStore } from './storage/open-store.ts'

const systemClock: Clock = Date.now

const systemRandomness: Randomness = {
  uuid: () => randomUUID(),
  base62: (length) => Array.from({ length }, () => base62Alphabet.charAt(randomInt(62))).join(''),
}

/** What commands work with: the store's ports, the plans' windows, the time, and chance. */
export interface Workplace extends Store {
  retentionDays: RetentionDays
  clock: Clock
  randomness: Randomness
}

/** Opens the store for a command. */
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

/** A service that listens. */
export interface Service {
  url: string
  /** No new connections, running requests finish, then the store is closed. */
  stop(): Promise<void>
}

/** The composition root: puts every part together and listens. Tests call it too. */
export async function startService(config: Config, workplace: Workplace, logger: Logger): Promise<Service> {
  const { clock, randomness } = workplace
  const use = keyUse(workplace, (error) =>
    logger.warn({ err: error }, 'noting when keys were last used failed'),
  )
  const server = buildServer({
    services: workplace,
    limiter: new MemoryLimiter(clock),
    budgets: config.budgets,
    addressOf: clientAddress(config.trustedProxies),
    noteKeyUse: use.note,
    logger,
    randomness,
  })
  const port = await server
    .listen(config.host, config.port)
    .catch(async (error: Error & { code?: string }) => {
      await workplace.close()
      throw error.code === 'EADDRINUSE'
        ? new Error(
            `Port ${config.port} of ${config.host} is taken. Set LETHE_PORT to another one, or to 0 for any free one.`,
          )
        : error
    })
  const house = keepHouse(workplace, config, {
    onSwept: (swept, durationMs) => logger.info({ ...swept, durationMs: Math.round(durationMs) }, 'swept'),
    onScrubbed: (durationMs) => logger.info({ durationMs: Math.round(durationMs) }, 'scrubbed'),
    onError: (error) => logger.error({ err: error }, 'sweeping or scrubbing failed; it is tried again'),
  })
  return {
    url: `http://${config.host.includes(':') ? `[${config.host}]` : config.host}:${port}`,
    async stop() {
      await server.close()
      await house.stop()
      await use.stop()
      await workplace.close()
    },
  }
}
