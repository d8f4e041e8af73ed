import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { readdirSync, readlinkSync } from 'node:fs'
import { createServer } from 'node:http'
import { connect } from 'node:net'
import { describe, it, type TestContext } from 'node:test'
import { ClientGone, StreamedBody, type StreamOptions } from '../../src/http/streamed-body.ts'
import { noProc } from '../support/no-proc.ts'

const randomness = { uuid: () => randomUUID(), base62: (length: number) => 'x'.repeat(length) }
/** More than what the system and the spool's memory hold for somebody who reads nothing. */
const pieces = Array.from({ length: 60 }, () => randomBytes(400_000).toString('base64'))

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

/** Streams to a client that reads nothing, and tells how that ends. */
async function toSilence(t: TestContext, encoding: StreamOptions['encoding']) {
  const ended = Promise.withResolvers<{ error: unknown; spools: number }>()
  const server = createServer(async (_, response) => {
    const begin = () => response.writeHead(200)
    const body = new StreamedBody(response, { randomness, begin, encoding, stallMs: 500 })
    let spools = 0
    try {
      for (const piece of pieces) {
        await body.add(piece)
        spools = Math.max(spools, openSpools().length)
      }
      await body.end()
      ended.reject(new Error('nobody has read it'))
    } catch (error) {
      await body.abandon()
      ended.resolve({ error, spools })
    }
  })
  t.after(() => {
    server.close()
    server.closeAllConnections()
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const address = server.address()
  assert.ok(typeof address === 'object' && address !== null)
  const socket = connect(address.port, '127.0.0.1')
  socket.on('error', () => {})
  t.after(() => socket.destroy())
  socket.pause()
  socket.write('GET / HTTP/1.1\r\nHost: test\r\n\r\n')
  return ended.promise
}

describe('a streamed answer that nobody reads', { skip: noProc }, () => {
  for (const encoding of [null, 'gzip', 'zstd'] as const) {
    it(`lies in one file without a name, and is let go of with its client after a while (${encoding})`, async (t) => {
      const { error, spools } = await toSilence(t, encoding)
      assert.ok(error instanceof ClientGone, String(error))
      assert.equal(spools, 1)
      assert.deepEqual(openSpools(), [])
    })
  }
})
