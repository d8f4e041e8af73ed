import { readFileSync } from 'node:fs'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'

/** A request and its answer on a connection. */
export interface Exchange {
  request: IncomingMessage
  response: ServerResponse
}

/** An exchange and how many bytes of its answer its client is yet to take. */
export interface AnsweredExchange extends Exchange {
  unreadBytes: number
}

interface Connection {
  latest: Exchange | null
  /** How many of its requests are not answered yet. */
  waiting: number
  /** How many bytes of its answers wait for the client. */
  unreadBytes: number
}

/**
 * How many requests may wait for their answers on one connection before no more is read from it. Hardly a client sends a second before
 * the first is answered.
 */
const mostWaiting = 32
/** How many bytes of answers may wait for their clients, all connections together. */
export const maxUnreadBytes = 64 * 1024 * 1024
/** How often a client that takes its answer slowly is looked at: one that has taken nothing since the last time is cut off. */
const unreadTimeoutMs = 30_000
/** File handles that are not for clients: the store, its thread, the limiter, the log. */
const reservedHandles = 64
/** How many sockets listen, where there are handles enough. */
const mostListeners = 64

/** How many of the connections that are wished for the system lets this process have, and how many sockets to listen for them. */
export function connectionsWithin(
  wished: number,
  limits = systemLimits(),
): { maxConnections: number; listeners: number } {
  const [, handles] = /^Max open files\s+(\d+)/m.exec(limits) ?? []
  if (handles === undefined) return { maxConnections: wished, listeners: mostListeners }
  const listeners = Math.min(mostListeners, Math.ceil(Number(handles) / 32))
  return {
    maxConnections: Math.min(wished, Math.max(1, Number(handles) - reservedHandles - listeners)),
    listeners,
  }
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
 * Knows every open connection and the latest request on it, and keeps what they cost within bounds: their number, the requests that
 * wait on each, and for how long and how many bytes of answers may lie unread.
 */
export class Connections {
  /** The one that has asked for nothing for longest comes first. */
  readonly #open = new Map<Duplex, Connection>()
  /** Those with answers that lie unread. The one that has taken none for longest comes first. */
  readonly #unread = new Set<Duplex>()
  #unreadBytes = 0

  constructor(server: Server, most: number) {
    server.on('connection', (socket) => {
      this.#open.set(socket, { latest: null, waiting: 0, unreadBytes: 0 })
      socket.once('close', () => this.#forget(socket))
      if (this.#open.size > most) this.#makeRoom()
    })
    server.setTimeout(unreadTimeoutMs, (socket) => {
      if (!isAwaited(this.latest(socket))) socket.destroy()
    })
  }

  /** Notes a request. Whether it is to be answered: not where its connection has ended. From one on which many wait no more is read. */
  begin(exchange: Exchange): boolean {
    const { socket } = exchange.request
    const connection = this.#open.get(socket)
    if (!connection || socket.destroyed) return false
    connection.waiting += 1
    if (connection.waiting === mostWaiting) {
      // When all that was read with it is parsed: with each request Node resumes the socket itself.
      process.nextTick(() => {
        if (connection.waiting >= mostWaiting) socket.pause()
      })
    }
    connection.latest = exchange
    this.#open.delete(socket)
    this.#open.set(socket, connection)
    return true
  }

  /**
   * Notes that an answer of so many bytes waits to be read. While too many do, whoever has taken no answer for longest is cut off:
   * clients that read come to no harm from those that do not.
   */
  addUnread(exchange: AnsweredExchange, bytes: number): void {
    const { socket } = exchange.request
    const connection = this.#open.get(socket)
    if (!connection) return
    exchange.unreadBytes += bytes
    connection.unreadBytes += bytes
    this.#unreadBytes += bytes
    this.#unread.add(socket)
    for (const slowest of this.#unread) {
      if (this.#unreadBytes <= maxUnreadBytes) return
      this.#forget(slowest)
      slowest.destroy()
    }
  }

  /** Notes that a request is over. */
  end({ request: { socket }, unreadBytes }: AnsweredExchange): void {
    const connection = this.#open.get(socket)
    if (!connection) return
    connection.waiting -= 1
    if (connection.waiting === mostWaiting - 1) socket.resume()
    if (connection.unreadBytes === 0) return
    connection.unreadBytes -= unreadBytes
    this.#unreadBytes -= unreadBytes
    this.#unread.delete(socket)
    if (connection.unreadBytes > 0) this.#unread.add(socket)
  }

  latest(socket: Duplex): Exchange | null {
    return this.#open.get(socket)?.latest ?? null
  }

  /** Ends the connections on which no answer is due: those that keep still, and those that have not finished asking. */
  endQuiet(): void {
    for (const [socket, { latest }] of this.#open) {
      if (!latest || latest.response.writableFinished) socket.destroy()
    }
  }

  /** Ends the connection that is missed least; where all of them wait for answers in the making, that is the newest. */
  #makeRoom(): void {
    for (const [socket, { latest }] of this.#open) {
      if (isAwaited(latest)) continue
      this.#forget(socket)
      socket.destroy()
      return
    }
  }

  #forget(socket: Duplex): void {
    this.#unreadBytes -= this.#open.get(socket)?.unreadBytes ?? 0
    this.#unread.delete(socket)
    this.#open.delete(socket)
  }
}

/** Whether a client has asked in full and its answer is not made yet. Whoever still asks, or does not read, is not awaited. */
function isAwaited(exchange: Exchange | null): boolean {
  return exchange?.request.complete === true && !exchange.response.writableEnded
}
