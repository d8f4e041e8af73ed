import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { budgetOf } from '../../support/answers.ts'
import { inReverse } from '../../support/in-reverse.ts'
import { type PostgresServer, startPostgres } from '../../support/postgres.ts'
import { noOwnRedis, startRedis, type TestRedis } from '../../support/redis.ts'
import { type SeededRandom, seededRandom } from '../../support/seeded-random.ts'
import { subjectPath, subjectsPath } from '../../support/shop.ts'
import { until } from '../../support/until.ts'
import { assertSound } from '../kill/invariants.ts'
import { ampleBudgets } from '../kill/server.ts'
import { buildShopAt } from '../kill/visits.ts'
import {
  ask,
  assertGone,
  type Fleet,
  limiterLines,
  queryable,
  type Server,
  startFleet,
  withDatabase,
} from './fleet.ts'
import { Load, someSubjects } from './load.ts'

/** Causes a fault, and ends once it is repaired. */
type Fault = () => Promise<void>

interface Parts {
  fleet: Fleet
  postgres: PostgresServer
  redis: TestRedis
  random: SeededRandom
  /** The longest time for which PostgreSQL does not respond. */
  longestSilenceMs: number
}

/** All faults of a fleet, by name. */
function faultsOf({ fleet, postgres, redis, random, longestSilenceMs }: Parts) {
  const hold = (maxMs: number) => delay(random.integer(maxMs))
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
 * Interrupts Redis; every process that survives reports the loss and the recovery once. On a busy machine,
 * Redis may have seemed lost just before, so only reports dated within the interruption count.
 */
async function outage(
  { places }: Fleet,
  begin: () => Promise<void>,
  hold: (maxMs: number) => Promise<void>,
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

interface Plan {
  /** How often each fault occurs. With `several`, faults of several parts also occur at the same time. */
  times: number
  several: boolean
  doomed: number
  longestSilenceMs: number
}

/**
 * Causes all faults in random order while a fleet is under load, and checks the answers and the stored data.
 */
export function faultTests({ times, several, doomed, longestSilenceMs }: Plan): void {
  describe('three processes under load, with any fault,', { skip: noOwnRedis }, () => {
    it('answer as they should, lose no erasure and recover by themselves', async (t) => {
      const lifetime = inReverse(t)
      const random = seededRandom()
      const redis = await startRedis(lifetime)
      const postgres = await startPostgres({})
      lifetime.after(() => postgres.remove())
      const { url: store } = postgres
      await buildShopAt(store, someSubjects(random, doomed))
      const { LETHE_LIMIT_KEY, LETHE_LIMIT_ERASURE } = ampleBudgets
      const env = { LETHE_LIMIT_KEY, LETHE_LIMIT_ERASURE, LETHE_SWEEP_SECONDS: '1' }
      const fleet = await startFleet(lifetime, { store, redis: redis.url, env })
      const load = new Load(fleet, random, doomed)
      const { faults, severalAtOnce } = faultsOf({ fleet, postgres, redis, random, longestSilenceMs })
      const all = Object.entries({ ...faults, ...(several && severalAtOnce) })
      const order = random.shuffle(Array.from({ length: times }, () => all).flat())
      const recoveries: number[] = []

      async function assertAllIsWell(): Promise<void> {
        load.assertNoFailure()
        for (const { isKilled, hasEnded } of fleet.servers) assert.equal(hasEnded, isKilled)
        await withDatabase(store, async (client) => {
          await assertGone(client, load.erased)
          await assertSound(
            queryable((sql) => client.query(sql)),
            'not below the stored rows',
          )
        })
      }

      for (const [name, fault] of order) {
        try {
          await fault()
          const mendedAt = performance.now()
          await until(() => isHealthy(fleet))
          recoveries.push(performance.now() - mendedAt)
          await assertAllIsWell()
        } catch (error) {
          throw new Error(`${name}, LETHE_TEST_SEED=${random.seed}`, { cause: error })
        }
      }
      await load.stop()
      await assertAllIsWell()
      assertQuiet(fleet)
      const { statuses, lost, longestMs } = load.caller
      t.diagnostic(
        `LETHE_TEST_SEED=${random.seed}: ${order.length} faults; answers ${JSON.stringify(statuses)}, ${lost} lost with their process, ` +
          `the longest took ${Math.round(longestMs)} ms; ${load.erased.length} erasures; recovered within ${Math.round(Math.max(...recoveries))} ms`,
      )
    })
  })
}

let clients = 0

/** Whether every process answers reads and erasures, and a new client has one budget for all of them. */
async function isHealthy({ places, key }: Fleet): Promise<boolean> {
  clients += 1
  const client = (network: string) => `2001:db8:${network}:${clients.toString(16)}::1`
  const [from, eraser] = [client('1'), client('2')]
  const remaining: number[] = []
  for (const { server } of places) {
    const read = await ask(server.url, subjectsPath, { key, from })
    const erased = await ask(server.url, subjectPath('nobody'), { key, from: eraser, method: 'DELETE' })
    if (read.status !== 200 || erased.status !== 200 || !read.headers.has('x-ratelimit-limit')) return false
    remaining.push(budgetOf(read).remaining)
  }
  return remaining.join() === '59,58,57'
}

/** Fails if a process logged secrets or IDs, or wrote to standard error. */
function assertQuiet({ servers }: Fleet): void {
  for (const server of servers) {
    assert.doesNotMatch(server.stdout(), /doomed|keeper|lethe_[0-9A-Za-z]{16}_/)
    assert.equal(server.stderr(), '')
  }
}
