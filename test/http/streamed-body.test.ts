import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { readdirSync, readlinkSync } from 'node:fs'
import { createServer } from 'node:http'
import { connect } from 'node:net'
import { describe, it, type TestContext } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { Connections } from '../../src/http/connections.ts'
import { SpoolRoom } from '../../src/http/spool.ts'
import { ClientGone, StreamedBody, type StreamOptions } from '../../src/http/streamed-body.ts'
import { listen } from '../support/listen.ts'
import { noProc } from '../support/missing.ts'
import { until } from '../support/until.ts'

const randomness = { uuid: () => randomUUID(), base62: (length: number) => 'x'.repeat(length) }
/** More than the system and the memory of the spool hold for a client that does not read. */
const pieces = Array.from({ length: 24 }, () => randomBytes(400_000).toString('base64'))
const bodyBytes = pieces.join('').length
/** Less than twelve of these clients would need. */
const maxSpoolMemoryBytes = 4 * 1024 * 1024

/** The unlinked spool files that this process has open. */
function openSpools(): string[] {
  const links = readdirSync('/proc/self/fd').map((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`)
    } catch {
      return ''
    }
  })
  return links.filter((link) => link.includes('lethe-spool-'))
}

/** Serves the pieces and reports how each response ends. The first path segment is the owner. */
async function serve(
  t: TestContext,
  { room, encoding = null }: { room: SpoolRoom; encoding?: StreamOptions['encoding'] },
) {
  const ends: { path: string | undefined; error: unknown }[] = []
  const server = createServer(async (request, response) => {
    const path = request.url
    const exchange = { request, response, owner: path?.split('/')[1] ?? null, unreadBytes: 0 }
    connections.begin(exchange)
    const body = new StreamedBody(response, {
      ...{ room, encoding, owner: exchange.owner, begin: () => response.writeHead(200) },
      hasMemory: (bytes) => connections.unreadBytes + bytes < maxSpoolMemoryBytes,
      onUnread: (bytes) => connections.addUnread(exchange, bytes),
    })
    response.once('close', () => connections.end(exchange))
    try {
      for (const piece of pieces) await body.add(piece)
      await body.end()
      ends.push({ path, error: null })
    } catch (error) {
      await body.abandon()
      ends.push({ path, error })
    }
    server.emit('over')
  })
  const connections = new Connections(server, 100)
  t.after(() => {
    server.close()
    server.closeAllConnections()
  })
  return {
    port: await listen(server),
    connections,
    async end(path: string) {
      for (;;) {
        const end = ends.find((end) => end.path === path)
        if (end) return end
        await once(server, 'over')
      }
    },
  }
}

/** Sends a request without reading the response. */
function askInSilence(t: TestContext, port: number, path: string): void {
  const socket = connect(port, '127.0.0.1')
  socket.on('error', () => {})
  t.after(() => socket.destroy())
  socket.pause()
  socket.write(`GET ${path} HTTP/1.1\r\nHost: test\r\n\r\n`)
}

describe('a streamed response that is not read', { skip: noProc }, () => {
  for (const encoding of [null, 'zstd'] as const) {
    it(`is kept in an unlinked file, and released when its client is closed after a while (${encoding})`, async (t) => {
      const server = await serve(t, { room: new SpoolRoom({ folder: null, randomness }), encoding })
      askInSilence(t, server.port, '/anna')
      let isOver = false
      const over = server.end('/anna').finally(() => {
        isOver = true
      })
      await until(() => openSpools().length === 1)
      for (let now = 0; !isOver; now += 30_000) {
        await server.connections.closeStalled(now)
        await nextTurn()
      }
      const { error } = await over
      assert.ok(error instanceof ClientGone, String(error))
      assert.deepEqual(openSpools(), [])
      assert.equal(server.connections.unreadBytes, 0)
    })
  }

  it('uses memory only while the shared limit allows, and one file for all clients', async (t) => {
    const server = await serve(t, { room: new SpoolRoom({ folder: null, randomness }) })
    const paths = Array.from({ length: 12 }, (_, number) => `/anna/${number}`)
    for (const path of paths) askInSilence(t, server.port, path)
    await until(() => server.connections.unreadBytes > maxSpoolMemoryBytes - 65_536)
    const read = await fetch(`http://127.0.0.1:${server.port}/ben`)
    assert.equal((await read.text()).length, bodyBytes)
    assert.equal((await server.end('/ben')).error, null)
    assert.equal(openSpools().length, 1)
    // One piece of each is being sent, regardless of the limit.
    assert.ok(server.connections.unreadBytes <= maxSpoolMemoryBytes + paths.length * 65_536)
  })

  it('is cut off if the disk limit is exceeded: the largest one of the organisation with the most data', async (t) => {
    const room = new SpoolRoom({ folder: null, randomness, maxBytes: 2 * bodyBytes })
    const server = await serve(t, { room })
    // This response takes less than half of the disk limit.
    askInSilence(t, server.port, '/ben/1')
    while (openSpools().length === 0) await nextTurn()
    for (const number of [1, 2, 3]) askInSilence(t, server.port, `/anna/${number}`)
    const cutOff = await Promise.race([1, 2, 3].map((number) => server.end(`/anna/${number}`)))
    assert.ok(cutOff.error instanceof ClientGone, String(cutOff.error))
    const read = await fetch(`http://127.0.0.1:${server.port}/read`)
    assert.equal((await read.text()).length, bodyBytes)
    const other = server.end('/ben/1').then(() => 'cut off')
    assert.equal(await Promise.race([other, nextTurn('waits')]), 'waits')
  })
})
