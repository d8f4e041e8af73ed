import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import { Registry } from 'prom-client'
import { maintenanceMetrics } from '../../src/metrics/maintenance-metrics.ts'
import { readMetrics, samplesOf, sampleValue } from '../support/metrics.ts'
import { startShop, visit } from '../support/shop.ts'
import { until } from '../support/until.ts'

const nothing = { subjects: 0, sessions: 0, events: 0, activity: 0, requests: 0 }
const noon = 1_794_052_800_000

/** The metrics of maintenance, reported manually with a fake clock. */
function measure() {
  const registry = new Registry()
  let now = noon
  const reports = maintenanceMetrics(registry, () => now)
  return {
    ...reports,
    moveClock(to: number) {
      now = to
    },
    read: async (name: string, labels?: Record<string, string>) =>
      sampleValue(samplesOf(await registry.metrics()), name, labels),
  }
}

describe('the lag of sweeps', () => {
  test('is unknown before the first complete pass', async () => {
    const { onSwept, read } = measure()
    assert.equal(await read('lethe_sweep_lag_seconds'), null)
    onSwept({ swept: nothing, begunAt: noon, durationMs: 5, isComplete: false })
    assert.equal(await read('lethe_sweep_lag_seconds'), null)
    assert.equal(await read('lethe_sweep_completed_timestamp_seconds'), null)
  })

  test('counts from the start of the last complete pass, and grows until the next', async () => {
    const { onSwept, moveClock, read } = measure()
    moveClock(noon + 4_000)
    onSwept({ swept: nothing, begunAt: noon, durationMs: 4_000, isComplete: true })
    assert.equal(await read('lethe_sweep_lag_seconds'), 4)
    assert.equal(await read('lethe_sweep_completed_timestamp_seconds'), noon / 1000 + 4)
    moveClock(noon + 3_600_000)
    onSwept({ swept: nothing, begunAt: noon + 3_590_000, durationMs: 10_000, isComplete: false })
    assert.equal(await read('lethe_sweep_lag_seconds'), 3_600)
    onSwept({ swept: nothing, begunAt: noon + 3_600_000, durationMs: 0, isComplete: true })
    assert.equal(await read('lethe_sweep_lag_seconds'), 0)
  })

  test('is never negative, even if the clock is set back', async () => {
    const { onSwept, moveClock, read } = measure()
    onSwept({ swept: nothing, begunAt: noon, durationMs: 1, isComplete: true })
    moveClock(noon - 60_000)
    assert.equal(await read('lethe_sweep_lag_seconds'), 0)
  })
})

describe('reports of maintenance', () => {
  test('are counted: rows, passes by outcome, scrubs, failures', async () => {
    const { onSwept, onScrubbed, onError, read } = measure()
    const swept = { subjects: 1, sessions: 2, events: 30, activity: 4, requests: 3 }
    onSwept({ swept, begunAt: noon, durationMs: 500, isComplete: true })
    onSwept({ swept, begunAt: noon, durationMs: 1_500, isComplete: false })
    onScrubbed(2_000)
    onError(new Error('the disk is full'))
    assert.equal(await read('lethe_swept_rows_total', { kind: 'subject' }), 2)
    assert.equal(await read('lethe_swept_rows_total', { kind: 'session' }), 4)
    assert.equal(await read('lethe_swept_rows_total', { kind: 'event' }), 60)
    assert.equal(await read('lethe_swept_rows_total', { kind: 'request' }), 6)
    assert.equal(await read('lethe_sweep_duration_seconds_count', { outcome: 'complete' }), 1)
    assert.equal(await read('lethe_sweep_duration_seconds_sum', { outcome: 'incomplete' }), 1.5)
    assert.equal(await read('lethe_scrub_duration_seconds_sum'), 2)
    assert.equal(await read('lethe_upkeep_failures_total'), 1)
  })
})

describe('a service', { concurrency: true }, () => {
  async function startSwept(t: TestContext) {
    const env = { LETHE_METRICS_PORT: '0', LETHE_SWEEP_SECONDS: '1' }
    const shop = await startShop(t, { env, scopes: ['analytics:view'] })
    const read = async (name: string, labels?: Record<string, string>) =>
      sampleValue(await readMetrics(shop.metricsUrl), name, labels) ?? 0
    return { shop, read }
  }

  test('reports its sweeps and its scrub', async (t) => {
    const { shop, read } = await startSwept(t)
    await shop.ingest(visit('old', { startedAt: Date.now() - 999 * 86_400_000, events: 4 }))
    await shop.services.maintenance.scrub(Date.now() - 3 * 86_400_000)
    await until(() => shop.logged.some((line) => line.includes('"swept"')))
    await until(async () => (await read('lethe_swept_rows_total', { kind: 'event' })) === 4)
    assert.equal(await read('lethe_swept_rows_total', { kind: 'session' }), 1)
    assert.equal(await read('lethe_swept_rows_total', { kind: 'subject' }), 1)
    await until(async () => (await read('lethe_scrub_duration_seconds_count')) === 1)
    assert.ok((await read('lethe_sweep_lag_seconds')) < 30)
    assert.equal(await read('lethe_upkeep_failures_total'), 0)
  })

  test('reports failed sweeps', async (t) => {
    const { shop, read } = await startSwept(t)
    let failures = 0
    shop.services.retention.sweep = () => {
      failures += 1
      return Promise.reject(new Error('the disk is full'))
    }
    await until(() => failures > 0)
    await until(async () => (await read('lethe_upkeep_failures_total')) > 0)
    assert.ok((await read('lethe_sweep_duration_seconds_count', { outcome: 'incomplete' })) > 0)
  })
})
