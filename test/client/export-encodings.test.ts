import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { describe, it, type TestContext } from 'node:test'
import { gzipSync, zstdCompressSync } from 'node:zlib'
import { ConnectionError, type ExportEntry, LetheClient } from '@lethe/client'
import { exportEncodings } from '../../client/src/export-encodings.ts'
import { success } from '../support/scripted-server.ts'

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
  /** Of the packed answer, so many bytes. */
  length?: number
  fetch?: typeof fetch
}

/** A client of a service that packs its answer so, whether asked or not, and what it was asked for. */
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
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const address = server.address()
  assert.ok(typeof address === 'object' && address !== null)
  const url = `http://127.0.0.1:${address.port}`
  return { asked, client: new LetheClient({ url, apiKey: 'x', fetch, retry: { maxAttempts: 1 } }) }
}

describe('an export asks to be packed', () => {
  it('with zstd, or gzip, where fetch unpacks both; it comes out as it was', async (t) => {
    assert.deepEqual(exportEncodings(), { 'accept-encoding': 'zstd, gzip' })
    for (const packing of ['gzip', 'zstd', 'plain'] as const) {
      const { client, asked } = await clientOf(t, { packing })
      const [entry] = await entriesOf(client)
      assert.deepEqual(entry, { type: 'subject', ...record })
      assert.deepEqual(asked, ['zstd, gzip'])
    }
  })

  it('with what fetch asks for by itself where nobody knows more of it', async (t) => {
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

  it('and is broken where its packing ends before its end, though the connection ended well', async (t) => {
    for (const packing of ['gzip', 'zstd'] as const) {
      const { client } = await clientOf(t, { packing, length: packings[packing].length - 20 })
      await assert.rejects(entriesOf(client), ConnectionError)
    }
  })
})
