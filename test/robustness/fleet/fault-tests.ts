import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { budgetOf } from '../../support/answers.ts'
import { inReverse } from '../../support/in-reverse.ts'
import { startPostgres } from '../../support/postgres.ts'
import { noRedisOfOurOwn, startRedis } from '../../support/redis.ts'
import { seededRandom } from '../../support/seeded-random.ts'
import { subjectPath, subjectsPath } from '../../support/shop.ts'
import { until } from '../../support/until.ts'
import { assertSound } from '../kill/invariants.ts'
import { roomy } from '../kill/server.ts'
import { buildShopAt } from '../kill/visits.ts'
import { faultsOf } from './faults.ts'
import { ask, assertGone, type Fleet, queryable, startFleet, withDatabase } from './fleet.ts'
import { Load, someSubjects } from './load.ts'

interface Plan {
  /** How often each fault comes; those of several parts concurrently too, if they are wanted. */
  times: number
  several: boolean
  doomed: number
  longestSilenceMs: number
}

/** Lets everything go wrong that may, in random order, while a fleet is at work, and looks at what clients see and what is stored. */
export function faultTests({ times, several, doomed, longestSilenceMs }: Plan): void {
  describe('three processes under load, whatever happens to them,', { skip: noRedisOfOurOwn }, () => {
    it('answer as they should, lose no erasure and recover by themselves', async (t) => {
      const lifetime = inReverse(t)
      const random = seededRandom()
      const redis = await startRedis(lifetime)
      const postgres = await startPostgres({})
      lifetime.after(() => postgres.remove())
      const { url: store } = postgres
      await buildShopAt(store, someSubjects(random, doomed))
      const { LETHE_LIMIT_KEY, LETHE_LIMIT_ERASURE } = roomy
      const env = { LETHE_LIMIT_KEY, LETHE_LIMIT_ERASURE, LETHE_SWEEP_SECONDS: '1' }
      const fleet = await startFleet(lifetime, { store, redis: redis.url, env })
      const load = new Load(fleet, random, doomed)
      const { faults, severalAtOnce } = faultsOf({ fleet, postgres, redis, random, longestSilenceMs })
      const all = Object.entries({ ...faults, ...(several && severalAtOnce) })
      const order = random.shuffle(Array.from({ length: times }, () => all).flat())
      const recoveries: number[] = []

      async function assertAllIsWell(): Promise<void> {
        load.assertWell()
        for (const { isKilled, hasEnded } of fleet.servers) assert.equal(hasEnded, isKilled)
        await withDatabase(store, async (client) => {
          await assertGone(client, load.erased)
          await assertSound(
            queryable((sql) => client.query(sql)),
            'not below what is stored',
          )
        })
      }

      for (const [name, fault] of order) {
        try {
          await fault()
          const mendedAt = performance.now()
          await until(() => isWell(fleet))
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

/** Whether each process answers reads and erasures, and they count together, as one client sees it that nobody has seen before. */
async function isWell({ places, key }: Fleet): Promise<boolean> {
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

/** Fails when a process has told more than it should, or complained in a way that nobody has thought of. */
function assertQuiet({ servers }: Fleet): void {
  for (const server of servers) {
    assert.doesNotMatch(server.stdout(), /doomed|keeper|lethe_[0-9A-Za-z]{16}_/)
    assert.equal(server.stderr(), '')
  }
}
