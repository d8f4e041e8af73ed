import { readFileSync } from 'node:fs'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { readSendQueues } from './streamed-body.ts'

interface Exchange {
  request: IncomingMessage
  response: ServerResponse
}

/** An exchange with the caller's organisation and the number of unread response bytes. */
interface AnsweredExchange extends Exchange {
  readonly owner: string | null
  unreadBytes: number
}

interface Connection {
  socket: Socket
  latest: Exchange | null
  /** The number of its requests without a response. */
  waiting: number
  /** The number of unread response bytes, and the organisation of the latest response. */
  unreadBytes: number
  unreadOwner: string | null
  /** The state of sending when the client last read something, and the time. */
  progress: { seen: string; at: number } | null
}

/** How many requests may be pipelined on a connection before it is paused. Few clients pipeline at all. */
const maxWaiting = 32
/** The maximum number of unread response bytes of all connections together. */
export const maxUnreadBytes = 64 * 1024 * 1024
/** How long a client may read nothing of a response, or send nothing if no response is due. */
const idleMs = 30_000
/** How often clients are checked for progress. */
const checkEveryMs = 2_000
/** File handles that are not for clients: the store, its thread, the limiter, the log. */
const reservedHandles = 64
/** How many sockets listen if there are enough file handles. */
const maxListeners = 64

/**
 * The number of connections that the system allows to each of some servers, up to `wished`, and the number of
 * their listening sockets.
 */
export function connectionsWithin(
  wished: number,
  limits = systemLimits(),
  servers = 1,
): { maxConnections: number; listeners: number } {
  const [, all] = /^Max open files\s+(\d+)/m.exec(limits) ?? []
  if (all === undefined) return { maxConnections: wished, listeners: maxListeners }
  const handles = Math.floor(Number(all) / servers)
  const listeners = Math.min(maxListeners, Math.ceil(handles / 32))
  return {
    maxConnections: Math.min(wished, Math.max(1, handles - reservedHandles - listeners)),
    listeners,
  }
}

/** The limits of this process on Linux; unknown on other systems. */
export function systemLimits(): string {
  try {
    return readFileSync('/proc/self/limits', 'utf8')
  } catch {
    return ''
  }
}

/**
 * Tracks every open connection and its latest request, and limits their cost: the number of connections, of
 * requests waiting on each, and of unread response bytes, and the time that they may stay unread.
 */
export class Connections {
  /** In the order of their latest requests, oldest first. */
  readonly #open = new Map<Duplex, Connection>()
  /** Connections with unread responses. The one that has read nothing for the longest time comes first. */
  readonly #unread = new Set<Duplex>()
  #unreadBytes = 0

  constructor(server: Server, max: number) {
    server.on('connection', (socket) => {
      const unread = { unreadBytes: 0, unreadOwner: null, progress: null }
      this.#open.set(socket, { socket, latest: null, waiting: 0, ...unread })
      socket.once('close', () => this.#forget(socket))
      if (this.#open.size > max) this.#makeRoom()
    })
    server.setTimeout(idleMs, (socket) => {
      // `closeStalled` handles clients that do not read their responses.
      if (!isProcessing(this.latest(socket)) && socket.writableLength === 0) socket.destroy()
    })
    const checking = setInterval(() => this.closeStalled(performance.now()), checkEveryMs).unref()
    server.once('close', () => clearInterval(checking))
  }

  get unreadBytes(): number {
    return this.#unreadBytes
  }

  /** Closes connections whose clients have read nothing of a waiting response for 30 seconds. */
  async closeStalled(now: number): Promise<void> {
    const waiting = [...this.#open.values()].filter(({ socket }) => socket.writableLength > 0)
    if (waiting.length === 0) return
    const queueOf = await readSendQueues()
    for (const connection of waiting) {
      const { socket, progress } = connection
      const seen = `${socket.bytesWritten - socket.writableLength} ${queueOf(socket)}`
      if (progress?.seen !== seen) connection.progress = { seen, at: now }
      else if (now - progress.at >= idleMs) socket.destroy()
    }
  }

  /**
   * Registers a request; `false` if its connection has ended. Pauses connections with many waiting requests.
   */
  begin(exchange: Exchange): boolean {
    const { socket } = exchange.request
    const connection = this.#open.get(socket)
    if (!connection || socket.destroyed) return false
    connection.waiting += 1
    if (connection.waiting === maxWaiting) {
      // After everything that was read has been parsed, because Node resumes the socket with each request.
      process.nextTick(() => {
        if (connection.waiting >= maxWaiting) socket.pause()
      })
    }
    connection.latest = exchange
    this.#open.delete(socket)
    this.#open.set(socket, connection)
    return true
  }

  /**
   * Changes the number of unread bytes. Above the limit, it closes connections of the organisation with the
   * most unread bytes, the slowest client first, so that slow clients do not harm others.
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
    while (this.#unreadBytes > maxUnreadBytes) this.#closeSlowest()
  }

  #closeSlowest(): void {
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

  /** Registers the end of a request. */
  end({ request: { socket }, unreadBytes }: AnsweredExchange): void {
    const connection = this.#open.get(socket)
    if (!connection) return
    connection.waiting -= 1
    if (connection.waiting === maxWaiting - 1) socket.resume()
    if (connection.unreadBytes === 0) return
    connection.unreadBytes -= unreadBytes
    this.#unreadBytes -= unreadBytes
    this.#unread.delete(socket)
    if (connection.unreadBytes > 0) this.#unread.add(socket)
  }

  latest(socket: Duplex): Exchange | null {
    return this.#open.get(socket)?.latest ?? null
  }

  /** Closes the connections on which no response is due: idle ones, and those with an incomplete request. */
  closeIdle(): void {
    for (const [socket, { latest }] of this.#open) {
      if (!latest || latest.response.writableFinished) socket.destroy()
    }
  }

  /** Closes the connection that has been idle longest, or the newest if all wait for responses. */
  #makeRoom(): void {
    for (const [socket, { latest }] of this.#open) {
      if (isProcessing(latest)) continue
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

/** Whether a complete request is being processed. Incomplete requests and unread responses do not count. */
function isProcessing(exchange: Exchange | null): boolean {
  return exchange?.request.complete === true && !exchange.response.writableEnded
}
