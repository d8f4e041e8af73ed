import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { setTimeout as passTime } from 'node:timers/promises'
import { MemoryLimiter } from '../../src/limiter/memory-limiter.ts'
import { openMetrics } from '../../src/metrics/metrics.ts'
import { dataOf, errorOf } from '../support/answers.ts'
import { everyMetric, readMetrics, samplesOf, sampleValue } from '../support/metrics.ts'
import { openRawConnection } from '../support/raw-http.ts'
import { startShop, subjectPath, subjectsPath, visit } from '../support/shop.ts'
import { eraseIn } from '../support/test-keyring.ts'
import { until } from '../support/until.ts'

const scopes = ['analytics:view', 'analytics:delete-data'] as const
const env = { LETHE_METRICS_PORT: '0' }
const shop = await startShop({ after }, { env, scopes })
const { key, metricsUrl } = shop
const limiter = new MemoryLimiter(Date.now)

const read = async (name: string, labels: Record<string, string> = {}, from = metricsUrl) =>
  sampleValue(await readMetrics(from), name, labels)

describe('erasures', () => {
  test('are counted by outcome, with their rows', async () => {
    await shop.ingest(visit('anna', { events: 3 }))
    const erase = (subjectId: string, trackerId?: string) =>
      shop.ask(subjectPath(subjectId, trackerId), { key, method: 'DELETE' })
    dataOf(await erase('anna'))
    dataOf(await erase('anna'))
    dataOf(await erase('never-seen'))
    errorOf(await erase('anna', 'no-such-tracker'), 'not_found')
    assert.equal(await read('lethe_erasures_total', { outcome: 'failed' }), 0)
    assert.equal(await read('lethe_erasures_total', { outcome: 'erased' }), 1)
    assert.equal(await read('lethe_erasures_total', { outcome: 'nothing_there' }), 2)
    assert.equal(await read('lethe_erased_rows_total', { kind: 'session' }), 1)
    assert.equal(await read('lethe_erased_rows_total', { kind: 'event' }), 3)
  })
})

describe('a counted erasure', () => {
  test('is in the activity like any other', async () => {
    dataOf(await shop.ask(subjectPath('nobody'), { key, method: 'DELETE' }))
    const query = { limit: 1, after: null, requestId: null }
    const { rows } = await shop.services.activity.list(shop.organisationId, query)
    assert.equal(rows[0]?.kind, 'subject.erased')
  })
})

describe('a failed erasure', () => {
  test('is counted as failed, and rejects', async (t) => {
    const broken = { ...shop.services, ping: async () => {}, subjects: { ...shop.services.subjects } }
    broken.subjects.erase = () => Promise.reject(new Error('the disk is full'))
    const metrics = openMetrics({
      ...{ ...shop.services, store: broken, limiter },
      ...{ droppedLines: () => 0, version: '0.0.0' },
    })
    t.after(() => metrics.stop())
    await assert.rejects(eraseIn(metrics, shop.view, 'anna'), /the disk is full/)
    const samples = samplesOf(await metrics.text())
    assert.equal(sampleValue(samples, 'lethe_erasures_total', { outcome: 'failed' }), 1)
  })
})

describe('refusals', () => {
  test('are counted by the budget that was exceeded', async (t) => {
    const limits = { LETHE_LIMIT_IP: '6/minute', LETHE_LIMIT_KEY: '3/minute', LETHE_LIMIT_ERASURE: '1/hour' }
    const own = await startShop(t, { env: { ...env, ...limits }, scopes })
    const refusals = async () =>
      Promise.all(
        ['ip', 'key', 'erasure'].map((budget) =>
          read('lethe_budget_refusals_total', { budget }, own.metricsUrl),
        ),
      )
    assert.deepEqual(await refusals(), [0, 0, 0])
    for (let i = 0; i < 2; i++) await own.ask(subjectPath('anna'), { key: own.key, method: 'DELETE' })
    assert.deepEqual(await refusals(), [0, 0, 1])
    for (let i = 0; i < 4; i++) await own.ask(subjectsPath, { key: own.key })
    assert.deepEqual(await refusals(), [0, 3, 1])
    await own.ask(subjectsPath, { key: own.key })
    const connection = await openRawConnection(own.url)
    connection.send('nonsense\r\n\r\n')
    await connection.answer()
    connection.hangUp()
    assert.deepEqual(await refusals(), [2, 3, 1])
  })
})

describe('the components', () => {
  test('are reported as reachable', async () => {
    assert.equal(await read('lethe_store_reachable'), 1)
    assert.equal(await read('lethe_limiter_reachable'), 1)
  })

  test('are reported as unreachable', async (t) => {
    t.mock.method(MemoryLimiter.prototype, 'isReachable', () => false)
    const { ping } = shop.services
    shop.services.ping = () => Promise.reject(new Error('gone'))
    assert.equal(await read('lethe_limiter_reachable'), 0)
    assert.equal(await read('lethe_store_reachable'), 0)
    shop.services.ping = ping
    assert.equal(await read('lethe_store_reachable'), 1)
  })

  test('report their connections if they have a pool, and otherwise none', async (t) => {
    const samples = samplesOf(await everyMetric(t))
    for (const [state, count] of [
      ['open', 5],
      ['busy', 3],
      ['waiting', 2],
    ] as const) {
      assert.equal(sampleValue(samples, `lethe_store_connections_${state}`), count)
      assert.equal(await read(`lethe_store_connections_${state}`), null)
    }
  })
})

describe('the process', () => {
  test('reports its version, start time, memory and CPU time', async () => {
    const samples = await readMetrics(metricsUrl)
    assert.equal(sampleValue(samples, 'lethe_build_info', { node: process.version }), 1)
    const startedAt = sampleValue(samples, 'process_start_time_seconds') ?? 0
    assert.ok(Math.abs(startedAt - (Date.now() / 1000 - process.uptime())) < 2)
    assert.ok((sampleValue(samples, 'process_resident_memory_bytes') ?? 0) > 10e6)
    assert.ok((sampleValue(samples, 'nodejs_heap_size_used_bytes') ?? 0) > 1e6)
    const cpu = sampleValue(samples, 'process_cpu_seconds_total') ?? 0
    assert.ok(cpu > 0)
    assert.ok(((await read('process_cpu_seconds_total')) ?? 0) >= cpu)
  })

  test('reports the delay of its event loop since the last read', async () => {
    const longest = () => read('lethe_event_loop_delay_seconds', { statistic: 'max' })
    await until(async () => {
      await longest()
      // It needs to observe the idle loop first.
      await passTime(30)
      const end = performance.now() + 150
      while (performance.now() < end);
      return ((await longest()) ?? 0) > 0.1
    })
    // On a busy machine, this process may have been delayed again.
    await until(
      async () => ((await read('lethe_event_loop_delay_seconds', { statistic: 'median' })) ?? 1) < 0.1,
    )
  })
})
