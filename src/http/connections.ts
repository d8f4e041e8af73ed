import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'

/** A request and its answer on a connection. */
export interface Exchange {
  request: IncomingMessage
  response: ServerResponse
}

/** Knows every open connection and the latest request on it. */
export class Connections {
  readonly #open = new Set<Duplex>()
  readonly #latest = new WeakMap<Duplex, Exchange>()

  constructor(server: Server) {
    server.on('connection', (socket) => {
      this.#open.add(socket)
      socket.once('close', () => this.#open.delete(socket))
    })
    server.on('request', (request, response) => this.#latest.set(request.socket, { request, response }))
  }

  latest(socket: Duplex): Exchange | null {
    return this.#latest.get(socket) ?? null
  }

  /** Ends the connections on which no answer is due: those that keep still, and those that have not finished asking. */
  endQuiet(): void {
    for (const socket of this.#open) {
      const exchange = this.latest(socket)
      if (!exchange || exchange.response.writableFinished) socket.destroy()
    }
  }
}
