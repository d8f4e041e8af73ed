import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { dayMs, startOfDay } from '../../src/domain/instant.ts'
import { MemoryLimiter } from '../../src/limiter/memory-limiter.ts'
import { openMetrics } from '../../src/metrics/metrics.ts'
import { readMetrics, samplesOf, sampleValue } from '../support/metrics.ts'
import { storeRequest } from '../support/privacy-request.ts'
import { startTestService } from '../support/service.ts'

const service = await startTestService({ after }, { LETHE_METRICS_PORT: '0' })
const { services } = service
// Noon, so that no day ends during the test.
service.passTime(startOfDay(services.clock()) + 1.5 * dayMs - services.clock())

const due = (samples: Parameters<typeof sampleValue>[0]) =>
  ['overdue', 'within_7_days'].map((due) => sampleValue(samples, 'lethe_privacy_requests_due', { due }))
const scrape = async () => due(await readMetrics(service.metricsUrl))

describe('due privacy requests', () => {
  test('are counted across all organisations, at the current time', async () => {
    assert.deepEqual(await scrape(), [0, 0])
    const now = services.clock()
    for (const owner of [await service.createOrganisation(), await service.createOrganisation()]) {
      const store = (days: number, fields = {}) =>
        storeRequest(services, owner, { receivedAt: now - 40 * dayMs, dueAt: now + days * dayMs, ...fields })
      for (const days of [-3, 1, 6, 8]) await store(days)
      // Due earlier today.
      await store(0, { dueAt: startOfDay(now) })
      await store(-1, { kind: 'access', closed: ['done', now] })
    }
    assert.deepEqual(await scrape(), [2, 6])
    service.passTime(2 * dayMs)
    assert.deepEqual(await scrape(), [6, 4])
  })

  test('are not reported while the store does not respond', async (t) => {
    const requestReports = { ...services.requestReports }
    const metrics = openMetrics({
      store: { ...services, requestReports },
      limiter: new MemoryLimiter(Date.now),
      ...{ droppedLines: () => 0, clock: services.clock, version: '0.0.0' },
    })
    t.after(() => metrics.stop())
    const read = async () => due(samplesOf(await metrics.text()))
    assert.deepEqual(await read(), [6, 4])
    const { countDue } = requestReports
    requestReports.countDue = () => Promise.reject(new Error('gone'))
    assert.deepEqual(await read(), [null, null])
    requestReports.countDue = countDue
    assert.deepEqual(await read(), [6, 4])
  })
})
