import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { allScopes } from '../../src/domain/api-key.ts'
import { subjectKey } from '../../src/domain/subject.ts'
import { dataOf, textIn } from '../support/answers.ts'
import { jsonLines } from '../support/command-line.ts'
import { startCollector } from '../support/otlp-collector.ts'
import type { ReceivedSpan } from '../support/otlp-messages.ts'
import { startShop, subjectPath, subjectsPath, visit } from '../support/shop.ts'
import { until } from '../support/until.ts'

const scopes = allScopes()
const traceId = '4bf92f3577b34da6a3ce929d0e0e4736'
const parentId = '00f067aa0ba902b7'
const traceparent = (flags = '01') => `00-${traceId}-${parentId}-${flags}`

/** A shop whose traces are collected; all of them have arrived after it has stopped. */
async function startTraced(t: TestContext, env: Record<string, string> = {}) {
  const collector = await startCollector(t)
  const shop = await startShop(t, { env: { ...collector.env, ...env }, scopes })
  await shop.ingest(visit('anna', { events: 2 }))
  return {
    collector,
    ...shop,
    async stop() {
      await shop.stop()
      return collector.spans
    },
    requestLines: () => jsonLines(`${shop.logged.join('\n')}\n`).filter(({ msg }) => msg === 'request'),
  }
}

const serverSpans = (spans: readonly ReceivedSpan[]) => spans.filter(({ kind }) => kind === 2)

describe('the span of a request', () => {
  it('has its route, its status, its steps, and its calls to the store and the limiter', async (t) => {
    const { ask, key, stop, organisationId, requestLines, collector } = await startTraced(t)
    await ask(subjectPath('anna'), { key, headers: { 'X-Request-Id': 'check-17' } })
    const spans = await stop()
    const [span, ...others] = serverSpans(spans)
    assert.ok(span)
    assert.deepEqual(others, [])
    assert.equal(span.name, 'GET /v1/analytics/trackers/{trackerId}/subjects/{subjectId}')
    assert.deepEqual(span.attributes, {
      'http.request.method': 'GET',
      'http.route': '/v1/analytics/trackers/{trackerId}/subjects/{subjectId}',
      'http.response.status_code': 200,
      'url.scheme': 'http',
      'network.protocol.version': '1.1',
      'lethe.request.id': 'check-17',
      'lethe.organisation.id': organisationId,
    })
    assert.equal(span.status?.code ?? 0, 0)
    assert.deepEqual(
      span.events.map(({ name }) => name),
      [
        ...['address budget', 'valid request', 'key', 'key budget', 'route', 'scope'],
        ...['erasure budget', 'parameters', 'operation'],
      ],
    )
    const calls = spans.filter(({ kind }) => kind === 3)
    assert.deepEqual(
      calls.map(({ name, traceId, parentSpanId }) => [name, traceId, parentSpanId]),
      ['limiter.take', 'apiKeys.findCaller', 'limiter.take', 'subjects.read'].map((name) => [
        name,
        span.traceId,
        span.spanId,
      ]),
    )
    assert.deepEqual(calls[0]?.attributes, { 'lethe.budget': 'ip' })
    assert.deepEqual(calls.at(-1)?.attributes, {
      'db.system.name': 'sqlite',
      'db.collection.name': 'subjects',
      'db.operation.name': 'read',
    })
    const times = [span.startedAt, ...span.events.map(({ at }) => at), span.endedAt]
    assert.deepEqual(times, times.toSorted())
    for (const { startedAt, endedAt } of calls)
      assert.ok(span.startedAt <= startedAt && startedAt <= endedAt && endedAt <= span.endedAt)
    assert.ok(Math.abs(span.endedAt / 1e6 - Date.now()) < 60_000)
    assert.partialDeepStrictEqual(span.resource, { 'service.name': 'lethe' })
    assert.deepEqual(
      requestLines().map((line) => line.traceId),
      [span.traceId],
    )
    assert.deepEqual(collector.requests[0], { path: '/v1/traces', type: 'application/x-protobuf' })
  })

  it('belongs to the trace of the client, keeps its state, and is in the log', async (t) => {
    const { ask, key, stop, requestLines } = await startTraced(t)
    const headers = { traceparent: traceparent(), tracestate: 'vendor=t61rcWkgMzE' }
    await ask(subjectsPath, { key, headers })
    const [span] = serverSpans(await stop())
    assert.partialDeepStrictEqual(span, { traceId, parentSpanId: parentId, traceState: 'vendor=t61rcWkgMzE' })
    assert.equal(requestLines()[0]?.traceId, traceId)
  })

  it('is not exported if the client does not record its trace, which is still in the log', async (t) => {
    const { ask, key, stop, requestLines } = await startTraced(t)
    await ask(subjectsPath, { key, headers: { traceparent: traceparent('00') } })
    assert.deepEqual(serverSpans(await stop()), [])
    assert.equal(requestLines()[0]?.traceId, traceId)
  })

  it('is sampled as configured', async (t) => {
    const { ask, key, stop } = await startTraced(t, {
      ...{ OTEL_TRACES_SAMPLER: 'traceidratio', OTEL_TRACES_SAMPLER_ARG: '0' },
    })
    await ask(subjectsPath, { key, headers: { traceparent: traceparent() } })
    assert.deepEqual(await stop(), [])
  })

  it('starts a new trace if the header is malformed', async (t) => {
    const { ask, key, stop } = await startTraced(t)
    for (const header of [traceparent().toUpperCase(), `00-${'0'.repeat(32)}-${parentId}-01`, 'nonsense'])
      await ask(subjectsPath, { key, headers: { traceparent: header, tracestate: 'a=b' } })
    const spans = serverSpans(await stop())
    assert.equal(new Set(spans.map((span) => span.traceId)).size, 3)
    for (const span of spans) {
      assert.notEqual(span.traceId, traceId)
      assert.deepEqual([span.parentSpanId ?? '', span.traceState ?? ''], ['', ''])
    }
  })

  it('has the code of a refusal, and is an error only if the service failed', async (t) => {
    const { ask, key, stop, services, createKey, organisationId } = await startTraced(t)
    const { keyString: narrow } = await createKey(organisationId, ['analytics:view'])
    await ask(subjectsPath)
    await ask(subjectPath('anna'), { key: narrow, method: 'DELETE' })
    await ask('/v1/analytics/nothing', { key })
    await ask(`${subjectsPath}?limit=0`, { key })
    await ask(subjectsPath, { key, method: 'PUT' })
    services.subjects.erase = () => Promise.reject(new TypeError('the disk of anna is full'))
    await ask(subjectPath('anna'), { key, method: 'DELETE' })
    const spans = await stop()
    assert.deepEqual(
      serverSpans(spans).map(({ attributes, status }) => [
        attributes['http.response.status_code'],
        attributes['lethe.error.code'],
        attributes['error.type'],
        status?.code ?? 0,
      ]),
      [
        [401, 'unauthorized', undefined, 0],
        [403, 'forbidden', undefined, 0],
        [404, 'not_found', undefined, 0],
        [422, 'validation_error', undefined, 0],
        [400, 'invalid_request', undefined, 0],
        [500, 'internal_error', 'internal_error', 2],
      ],
    )
    const failed = spans.find(({ name }) => name === 'subjects.erase')
    assert.deepEqual(failed?.status, { code: 2 })
    assert.equal(failed?.attributes['error.type'], 'TypeError')
  })
})

describe('background work', () => {
  it('has its own spans: sweeps, and erasures of requests', async (t) => {
    const { ask, key, stop, services, organisationId } = await startTraced(t)
    const person = { subjects: [{ trackerId: 'shop', subjectId: 'anna' }] }
    const created = await ask('/v1/analytics/requests', {
      ...{ key, method: 'POST', headers: { 'content-type': 'application/json' } },
      body: JSON.stringify({ kind: 'erasure', person }),
    })
    const id = textIn(dataOf(created), 'requestId')
    dataOf(await ask(`/v1/analytics/requests/${id}/erase`, { key, method: 'POST' }))
    await until(async () => (await services.privacyRequests.find({ organisationId, id }))?.state === 'done')
    const spans = await stop()
    const named = (name: string) => spans.filter((span) => span.name === name)
    assert.equal(named('sweep')[0]?.attributes['lethe.sweep.complete'], true)
    const [slice] = named('privacy request')
    assert.deepEqual(slice?.attributes, {
      ...{ 'lethe.privacy_request.id': id, 'lethe.organisation.id': organisationId },
    })
    assert.ok(slice.startedAt < slice.endedAt)
    assert.equal(slice.parentSpanId ?? '', '')
  })
})

describe('the exported data', () => {
  it('identifies nobody, wherever a client puts an ID', async (t) => {
    const { ask, key, stop, collector, requestLines } = await startTraced(t)
    const person = 'ada-marker-lovelace'
    const hex = Buffer.from(person).toString('hex')
    await assertHides(person)
    // A subject whose ID equals a trace ID, or is encoded in one.
    const digits = 'c0ffee00c0ffee00c0ffee00c0ffee00'
    const asTrace = { traceparent: `00-${digits}-${parentId}-01` }
    const asSpan = { traceparent: `00-${traceId}-${digits.slice(0, 16)}-01` }
    const spelt = { traceparent: `00-${hex.slice(0, 32)}-${parentId}-01` }
    const line = JSON.stringify({
      ...{ type: 'event', subjectId: digits, sessionId: person, name: 'view' },
      occurredAt: new Date().toISOString(),
    })
    const json = { 'content-type': 'application/json' }
    const search = JSON.stringify({ subjectId: digits })
    for (const headers of [asTrace, asSpan]) {
      await ask(subjectPath(digits), { key, headers })
      await ask(`/v1/analytics/${digits}`, { key, headers })
      await ask('/v1/analytics/subjects/search', {
        key,
        method: 'POST',
        body: search,
        headers: { ...headers, ...json },
      })
      const ndjson = { ...headers, 'content-type': 'application/x-ndjson' }
      const incomplete = [`${line}\n`.repeat(10_001), Buffer.concat([Buffer.from([0xff]), Buffer.from(line)])]
      for (const body of [line, ...incomplete, line.replace(digits, digits.toUpperCase())])
        await ask('/v1/ingest/trackers/shop/batches', { key, method: 'POST', body, headers: ndjson })
      const broken = { key, method: 'POST', body: search.slice(0, -1), headers: { ...headers, ...json } }
      await ask('/v1/analytics/subjects/search', broken)
    }
    await ask(subjectPath(person.slice(0, 16)), { key, headers: spelt })
    await ask(subjectPath(person.slice(0, 16)), {
      key,
      headers: { traceparent: traceparent(), tracestate: `v=${person}` },
    })
    const spans = await stop()
    assert.ok(serverSpans(spans).length > 10)
    const all = Buffer.concat(collector.bodies)
    for (const marker of [person, hex.slice(0, 32), digits, digits.slice(0, 16), key])
      assert.ok(!all.includes(marker), `${marker} is exported`)
    for (const bytes of [digits, digits.slice(0, 16), hex.slice(0, 32)])
      assert.ok(!all.includes(Buffer.from(bytes, 'hex')), `the bytes ${bytes} are exported`)
    assert.ok(!all.includes(Buffer.from(subjectKey('shop', person))))
    assert.ok(requestLines().every((each) => each.traceId !== digits))

    async function assertHides(subjectId: string): Promise<void> {
      const headers = {
        ...{ 'user-agent': subjectId, referer: `https://${subjectId}.example`, 'x-request-id': subjectId },
        ...{ traceparent: traceparent(), tracestate: `vendor=${subjectId}`, baggage: `id=${subjectId}` },
      }
      const page = await ask(`${subjectsPath}?limit=1&subjectIdPrefix=${subjectId}`, { key, headers })
      assert.equal(page.status, 200)
      for (const method of ['GET', 'DELETE', 'PUT', 'POST'])
        await ask(subjectPath(subjectId), { key, method, headers })
      await ask(`${subjectPath(subjectId)}/events?cursor=${subjectId}`, { key, headers })
      await ask(`${subjectPath(subjectId)}/export`, { key, headers })
      await ask(`/${subjectId}?${subjectId}=${subjectId}`, { headers })
    }
  })
})
