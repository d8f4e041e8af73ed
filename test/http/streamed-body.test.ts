import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { readdirSync, readlinkSync } from 'node:fs'
import { createServer } from 'node:http'
import { connect } from 'node:net'
import { describe, it, type TestContext } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { SpoolRoom } from '../../src/http/spool.ts'
import { ClientGone, StreamedBody, type StreamOptions } from '../../src/http/streamed-body.ts'
import { noProc } from '../support/no-proc.ts'

const randomness = { uuid: () => randomUUID(), base62: (length: number) => 'x'.repeat(length) }
/** More than what the system and the spool's memory hold for somebody who reads nothing. */
const pieces = Array.from({ length: 24 }, () => randomBytes(400_000).toString('base64'))

/** The files without a name that this process has open as spools. */
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

/** Serves the pieces, and tells how each answer ends. */
async function serve(t: TestContext, options: Pick<StreamOptions, 'room' | 'encoding' | 'stallMs'>) {
  const ends: { path: string | undefined; error: unknown; spools: number }[] = []
  const server = createServer(async ({ url: path }, response) => {
    const body = new StreamedBody(response, { randomness, begin: () => response.writeHead(200), ...options })
    let spools = 0
    try {
      for (const piece of pieces) {
        await body.add(piece)
        spools = Math.max(spools, openSpools().length)
      }
      await body.end()
      ends.push({ path, error: null, spools })
    } catch (error) {
      await body.abandon()
      ends.push({ path, error, spools })
    }
    server.emit('over')
  })
  t.after(() => {
    server.close()
    server.closeAllConnections()
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const address = server.address()
  assert.ok(typeof address === 'object' && address !== null)
  return {
    port: address.port,
    async end(path: string) {
      for (;;) {
        const end = ends.find((end) => end.path === path)
        if (end) return end
        await once(server, 'over')
      }
    },
  }
}

/** Asks, and reads nothing. */
function askInSilence(t: TestContext, port: number, path: string): void {
  const socket = connect(port, '127.0.0.1')
  socket.on('error', () => {})
  t.after(() => socket.destroy())
  socket.pause()
  socket.write(`GET ${path} HTTP/1.1\r\nHost: test\r\n\r\n`)
}

describe('a streamed answer that nobody reads', { skip: noProc }, () => {
  for (const encoding of [null, 'zstd'] as const) {
    it(`lies in one file without a name, and is let go of with its client after a while (${encoding})`, async (t) => {
      const server = await serve(t, { room: new SpoolRoom(), encoding, stallMs: 500 })
      askInSilence(t, server.port, '/')
      const { error, spools } = await server.end('/')
      assert.ok(error instanceof ClientGone, String(error))
      assert.equal(spools, 1)
      assert.deepEqual(openSpools(), [])
    })
  }

  it('gives way when all that lie unread take too much of the disk, the one with most to take first', async (t) => {
    const bodyBytes = pieces.join('').length
    const server = await serve(t, { room: new SpoolRoom(bodyBytes), encoding: null, stallMs: 100_000 })
    askInSilence(t, server.port, '/first')
    while (openSpools().length === 0) await nextTurn()
    askInSilence(t, server.port, '/second')
    const cutOff = await Promise.race([server.end('/first'), server.end('/second')])
    assert.ok(cutOff.error instanceof ClientGone, String(cutOff.error))
    assert.equal(openSpools().length, 1)
    const read = await fetch(`http://127.0.0.1:${server.port}/read`)
    assert.equal((await read.text()).length, bodyBytes)
    assert.equal((await server.end('/read')).error, null)
  })
})
