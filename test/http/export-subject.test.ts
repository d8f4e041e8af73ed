import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { type IncomingMessage, request } from 'node:http'
import { after, describe, test } from 'node:test'
import { gunzipSync, zstdDecompressSync } from 'node:zlib'
import { dataOf, errorOf, listIn } from '../support/answers.ts'
import { inReverse } from '../support/in-reverse.ts'
import { startShop, subjectPath, visit } from '../support/shop.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const lifetime = inReverse({ after })
/** Used by the exports of this file only. */
const spools = temporaryFolder(lifetime)
const shop = await startShop(lifetime, {
  scopes: ['analytics:view', 'analytics:delete-data'],
  env: { LETHE_SPOOL_DIR: spools },
})
const { key, url } = shop
const identifiers = { email: 'ada@example.com' }
await shop.ingest([
  ...visit('anna', { sessionId: 's1', events: 450 }).map((row) => ({ ...row, identifiers })),
  ...visit('anna', { sessionId: 's2', events: 3, startedAt: Date.now() - 60_000 }),
])
/** 10 MB, which is more than the system buffers for a client that does not read. */
const events = 500
const largeVisit = (subjectId: string) =>
  visit(subjectId, { events, startedAt: Date.now() - 25 * 3_600_000 }).map((row) =>
    row.type === 'event' ? { ...row, properties: { text: 'x'.repeat(20_000) } } : row,
  )
const large = 'busy'
await shop.ingest(largeVisit(large))

async function all(path: string, list: string): Promise<unknown[]> {
  const items: unknown[] = []
  for (let cursor = ''; ; ) {
    const data = dataOf(await shop.ask(`${path}?limit=200${cursor && `&cursor=${cursor}`}`, { key }))
    items.push(...listIn(data, list))
    if (data.nextCursor === null) return items
    cursor = String(data.nextCursor)
  }
}

/** A response with the bytes as they were transmitted. */
async function packed(path: string, accepted: string | null, method = 'GET') {
  const headers = {
    authorization: `Bearer ${key}`,
    ...(accepted !== null && { 'accept-encoding': accepted }),
  }
  const asked = request(url + path, { method, headers }).end()
  const [response]: IncomingMessage[] = await once(asked, 'response')
  assert.ok(response)
  return { headers: response.headers, bytes: Buffer.concat(await response.toArray()) }
}

describe('the export of a subject', () => {
  test('contains the record, all sessions and all events, oldest first, in the envelope', async () => {
    const path = subjectPath('anna')
    const { sessions, events, ...record } = dataOf(await shop.ask(`${path}/export`, { key }))
    assert.deepEqual(record, dataOf(await shop.ask(path, { key })))
    assert.deepEqual(sessions, (await all(`${path}/sessions`, 'sessions')).reverse())
    assert.deepEqual(events, (await all(`${path}/events`, 'events')).reverse())
  })

  test('counts as one request and reports the remaining budget', async () => {
    const answer = await shop.ask(`${subjectPath('anna')}/export`, { key })
    assert.ok(Number(answer.headers.get('x-ratelimit-remaining')) > 0)
    assert.equal(answer.headers.get('cache-control'), 'no-store')
    assert.equal(answer.headers.get('content-length'), null)
  })

  test('is compressed as the client prefers, with zstd if it accepts gzip equally', async () => {
    const path = `${subjectPath('anna')}/export`
    const plain = await packed(path, null)
    const { data } = JSON.parse(plain.bytes.toString())
    for (const [accepted, encoding] of [
      ['gzip', 'gzip'],
      ['zstd', 'zstd'],
      ['gzip, deflate, br, zstd', 'zstd'],
      ['zstd;q=0.5, gzip;q=0.8', 'gzip'],
      ['zstd;q=0, gzip', 'gzip'],
      ['br', null],
      ['', null],
      ['gzip;q=0', null],
    ] as const) {
      const { headers, bytes } = await packed(path, accepted)
      assert.deepEqual(
        [headers.vary, headers['content-encoding']],
        ['Accept-Encoding', encoding ?? undefined],
      )
      if (encoding !== null) assert.ok(bytes.length < plain.bytes.length / 5, `${bytes.length} bytes`)
      const text = encoding === 'zstd' ? zstdDecompressSync(bytes) : encoding ? gunzipSync(bytes) : bytes
      assert.deepEqual(JSON.parse(text.toString()).data, data, accepted)
    }
    const head = await packed(path, 'zstd', 'HEAD')
    assert.deepEqual([head.headers['content-encoding'], head.bytes.length], ['zstd', 0])
  })

  test('is recorded in the activity with its key', async () => {
    const { rows } = await shop.services.activity.list(shop.organisationId, {
      ...{ limit: 9, after: null, requestId: null },
    })
    const exported = rows.filter(({ kind }) => kind === 'subject.exported')
    assert.ok(exported.length > 0)
    for (const { actor, target } of exported) {
      assert.deepEqual([actor.kind, target], ['key', 'shop'])
    }
  })

  test('returns 404 for an unknown subject', async () => {
    errorOf(await shop.ask(`${subjectPath('nobody')}/export`, { key }), 'not_found')
    errorOf(await shop.ask(`${subjectPath('anna', 'nothing')}/export`, { key }), 'not_found')
    const answer = await shop.ask(`${subjectPath('nobody')}/export`, { method: 'HEAD', key })
    assert.equal(answer.status, 404)
  })

  test('responds to HEAD with headers only and is not recorded', async () => {
    const noted = async () =>
      (await shop.services.activity.list(shop.organisationId, { limit: 99, after: null, requestId: null }))
        .rows.length
    const before = await noted()
    const answer = await shop.ask(`${subjectPath('anna')}/export`, { method: 'HEAD', key })
    assert.equal(answer.status, 200)
    assert.equal(answer.body, null)
    assert.equal(await noted(), before)
  })
})

describe('the export of a large subject', () => {
  const exportPath = `${subjectPath(large)}/export`

  test('does not delay other requests while its client reads slowly, and is a snapshot of its start', async () => {
    const response = await fetch(url + exportPath, { headers: { authorization: `Bearer ${key}` } })
    const reader = response.body?.getReader()
    assert.ok(reader)
    const first = await reader.read()
    const chunks: Uint8Array[] = first.value ? [first.value] : []
    dataOf(await shop.ask(subjectPath('anna'), { key }))
    // An organisation has one export created at a time: after this one, the first is complete in a spool.
    dataOf(await shop.ask(`${subjectPath('anna')}/export`, { key }))
    dataOf(await shop.ask(subjectPath(large), { method: 'DELETE', key }))
    errorOf(await shop.ask(exportPath, { key }), 'not_found')
    for (let piece = await reader.read(); !piece.done; piece = await reader.read()) chunks.push(piece.value)
    const body: unknown = JSON.parse(Buffer.concat(chunks).toString())
    assert.ok(typeof body === 'object' && body !== null && 'data' in body)
    assert.equal(listIn(body.data, 'events').length, events)
    assert.deepEqual(readdirSync(spools), [])
  })

  test('is released when its client disconnects', async () => {
    await shop.ingest(largeVisit('again'))
    const headers = { authorization: `Bearer ${key}` }
    const hasty = await fetch(`${url}${subjectPath('again')}/export`, { headers })
    await hasty.body?.cancel()
    // This waits until nothing is being created for the other client.
    dataOf(await shop.ask(`${subjectPath('anna')}/export`, { key }))
    dataOf(await shop.ask(subjectPath('again'), { method: 'DELETE', key }))
    assert.ok(!shop.logged.some((line) => line.includes('failed to complete')))
  })
})

describe('exports of several organisations', () => {
  test('take turns, however many one of them requests', async () => {
    await shop.ingest(largeVisit('wanted'))
    const rival = await shop.createOrganisation()
    const trackerId = await shop.createTracker(rival)
    await shop.ingest(visit('ben', { trackerId }))
    const rivalKey = (await shop.createKey(rival)).keyString
    let begun = 0
    const stop = new AbortController()
    const many = Array.from({ length: 40 }, async () => {
      const response = await fetch(`${url}${subjectPath('wanted')}/export`, {
        headers: { authorization: `Bearer ${key}` },
        signal: stop.signal,
      })
      begun += 1
      await response.arrayBuffer()
    })
    await Promise.race(many)
    const before = begun
    dataOf(await shop.ask(`${subjectPath('ben', trackerId)}/export`, { key: rivalKey }))
    assert.ok(begun <= before + 10, `${begun - before} exports came before one of another organisation`)
    stop.abort()
    await Promise.allSettled(many)
    // Exports whose clients have disconnected are not created.
    dataOf(await shop.ask(`${subjectPath('anna')}/export`, { key }))
  })
})
