import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { describe, it } from 'node:test'
import { BatchingSocket } from '../../../src/storage/postgres/connect.ts'
import { listen } from '../../support/listen.ts'

describe('a socket to PostgreSQL', () => {
  it('sends statements written at the same time as one chunk, without delay', async (t) => {
    const server = createServer((peer) => peer.pipe(peer))
    t.after(() => server.close())
    const port = await listen(server)
    const socket = new BatchingSocket()
    t.after(() => socket.destroy())
    socket.connect(port, '127.0.0.1')
    await once(socket, 'connect')
    let echoed = ''
    socket.on('data', (chunk) => {
      echoed += chunk
    })
    for (const round of ['a', 'b']) {
      for (const statement of ['1', '2', '3']) {
        socket.cork()
        socket.write(`${round}${statement} `)
        socket.uncork()
      }
      assert.equal(socket.writableLength, 9)
      await new Promise<void>((resolve) => process.nextTick(resolve))
      assert.equal(socket.writableCorked, 0)
      while (!echoed.includes(`${round}3 `)) await once(socket, 'data')
    }
    assert.equal(echoed, 'a1 a2 a3 b1 b2 b3 ')
  })
})
