import assert from 'node:assert/strict'
import { setTimeout as delay } from 'node:timers/promises'
import type { PostgresServer } from '../../support/postgres.ts'
import type { TestRedis } from '../../support/redis.ts'
import type { SeededRandom } from '../../support/seeded-random.ts'
import { until } from '../../support/until.ts'
import type { Fleet, Server } from './fleet.ts'
import { limiterLines } from './fleet.ts'

/** What can go wrong, from its beginning until it is mended. */
export type Fault = () => Promise<void>

interface Parts {
  fleet: Fleet
  postgres: PostgresServer
  redis: TestRedis
  random: SeededRandom
  /** For how long PostgreSQL is silent at most. */
  longestSilenceMs: number
}

/** Everything that may go wrong with a fleet, by its name. */
export function faultsOf({ fleet, postgres, redis, random, longestSilenceMs }: Parts) {
  const hold = (mostMs: number) => delay(random.integer(mostMs))
  const restartPostgres = (ending: 'fast' | 'immediate' | 'killed') => async () => {
    await postgres.stop(ending)
    await hold(1_000)
    await postgres.start()
  }
  const faults = {
    'PostgreSQL is restarted (fast)': restartPostgres('fast'),
    'PostgreSQL is restarted (immediate)': restartPostgres('immediate'),
    'PostgreSQL is killed and started': restartPostgres('killed'),
    async 'PostgreSQL is silent'() {
      await postgres.pause()
      await hold(longestSilenceMs)
      await postgres.resume()
    },
    'Redis is killed and started': () => outage(fleet, redis.kill, hold, redis.start),
    'Redis is silent': () =>
      outage(
        fleet,
        async () => redis.pause(),
        hold,
        async () => redis.resume(),
      ),
    async 'Redis forgets everything'() {
      await redis.ask('FLUSHALL')
      await redis.ask('SCRIPT', 'FLUSH')
    },
    async 'a process is killed and started'() {
      const place = random.pick(fleet.places)
      await place.kill()
      await hold(500)
      await place.start()
    },
  } satisfies Record<string, Fault>
  const severalAtOnce: Record<string, Fault> = {
    async 'PostgreSQL is restarted while Redis is silent'() {
      await Promise.all([faults['PostgreSQL is restarted (fast)'](), faults['Redis is silent']()])
    },
    async 'Redis is killed while a process is'() {
      const kinds = ['Redis is killed and started', 'a process is killed and started'] as const
      await Promise.all(kinds.map((kind) => faults[kind]()))
    },
  }
  return { faults, severalAtOnce }
}

/**
 * Redis goes and comes back; every process that lives through it says so once each time. On a busy machine it may have seemed to be
 * away just before, and what a process says is read a little later: so their own time tells what belongs to the outage.
 */
async function outage(
  { places }: Fleet,
  begin: () => Promise<void>,
  hold: (mostMs: number) => Promise<void>,
  end: () => Promise<void>,
): Promise<void> {
  const servers = places.map(({ server }) => server)
  const living = () => servers.filter(({ isKilled }) => !isKilled)
  const saidSince = (server: Server, instant: number) =>
    limiterLines(server).flatMap(({ at, state }) => (at >= instant ? [state] : []))
  const allAre = (state: 'lost' | 'found') => () =>
    living().every((server) => limiterLines(server).at(-1)?.state === state)

  const beganAt = Date.now()
  await begin()
  await until(allAre('lost'))
  await hold(1_000)
  await until(allAre('lost'))
  for (const server of living()) assert.ok(saidSince(server, beganAt).length <= 1, 'a loss is told once')
  const endedAt = Date.now()
  await end()
  await until(allAre('found'))
  for (const server of living()) assert.equal(saidSince(server, endedAt)[0], 'found')
}
