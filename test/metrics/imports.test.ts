import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { MemoryLimiter } from '../../src/limiter/memory-limiter.ts'
import { openMetrics } from '../../src/metrics/metrics.ts'
import { dataOf } from '../support/answers.ts'
import { commandLine } from '../support/command-line.ts'
import { readMetrics, samplesOf, sampleValue } from '../support/metrics.ts'
import { anHourAgo, startShop, subjectPath } from '../support/shop.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const folder = temporaryFolder({ after })
const store = `sqlite:${join(folder, 'lethe.db')}`
const env = { LETHE_STORE: store, LETHE_METRICS_PORT: '0' }
const shop = await startShop({ after }, { env, scopes: ['analytics:delete-data'] })
const cli = commandLine({ after }, store)

const event = (subjectId: string, occurredAt: number) =>
  JSON.stringify({
    ...{ type: 'event', trackerId: 'shop', subjectId, sessionId: 's', name: 'pageview' },
    occurredAt: new Date(occurredAt).toISOString(),
  })

async function importLines(lines: readonly string[], ...flags: string[]): Promise<void> {
  const file = join(folder, 'lines.ndjson')
  writeFileSync(file, lines.join('\n'))
  await cli.run(['import', ...flags, file])
}

const reasons = ['bad', 'too_old', 'of_erased']
const refused = (samples: Parameters<typeof sampleValue>[0]) =>
  reasons.map((reason) => sampleValue(samples, 'lethe_lines_refused_total', { reason }))

describe('lines refused by imports', () => {
  test('are reported by reason, by the service on the same store', async () => {
    assert.deepEqual(refused(await readMetrics(shop.metricsUrl)), [0, 0, 0])
    dataOf(await shop.ask(subjectPath('anna'), { key: shop.key, method: 'DELETE' }))
    const old = anHourAgo - 10_000 * 86_400_000
    const lines = [event('anna', anHourAgo), event('ben', anHourAgo), event('ben', old), 'bad', 'worse', '{']
    await importLines(lines, '--dry-run')
    assert.deepEqual(refused(await readMetrics(shop.metricsUrl)), [0, 0, 0])
    await importLines(lines)
    assert.deepEqual(refused(await readMetrics(shop.metricsUrl)), [3, 1, 1])
    await importLines(lines, '--strict')
    assert.deepEqual(refused(await readMetrics(shop.metricsUrl)), [4, 2, 1])
  })

  test('keep their last known values while the store does not respond, instead of zero', async (t) => {
    const ingest = { ...shop.services.ingest }
    const metrics = openMetrics({
      store: { ...shop.services, ingest },
      limiter: new MemoryLimiter(Date.now),
      ...{ droppedLines: () => 0, clock: Date.now, version: '0.0.0' },
    })
    t.after(() => metrics.stop())
    const read = async () => refused(samplesOf(await metrics.text()))
    const { refusedLines } = ingest
    ingest.refusedLines = () => Promise.reject(new Error('gone'))
    assert.deepEqual(await read(), [null, null, null])
    ingest.refusedLines = refusedLines
    const known = await read()
    ingest.refusedLines = () => Promise.reject(new Error('gone'))
    assert.deepEqual(await read(), known)
    assert.ok(known.every((count) => count !== null && count > 0))
  })
})
