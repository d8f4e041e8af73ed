import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { type EventLine, LetheClient, maxBatchBytes, maxBatchLines } from '@lethe/client'
import { clientOf, movedTime } from '../support/client.ts'
import {
  accepted,
  answerLost,
  connectionReset,
  failed,
  type IngestServer,
  ingestServer,
  proxyFailed,
} from '../support/ingest-server.ts'
import { anHourAgo, startShop } from '../support/shop.ts'

const apiKey = 'lethe_x'

function event(number: number, more: Partial<EventLine> = {}): EventLine {
  const occurredAt = '2026-11-15T12:00:00.000Z'
  const owner = { subjectId: 'anna', sessionId: 's1' }
  return { type: 'event', ...owner, eventId: `e${number}`, name: 'pageview', occurredAt, ...more }
}

async function meeting(t: TestContext, judge?: Parameters<typeof ingestServer>[1]) {
  const server = await ingestServer(t, judge)
  const time = movedTime()
  return { server, time, client: new LetheClient({ url: server.url, apiKey, runtime: time }) }
}

function onlyBatch({ batches }: IngestServer) {
  assert.equal(batches.length, 1)
  const [batch] = batches
  assert.ok(batch)
  return batch
}

describe('a batch of lines', { concurrency: true }, () => {
  it('is sent as NDJSON with the key to the tracker, and returns the results', async (t) => {
    const { server, client } = await meeting(t, ({ name }) => (name === 'bad' ? 'not good' : null))
    const startedAt = new Date(Date.UTC(2026, 10, 15))
    const identifiers = { email: 'ada@example.com' }
    const report = await client.ingest(
      'a shop/ä',
      [
        { type: 'session', subjectId: 'anna', sessionId: 's1', startedAt, identifiers },
        event(1),
        event(2, { name: 'bad' }),
      ],
      { requestId: 'mine' },
    )
    assert.deepEqual(report, {
      ...{ trackerId: 'a shop/ä', lines: 3, added: { subjects: 0, sessions: 0, events: 2 } },
      ...{ unchanged: 0, tooOld: 0, ofErased: 0, refusedCount: 1 },
      refused: [{ line: 3, message: 'not good' }],
      requestId: 'of-the-server',
      pauseMs: 0,
    })
    const { path, headers, lines } = onlyBatch(server)
    assert.equal(path, '/v1/ingest/trackers/a%20shop%2F%C3%A4/batches')
    assert.equal(headers.authorization, `Bearer ${apiKey}`)
    assert.equal(headers['x-request-id'], 'mine')
    assert.equal(headers['content-type'], 'application/x-ndjson')
    const session = { type: 'session', subjectId: 'anna', sessionId: 's1' }
    assert.deepEqual(lines[0], { ...session, startedAt: '2026-11-15T00:00:00.000Z', identifiers })
    assert.deepEqual(lines[1], event(1))
  })

  it('may be text, which is sent unchanged', async (t) => {
    const { server, client } = await meeting(t)
    const text = `${JSON.stringify(event(1))}\r\n\n  ${JSON.stringify(event(2, { name: 'Grüße 🦦' }))}`
    await client.ingest('shop', text)
    assert.equal(onlyBatch(server).text, text)
  })

  it('is compressed if that makes it smaller', async (t) => {
    const { server, client } = await meeting(t)
    const many = Array.from({ length: 500 }, (_, number) => event(number))
    await client.ingest('shop', many)
    const { headers, bytes, text, lines } = onlyBatch(server)
    assert.equal(headers['content-encoding'], 'gzip')
    assert.ok(bytes < text.length / 5, String(bytes))
    assert.deepEqual(lines, many)

    await client.ingest('shop', [event(1)])
    assert.equal(server.batches[1]?.headers['content-encoding'], undefined)
  })

  it('is retried with the same content after temporary failures', async (t) => {
    const { server, client, time } = await meeting(t)
    const passing = [failed(500, 'internal_error'), connectionReset, answerLost, proxyFailed(502)]
    server.next(...passing)
    await client.ingest('shop', [event(1), event(2)])
    assert.equal(new Set(server.batches.map(({ text }) => text)).size, 1)
    assert.equal(server.batches.length, passing.length + 1)
    assert.equal(time.waits.length, passing.length)
  })

  it('waits for the Retry-After of a 429', async (t) => {
    const { server, client, time } = await meeting(t)
    server.next(failed(429, 'rate_limited', { 'retry-after': '7' }))
    await client.ingest('shop', [event(1)])
    assert.deepEqual(time.waits, [7_125])
  })

  it('reports the pause until a used-up budget resets', async (t) => {
    const { server, client } = await meeting(t)
    const spent = {
      'ratelimit-policy': '"ip";q=60;w=60, "key";q=120;w=60',
      ratelimit: '"ip";r=0;t=40, "key";r=9;t=50',
    }
    server.next(accepted(spent))
    assert.equal((await client.ingest('shop', [event(1)])).pauseMs, 40_000)
  })

  for (const [status, code] of [
    [400, 'invalid_request'],
    [401, 'unauthorized'],
    [403, 'forbidden'],
    [404, 'not_found'],
    [422, 'validation_error'],
  ] as const) {
    it(`is not retried after a ${status}`, async (t) => {
      const { server, client } = await meeting(t)
      server.next(failed(status, code))
      await assert.rejects(client.ingest('shop', [event(1)]), { name: 'ApiError', code, status })
      assert.equal(server.batches.length, 1)
    })
  }

  it('is rejected before it is sent if it is too large', async (t) => {
    const { server, client } = await meeting(t)
    const tooMany = Array.from({ length: maxBatchLines + 1 }, (_, number) => event(number))
    await assert.rejects(client.ingest('shop', tooMany), {
      name: 'RangeError',
      message: 'A batch can have 10000 lines; this one has 10001.',
    })
    await assert.rejects(client.ingest('shop', '\n'.repeat(10_000).concat('{}')), { name: 'RangeError' })
    await assert.rejects(client.ingest('shop', 'ä'.repeat(maxBatchBytes / 2).concat('!')), {
      name: 'RangeError',
      message: 'A batch can have 4194304 bytes; this one has 4194305.',
    })
    await assert.rejects(client.ingest('..', [event(1)]), { name: 'TypeError' })
    assert.equal(server.batches.length, 0)

    await client.ingest('shop', tooMany.slice(1))
    assert.equal(onlyBatch(server).lines.length, maxBatchLines)
  })

  it('is not sent if its signal is aborted', async (t) => {
    const { server, client } = await meeting(t)
    const signal = AbortSignal.abort()
    await assert.rejects(client.ingest('shop', [event(1)], { signal }), { name: 'AbortError' })
    assert.equal(server.batches.length, 0)
  })

  it('accepts only a response of Lethe', async (t) => {
    const { server, client } = await meeting(t)
    const body = JSON.stringify({ data: { lines: 1 }, meta: { requestId: 'r', timestamp: 't' } })
    server.next({ stores: false, answer: { status: 200, body } })
    await assert.rejects(client.ingest('shop', [event(1)]), { name: 'UnexpectedAnswerError' })
  })
})

describe('a batch in a runtime without compression', () => {
  it('is sent uncompressed', async (t) => {
    const { server, client } = await meeting(t)
    t.mock.property(globalThis, 'CompressionStream', undefined)
    await client.ingest('shop', [event(1, { properties: { text: 'a'.repeat(5_000) } })])
    assert.equal(onlyBatch(server).headers['content-encoding'], undefined)
  })
})

describe('a batch at the service', { concurrency: true }, () => {
  it('is stored once with a key for ingest only, even if it is sent repeatedly', async (t) => {
    const shop = await startShop(t, { scopes: ['analytics:collect'] })
    const client = clientOf(shop)
    const occurredAt = new Date(anHourAgo)
    const lines = Array.from({ length: 3_000 }, (_, number) =>
      event(number, {
        occurredAt,
        subjectId: `v${number % 100}`,
        identifiers: { userId: `${number % 100}` },
      }),
    )
    const { requestId, ...report } = await client.ingest('shop', lines)
    const counts = { lines: 3_000, tooOld: 0, ofErased: 0, refusedCount: 0, refused: [] }
    const added = { subjects: 100, sessions: 100, events: 3_000 }
    assert.deepEqual(report, { trackerId: 'shop', ...counts, added, unchanged: 0, pauseMs: 0 })
    assert.match(requestId, /^[0-9a-f-]{36}$/)
    const again = await client.ingest('shop', lines)
    assert.deepEqual([again.added.events, again.unchanged], [0, 3_000])
    await assert.rejects(client.readSubject('shop', 'v1'), { code: 'forbidden' })
  })

  it('rejects invalid lines individually, with their numbers', async (t) => {
    const shop = await startShop(t, { scopes: ['analytics:collect'] })
    const occurredAt = new Date(anHourAgo)
    const lines = [event(1, { occurredAt }), event(2, { subjectId: '' }), event(3, { occurredAt })]
    const { added, refused } = await clientOf(shop).ingest('shop', lines)
    assert.equal(added.events, 2)
    assert.deepEqual(
      refused.map(({ line }) => line),
      [2],
    )
  })

  it('is rejected for an unknown tracker, and for a key without the scope', async (t) => {
    const shop = await startShop(t, { scopes: ['analytics:collect'] })
    await assert.rejects(clientOf(shop).ingest('shpo', []), { code: 'not_found' })
    const reader = await shop.createKey(shop.organisationId, ['analytics:view'])
    const client = clientOf({ ...shop, key: reader.keyString })
    await assert.rejects(client.ingest('shop', []), { code: 'forbidden', message: /analytics:collect/ })
  })
})
