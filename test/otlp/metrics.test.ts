import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { metricData, metricFamilies } from '../../src/otlp/metric-data.ts'
import { everyMetric, familiesOf, readText, samplesOf } from '../support/metrics.ts'
import { startCollector } from '../support/otlp-collector.ts'
import type { ReceivedMetric } from '../support/otlp-messages.ts'
import { startShop, subjectPath, visit } from '../support/shop.ts'
import { until } from '../support/until.ts'

/** A metric in the form of Prometheus samples. */
function samplesIn({ name, gauge, sum, histogram }: ReceivedMetric) {
  const points = [...(gauge?.points ?? []), ...(sum?.points ?? [])]
  const buckets = (histogram?.points ?? []).flatMap(
    ({ attributes, count, sum, counts = [], bounds = [] }) => [
      ...counts.map((_, i) => ({
        name: `${name}_bucket`,
        labels: { ...attributes, le: String(bounds[i] ?? '+Inf') },
        value: counts.slice(0, i + 1).reduce((all, each) => all + each),
      })),
      { name: `${name}_sum`, labels: attributes, value: sum },
      { name: `${name}_count`, labels: attributes, value: count },
    ],
  )
  return [...points.map(({ attributes, value }) => ({ name, labels: attributes, value })), ...buckets]
}

/** Metrics that differ between two reads. */
const restless = /^(process_|nodejs_|lethe_event_loop|lethe_sweep_lag)/

describe('the metrics over OTLP', () => {
  it('match those of Prometheus, with the same names, labels and values', async (t) => {
    const collector = await startCollector(t)
    const env = { ...collector.env, LETHE_OTLP: 'metrics', LETHE_METRICS_PORT: '0' }
    const shop = await startShop(t, { env, scopes: ['analytics:view', 'analytics:delete-data'] })
    await shop.ingest(visit('anna', { events: 3 }))
    for (const method of ['GET', 'DELETE', 'GET'])
      await shop.ask(subjectPath('anna'), { key: shop.key, method })
    await until(async () =>
      /lethe_sweep_completed_timestamp_seconds \d/.test(await readText(shop.metricsUrl)),
    )
    const text = await readText(shop.metricsUrl)
    await shop.stop()
    const order = (rows: unknown[]) => rows.map((row) => JSON.stringify(row)).sort()
    assert.deepEqual(
      order(
        collector.metrics.map(({ name, help, gauge, sum }) => ({
          name,
          type: gauge ? 'gauge' : sum ? 'counter' : 'histogram',
          help,
        })),
      ),
      order(familiesOf(text)),
    )
    const steady = ({ name }: { name: string }) => !restless.test(name)
    const sorted = (labels: object) => Object.fromEntries(Object.entries(labels).sort())
    const comparable = <Sample extends { name: string; labels: object }>(samples: Sample[]) =>
      order(samples.filter(steady).map((sample) => ({ ...sample, labels: sorted(sample.labels) })))
    assert.deepEqual(comparable(collector.metrics.flatMap(samplesIn)), comparable(samplesOf(text)))
    const duration = collector.metrics.find(({ name }) => name === 'lethe_http_request_duration_seconds')
    assert.deepEqual([duration?.unit, duration?.histogram?.temporality], ['s', 2])
    const erasures = collector.metrics.find(({ name }) => name === 'lethe_erasures_total')
    assert.deepEqual([erasures?.unit, erasures?.sum?.temporality, erasures?.sum?.isMonotonic], ['1', 2, true])
    assert.deepEqual(collector.spans, [])
    assert.ok(collector.requests.every(({ path }) => path === '/v1/metrics'))
  })

  it('can all be converted', async (t) => {
    const families = metricFamilies(await everyMetric(t))
    for (const family of families) {
      const { descriptor, dataPoints } = metricData(family, [0, 0], [1, 0])
      assert.ok(dataPoints.length > 0 || descriptor.name.startsWith('lethe_sweep'), descriptor.name)
    }
  })

  it('are read with escaped label values', () => {
    assert.deepEqual(metricFamilies('# HELP a b c\n# TYPE a gauge\na{x="1\\"\\\\\\n,}",y=""} +Inf\n'), [
      {
        ...{ name: 'a', help: 'b c', type: 'gauge' },
        samples: [{ name: 'a', labels: { x: '1"\\\n,}', y: '' }, value: Number.POSITIVE_INFINITY }],
      },
    ])
  })
})
