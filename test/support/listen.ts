import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { Server } from 'node:net'

/** Makes a server listen, by default on a free port of this machine. Returns the port. */
export async function listen(server: Server, { port = 0, host = '127.0.0.1' } = {}): Promise<number> {
  await once(server.listen(port, host), 'listening')
  const address = server.address()
  assert.ok(typeof address === 'object' && address !== null)
  return address.port
}
