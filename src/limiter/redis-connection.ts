import { ConnectionTimeoutError, createClient } from '@redis/client'
import { batcher } from '../domain/maybe-promise.ts'
import { NoAnswer } from './deadline.ts'
import type { RedisAddress } from './limiter-address.ts'
import { type SharedWindow, type TakeOrder, takeScript } from './take-script.ts'

/** Less than a connection may take in all: a client that is still opening its socket cannot be closed. */
const socketTimeoutMs = 500
const connectTimeoutMs = 1_000

/** More would keep Redis from others for longer than a moment. */
const maxBatch = 256

/** A connection to Redis until something goes wrong with it. There is no second chance: whoever wants one opens another. */
export class RedisConnection {
  readonly #client: ReturnType<typeof clientFor>
  /** Rejects when Redis refuses the command, or the connection is lost. Redis may have counted all the same. */
  readonly take = batcher<TakeOrder, SharedWindow>(maxBatch, (orders) => this.#client.take(orders))

  private constructor(client: ReturnType<typeof clientFor>) {
    this.#client = client
  }

  /** Resolves when Redis has let us in; rejects when it does not within a second. */
  static async open(address: RedisAddress): Promise<RedisConnection> {
    const client = clientFor(address)
    // Without a listener an error would end the process.
    client.on('error', () => {})
    let isLate = false
    const timer = setTimeout(() => {
      isLate = true
      client.destroy()
    }, connectTimeoutMs)
    try {
      await client.connect()
      if (isLate) throw new NoAnswer()
      return new RedisConnection(client)
    } catch (error) {
      client.destroy()
      throw isLate || error instanceof ConnectionTimeoutError ? new NoAnswer() : error
    } finally {
      clearTimeout(timer)
    }
  }

  onBroken(listener: (error: unknown) => void): void {
    this.#client.on('error', listener)
  }

  /** Immediately; what waits for an answer rejects. */
  close(): void {
    this.#client.destroy()
  }
}

/** A client that neither keeps commands for later nor connects again by itself, and speaks what every Redis since 6 understands. */
function clientFor({ host, port, isEncrypted, username, password, database }: RedisAddress) {
  const socket = { host, port, connectTimeout: socketTimeoutMs, reconnectStrategy: false as const }
  return createClient({
    RESP: 2,
    socket: isEncrypted ? { ...socket, tls: true } : socket,
    ...(username !== undefined && { username }),
    ...(password !== undefined && { password }),
    database,
    disableOfflineQueue: true,
    disableClientInfo: true,
    maintNotifications: 'disabled',
    // Whoever asks has a wait budget of its own, and one timer for each command would cost more than the command.
    commandOptions: { timeout: 0 },
    scripts: { take: takeScript },
  })
}
