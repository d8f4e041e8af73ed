import { readFileSync } from 'node:fs'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { readSendQueues } from './streamed-body.ts'

/** A request and its answer on a connection. */
export interface Exchange {
  request: IncomingMessage
  response: ServerResponse
}

/** An exchange, the organisation it is for, and how many bytes of its answer its client is yet to take. */
export interface AnsweredExchange extends Exchange {
  readonly owner: string | null
  unreadBytes: number
}

interface Connection {
  socket: Socket
  latest: Exchange | null
  /** How many of its requests are not answered yet. */
  waiting: number
  /** How many bytes of its answers wait for the client, and whose the latest of them is. */
  unreadBytes: number
  unreadOwner: string | null
  /** What was seen of its sending when something was taken last, and when that was. */
  progress: { seen: string; at: number } | null
}

/**
 * How many requests may wait for their answers on one connection before no more is read from it. Hardly a client sends a second before
 * the first is answered.
 */
const mostWaiting = 32
/** How many bytes of answers may wait for their clients, all connections together. */
export const maxUnreadBytes = 64 * 1024 * 1024
/** How long a client may take nothing of an answer, or of a connection send nothing on which no answer is due. */
const silenceMs = 30_000
/** How often it is looked at whether clients take something. */
const lookMs = 2_000
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
      const unread = { unreadBytes: 0, unreadOwner: null, progress: null }
      this.#open.set(socket, { socket, latest: null, waiting: 0, ...unread })
      socket.once('close', () => this.#forget(socket))
      if (this.#open.size > most) this.#makeRoom()
    })
    server.setTimeout(silenceMs, (socket) => {
      // Whether anything is taken of an answer is for `cutOffSilent` to see.
      if (!isAwaited(this.latest(socket)) && socket.writableLength === 0) socket.destroy()
    })
    const looking = setInterval(() => this.cutOffSilent(performance.now()), lookMs).unref()
    server.once('close', () => clearInterval(looking))
  }

  get unreadBytes(): number {
    return this.#unreadBytes
  }

  /** Ends the connections whose clients have taken nothing for 30 seconds of what waits for them. */
  async cutOffSilent(now: number): Promise<void> {
    const waiting = [...this.#open.values()].filter(({ socket }) => socket.writableLength > 0)
    if (waiting.length === 0) return
    const queueOf = await readSendQueues()
    for (const connection of waiting) {
      const { socket, progress } = connection
      const seen = `${socket.bytesWritten - socket.writableLength} ${queueOf(socket)}`
      if (progress?.seen !== seen) connection.progress = { seen, at: now }
      else if (now - progress.at >= silenceMs) socket.destroy()
    }
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
   * Notes how many bytes more or fewer wait to be read. While too many do, somebody is cut off: of the organisation for which most
   * waits, whoever has taken nothing for longest. Clients that read come to no harm from those that do not.
   */
  addUnread(exchange: AnsweredExchange, bytes: number): void {
    const { socket } = exchange.request
    const connection = this.#open.get(socket)
    if (!connection) return
    exchange.unreadBytes += bytes
    connection.unreadBytes += bytes
    connection.unreadOwner = exchange.owner
    this.#unreadBytes += bytes
    if (bytes < 0) this.#unread.delete(socket)
    if (connection.unreadBytes > 0) this.#unread.add(socket)
    while (this.#unreadBytes > maxUnreadBytes) this.#cutOffSlowest()
  }

  #cutOffSlowest(): void {
    const owners = new Map<string | null, number>()
    const unread = Array.from(this.#unread, (socket) => ({ socket, ...this.#unreadOf(socket) }))
    for (const { owner, bytes } of unread) owners.set(owner, (owners.get(owner) ?? 0) + bytes)
    const [heaviest] = [...owners].reduce((a, b) => (b[1] > a[1] ? b : a))
    const slowest = unread.find(({ owner }) => owner === heaviest)
    if (!slowest) return
    this.#forget(slowest.socket)
    slowest.socket.destroy()
  }

  #unreadOf(socket: Duplex): { owner: string | null; bytes: number } {
    const { unreadOwner = null, unreadBytes = 0 } = this.#open.get(socket) ?? {}
    return { owner: unreadOwner, bytes: unreadBytes }
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
