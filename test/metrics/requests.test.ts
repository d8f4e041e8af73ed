import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { apiRoutes } from '../../src/http/api/routes.ts'
import { consoleRoutes } from '../../src/http/console/routes.ts'
import { publicPaths } from '../../src/http/public-routes.ts'
import { RequestDurations } from '../../src/metrics/request-metrics.ts'
import { dataOf, textIn } from '../support/answers.ts'
import { readMetrics, readText, type Sample, samplesOf, sampleValue } from '../support/metrics.ts'
import { askRaw, openRawConnection, requestText } from '../support/raw-http.ts'
import { startShop, subjectPath, subjectsPath, visit } from '../support/shop.ts'
import { until } from '../support/until.ts'

const env = { LETHE_METRICS_PORT: '0' }
const shop = await startShop({ after }, { env, scopes: ['analytics:view', 'analytics:delete-data'] })
const { key, url, metricsUrl } = shop
await shop.ingest(visit('anna'))

const duration = 'lethe_http_request_duration_seconds'
const list = '/v1/analytics/trackers/{trackerId}/subjects'

function countOf(samples: readonly Sample[], labels: Record<string, string>): number {
  return sampleValue(samples, `${duration}_count`, labels) ?? 0
}

/** Asserts that `ask` is counted once, with these labels. */
async function assertCounted(labels: Record<string, string>, ask: () => Promise<unknown>): Promise<void> {
  const before = countOf(await readMetrics(metricsUrl), labels)
  await ask()
  await until(async () => countOf(await readMetrics(metricsUrl), labels) === before + 1)
}

describe('a request is counted once', () => {
  const cases: [what: string, labels: Record<string, string>, ask: () => Promise<unknown>][] = [
    [
      'by the pattern of its path',
      { route: `${list}/{subjectId}`, method: 'GET', status: '200' },
      () => shop.ask(subjectPath('anna'), { key }),
    ],
    ['by its method', { route: list, method: 'HEAD' }, () => shop.ask(subjectsPath, { key, method: 'HEAD' })],
    [
      'by its status',
      { route: `${list}/{subjectId}`, method: 'GET', status: '404' },
      () => shop.ask(subjectPath('nobody'), { key }),
    ],
    ['without a key', { route: 'unknown', method: 'GET', status: '401' }, () => shop.ask(subjectsPath)],
    ['on a public path', { route: '/healthz', status: '200' }, () => shop.ask('/healthz')],
    [
      'on an unknown path',
      { route: 'unknown', method: 'GET', status: '404' },
      () => shop.ask('/v1/else/where', { key }),
    ],
    [
      'on a path that cannot be decoded',
      { route: 'unknown', method: 'GET', status: '400' },
      () => askRaw(url, `${subjectsPath}/%zz`, { key }),
    ],
    [
      'with an uncommon method',
      { route: list, method: 'other', status: '400' },
      () => askRaw(url, subjectsPath, { key, method: 'PROPFIND' }),
    ],
    [
      'that is malformed',
      { route: 'unknown', method: 'other', status: '400' },
      async () => {
        const connection = await openRawConnection(url)
        connection.send('nonsense\r\n\r\n')
        await connection.answer()
        connection.hangUp()
      },
    ],
  ]
  for (const [what, labels, ask] of cases) test(what, () => assertCounted(labels, ask))

  test('if its client disconnects early, without a status', async () => {
    const { promise: reached, resolve: reach } = Promise.withResolvers<void>()
    const { promise: gone, resolve: leave } = Promise.withResolvers<void>()
    const { list: kept } = shop.services.sessions
    shop.services.sessions.list = async (...args) => {
      reach()
      await gone
      return kept(...args)
    }
    await assertCounted({ route: `${list}/{subjectId}/sessions`, status: 'none' }, async () => {
      const connection = await openRawConnection(url)
      connection.send(requestText(`${subjectPath('anna')}/sessions`, { key }))
      await reached
      connection.hangUp()
    })
    leave()
    shop.services.sessions.list = kept
  })
})

describe('the duration of requests', () => {
  const bounds = ['0.0005', '0.001', '0.0025', '0.005', '0.01', '0.025', '0.05', '0.1', '0.25']

  test('is in the bucket of its upper bound, and in all larger ones', () => {
    const durations = new RequestDurations()
    for (const durationMs of [0.5, 0.50001, 3, 99_999]) durations.note('/healthz', 'GET', 200, durationMs)
    const samples = samplesOf(durations.text())
    const counts = [...bounds, '0.5', '1', '2.5', '5', '10', '+Inf'].map((le) =>
      sampleValue(samples, `${duration}_bucket`, { le }),
    )
    assert.deepEqual(counts, [1, 2, 2, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 4])
    assert.equal(sampleValue(samples, `${duration}_count`), 4)
    assert.ok(Math.abs((sampleValue(samples, `${duration}_sum`) ?? 0) - 100.00300001) < 1e-6)
  })

  test('is the time that a client waited', async () => {
    const before = await readMetrics(metricsUrl)
    await shop.ask(subjectPath('anna'), { key })
    await until(async () => {
      const labels = { route: `${list}/{subjectId}`, method: 'GET', status: '200' }
      const after = await readMetrics(metricsUrl)
      const spent =
        (sampleValue(after, `${duration}_sum`, labels) ?? 0) -
        (sampleValue(before, `${duration}_sum`, labels) ?? 0)
      return spent > 0 && spent < 10
    })
  })
})

describe('no label', () => {
  test('contains an ID, a key, an address or a path, whatever clients send', async () => {
    const tracker = 'tracker-marker'
    const subject = 'subject-marker'
    const path = subjectPath(subject, tracker)
    await shop.createTracker(shop.organisationId, tracker)
    await shop.ingest([
      ...visit(subject, { trackerId: tracker }),
      ...visit('b-marker', { trackerId: tracker }),
    ])
    const page = `/v1/analytics/trackers/${tracker}/subjects?limit=1`
    const cursor = textIn(dataOf(await shop.ask(page, { key })), 'nextCursor')
    for (const target of [
      path,
      `${path}/sessions`,
      `${path}/events`,
      `${page}&cursor=${cursor}`,
      `/${subject}`,
      `/v1/${tracker}/${subject}`,
      `${path}/${subject}`,
      `${path}?${subject}=${key}`,
      `/v1/analytics/trackers/${tracker}%2f${subject}/subjects/${key}`,
    ]) {
      for (const method of ['GET', 'DELETE', 'REPORT']) {
        await askRaw(url, target, { key, method, headers: { 'X-Request-Id': 'id-marker' } })
      }
      await askRaw(url, target, { headers: { 'X-Forwarded-For': '203.0.113.99' } })
      await askRaw(url, `${target}%zz`, { key })
    }
    const text = await readText(metricsUrl)
    for (const [what, secret] of [
      ['a marker', 'marker'],
      ['the key', key],
      ['the id of the key', shop.keyId],
      ['the secret of the key', key.slice(-38)],
      ['the cursor', cursor],
      ['the organisation', shop.organisationId],
      ['an address', '127.0.0.1'],
      ['a forwarded address', '203.0.113.99'],
    ] as const) {
      assert.ok(!text.includes(secret), `${what} is in the metrics`)
    }
  })

  test('has values outside a closed list', async () => {
    const closed: Record<string, readonly string[]> = {
      route: [...apiRoutes.map(({ path }) => path), ...publicPaths, 'unknown'],
      method: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'other'],
      status: ['200', '400', '401', '403', '404', '422', '429', '500', 'none'],
      budget: ['ip', 'key', 'erasure', 'variables'],
      kind: ['subject', 'session', 'event', 'activity', 'request'],
      outcome: ['complete', 'incomplete', 'erased', 'nothing_there', 'failed'],
      reason: ['bad', 'too_old', 'of_erased'],
      statistic: ['median', 'p99', 'max'],
      due: ['overdue', 'within_7_days'],
      node: [process.version],
    }
    for (const { labels } of await readMetrics(metricsUrl)) {
      for (const [label, text] of Object.entries(labels)) {
        if (label === 'le') assert.match(text, /^(\d+(\.\d+)?|\+Inf)$/)
        else if (label === 'version') assert.match(text, /^\d+\.\d+\.\d+/)
        else assert.ok(closed[label]?.includes(text), `${label}="${text}"`)
      }
    }
  })

  test('has values that a client without a key can multiply', async (t) => {
    const { url, metricsUrl } = await startShop(t, { env, scopes: ['analytics:view'] })
    const templates = [...apiRoutes, ...consoleRoutes].map(({ path }) => path)
    const methods = ['GET', 'POST', 'REPORT']
    async function bother(word: string): Promise<void> {
      const connection = await openRawConnection(url)
      for (const template of [...templates, '/{word}']) {
        for (const method of methods) {
          const headers = { 'Content-Length': '0' }
          connection.send(requestText(template.replaceAll(/\{\w+\}/g, word), { method, headers }))
          await connection.answer(method)
        }
      }
      connection.hangUp()
    }
    await bother('one')
    const routes = new Set((await readMetrics(metricsUrl)).map(({ labels }) => labels.route))
    const open = consoleRoutes.filter(({ access }) => access === 'open').map(({ path }) => path)
    const expected = new Set(['unknown', ...open])
    assert.deepEqual([...routes].filter((route) => route !== undefined).sort(), [...expected].sort())
    const series = await seriesOf(metricsUrl)
    await bother('two')
    assert.deepEqual(await seriesOf(metricsUrl), series)
    t.diagnostic(`${series.length} series`)
  })
})

/** The series of routes without their statuses, which depend on when the budget of the console is used up. */
async function seriesOf(metricsUrl: string | null): Promise<string[]> {
  const series = (await readMetrics(metricsUrl))
    .filter(({ labels }) => labels.route !== undefined)
    .map(({ name, labels: { status: _, ...labels } }) => JSON.stringify([name, labels]))
  return [...new Set(series)].sort()
}
