import { readFileSync } from 'node:fs'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'

/** A request and its answer on a connection. */
export interface Exchange {
  request: IncomingMessage
  response: ServerResponse
}

/** How many requests may wait for their answers on one connection. Hardly a client sends a second before the first is answered. */
const mostWaiting = 32
/** How often a client that takes its answer slowly is looked at: one that has taken nothing since the last time is cut off. */
const unreadTimeoutMs = 30_000
/** File handles that are not for clients: the store, its thread, the limiter, the log. */
const reservedHandles = 64

/** How many of the connections that are wished for the system lets this process have. */
export function connectionsWithin(wished: number, limits = systemLimits()): number {
  const [, handles] = /^Max open files\s+(\d+)/m.exec(limits) ?? []
  return handles === undefined ? wished : Math.min(wished, Math.max(1, Number(handles) - reservedHandles))
}

/** What the system lets this process have, as Linux tells it; elsewhere nothing is known. */
function systemLimits(): string {
  try {
    return readFileSync('/proc/self/limits', 'utf8')
  } catch {
    return ''
  }
}

/**
 * Knows every open connection and the latest request on it, and keeps what they cost within bounds: their number, the answers that wait
 * on each, and the time for which an answer may lie unread.
 */
export class Connections {
  /** The one that has asked for nothing for longest comes first. */
  readonly #open = new Set<Duplex>()
  readonly #latest = new WeakMap<Duplex, Exchange>()
  readonly #waiting = new WeakMap<Duplex, number>()

  constructor(server: Server, most: number) {
    server.on('connection', (socket) => {
      this.#open.add(socket)
      socket.once('close', () => this.#open.delete(socket))
      if (this.#open.size > most) this.#makeRoom()
    })
    server.setTimeout(unreadTimeoutMs, (socket) => {
      if (!this.#isAwaited(socket)) socket.destroy()
    })
  }

  /** Notes a request. Whether it is to be answered: a connection on which too many wait is closed instead. */
  begin(exchange: Exchange): boolean {
    const { socket } = exchange.request
    const waiting = (this.#waiting.get(socket) ?? 0) + 1
    if (waiting > mostWaiting) socket.destroy()
    if (socket.destroyed) return false
    this.#waiting.set(socket, waiting)
    this.#latest.set(socket, exchange)
    this.#open.delete(socket)
    this.#open.add(socket)
    return true
  }

  /** Notes that a request is over. */
  end({ request: { socket } }: Exchange): void {
    this.#waiting.set(socket, (this.#waiting.get(socket) ?? 1) - 1)
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

  /** Ends the connection that is missed least; where all of them wait for answers in the making, that is the newest. */
  #makeRoom(): void {
    for (const socket of this.#open) {
      if (this.#isAwaited(socket)) continue
      this.#open.delete(socket)
      socket.destroy()
      return
    }
  }

  /** Whether a client has asked in full and its answer is not made yet. Whoever still asks, or does not read, is not awaited. */
  #isAwaited(socket: Duplex): boolean {
    const exchange = this.latest(socket)
    return exchange?.request.complete === true && !exchange.response.writableEnded
  }
}
