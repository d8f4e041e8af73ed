import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { describe, it, type TestContext } from 'node:test'
import { gzipSync, zstdCompressSync } from 'node:zlib'
import { ConnectionError, type ExportEntry, LetheClient } from '@lethe/client'
import { exportEncodings } from '../../client/src/export-encodings.ts'
import { splitExport } from '../../client/src/split-export.ts'
import { listen } from '../support/listen.ts'
import { success } from '../support/scripted-server.ts'
import { seededRandom } from '../support/seeded-random.ts'

const odd = { quotes: '"]},{', escaped: '\\"', lists: [[{ events: [1] }], []], 'sessions":[': '"events":[' }
const data = {
  ...{ trackerId: 'shop', subjectId: '"sessions":[', identifiers: [{ name: 'email', value: '"events":[' }] },
  attributes: { sessions: [{ deep: true }], events: [odd] },
}
const sessions = [{ sessionId: 's', attributes: odd }, { sessionId: '🦦' }]
const events = Array.from({ length: 5 }, (_, i) => ({ eventId: `e${i}`, properties: { ...odd, i } }))
const meta = { requestId: 'r' }

async function split(text: string, lengths: () => number) {
  async function* pieces() {
    for (let from = 0; from < text.length; ) {
      const length = lengths()
      yield text.slice(from, from + length)
      from += length
    }
  }
  const parts: { kind: string; value: unknown }[] = []
  for await (const { kind, text } of splitExport(pieces())) parts.push({ kind, value: parse(text) })
  return parts
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return 'no JSON'
  }
}

describe('the JSON of an export in pieces', () => {
  it('yields the record, the items and the end for any boundaries of the pieces', async () => {
    const random = seededRandom()
    const text = JSON.stringify({ data: { ...data, sessions, events }, meta })
    const expected = [
      { kind: 'record', value: { data: { ...data, sessions: [] } } },
      ...sessions.map((value) => ({ kind: 'session', value })),
      ...events.map((value) => ({ kind: 'event', value })),
      { kind: 'end', value: { data: { ...data, sessions: [], events: [] }, meta } },
    ]
    const ways = [
      () => 1,
      () => text.length,
      ...Array.from({ length: 20 }, () => () => 1 + random.integer(30)),
    ]
    for (const way of ways)
      assert.deepEqual(await split(text, way), expected, `LETHE_TEST_SEED=${random.seed}`)
  })

  it('has no valid end if it is truncated anywhere', async () => {
    const text = JSON.stringify({ data: { ...data, sessions, events }, meta })
    for (let length = 0; length < text.length; length++) {
      const parts = await split(text.slice(0, length), () => 50)
      assert.deepEqual(parts.at(-1), { kind: 'end', value: 'no JSON' }, String(length))
    }
  })

  it('has no items if the lists are empty', async () => {
    const text = JSON.stringify({ data: { ...data, sessions: [], events: [] }, meta })
    const parts = await split(text, () => 7)
    assert.deepEqual(
      parts.map(({ kind }) => kind),
      ['record', 'end'],
    )
  })
})

const record = {
  ...{ trackerId: 'shop', subjectId: 'anna', firstSeenAt: 't', lastSeenAt: 't', attributes: {} },
  ...{ counts: { sessions: 0, events: 0 }, identifiers: [] },
}
const answer = success({ ...record, sessions: [], events: [] })
const packings = { gzip: gzipSync(answer), zstd: zstdCompressSync(answer), plain: Buffer.from(answer) }

async function entriesOf(client: LetheClient): Promise<ExportEntry[]> {
  const entries: ExportEntry[] = []
  for await (const entry of client.exportSubject('shop', 'anna')) entries.push(entry)
  return entries
}

interface Packed {
  packing: keyof typeof packings
  /** The number of bytes of the compressed response to send. */
  length?: number
  fetch?: typeof fetch
}

/**
 * A client for a service that always compresses its response in this way, and the accepted encodings of the
 * requests.
 */
async function clientOf(t: TestContext, { packing, length, fetch }: Packed) {
  const asked: (string | string[] | undefined)[] = []
  const server = createServer(({ headers }, response) => {
    asked.push(headers['accept-encoding'])
    response.setHeader('content-type', 'application/json')
    if (packing !== 'plain') response.setHeader('content-encoding', packing)
    response.end(packings[packing].subarray(0, length))
  })
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  const url = `http://127.0.0.1:${await listen(server)}`
  return { asked, client: new LetheClient({ url, apiKey: 'x', fetch, retry: { maxAttempts: 1 } }) }
}

describe('an export requests compression', () => {
  it('with zstd or gzip if fetch supports both, and decompresses it', async (t) => {
    assert.deepEqual(exportEncodings(), { 'accept-encoding': 'zstd, gzip' })
    for (const packing of ['gzip', 'zstd', 'plain'] as const) {
      const { client, asked } = await clientOf(t, { packing })
      const [entry] = await entriesOf(client)
      assert.deepEqual(entry, { type: 'subject', ...record })
      assert.deepEqual(asked, ['zstd, gzip'])
    }
  })

  it('with the default of fetch if its encodings are unknown', async (t) => {
    for (const versions of [
      {},
      { undici: '6.21.0' },
      { undici: '7.16.0', zstd: '1.5.7' },
      { undici: '8.1.0' },
    ]) {
      assert.deepEqual(exportEncodings(versions), {})
    }
    const { client, asked } = await clientOf(t, { packing: 'gzip', fetch: (...request) => fetch(...request) })
    await entriesOf(client)
    assert.match(String(asked[0]), /^gzip/)
  })

  it('and fails if the compressed data is truncated, even if the connection ends normally', async (t) => {
    for (const packing of ['gzip', 'zstd'] as const) {
      const { client } = await clientOf(t, { packing, length: packings[packing].length - 20 })
      await assert.rejects(entriesOf(client), ConnectionError)
    }
  })
})
