import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import type { Lifetime } from '../../support/service.ts'

/** Clients that do what no client should: they open connections to a server and misuse them until they are dismissed. */
export class AbusiveClients {
  readonly #address: { host: string; port: number }
  readonly #sockets: Socket[] = []
  /** How many connections the server has ended. */
  ended = 0
  /** What the server said to them, all together. */
  heard = ''

  constructor(t: Lifetime, url: string) {
    const { hostname, port } = new URL(url)
    this.#address = { host: hostname, port: Number(port) }
    t.after(() => this.dismiss())
  }

  /** So many clients connect and say this each. */
  async come(count: number, says: string, { reads = true, hangsUp = false } = {}): Promise<void> {
    const arrivals = Array.from({ length: count }, async () => {
      const socket = connect({ ...this.#address, allowHalfOpen: true })
      socket.on('error', () => {})
      socket.once('close', () => {
        this.ended += 1
      })
      await Promise.race([once(socket, 'connect'), once(socket, 'close')])
      if (reads) {
        socket.on('data', (bytes) => {
          this.heard += bytes
        })
        socket.on('end', () => socket.destroy())
      }
      if (hangsUp) socket.end(says)
      else socket.write(says)
      this.#sockets.push(socket)
    })
    await Promise.all(arrivals)
  }

  dismiss(): void {
    for (const socket of this.#sockets.splice(0)) socket.destroy()
  }
}
