import { ConnectionTimeoutError, createClient } from '@redis/client'
import { batcher } from '../domain/maybe-promise.ts'
import { NoAnswer } from './deadline.ts'
import type { RedisAddress } from './limiter-address.ts'
import { type SharedWindow, type TakeOrder, takeScript } from './take-script.ts'

/** Shorter than `connectTimeoutMs`, because a client that is opening its socket cannot be closed. */
const socketTimeoutMs = 500
const connectTimeoutMs = 1_000

/** Larger batches would block Redis for others. */
const maxBatch = 256

/** A connection to Redis, used until its first error. */
export class RedisConnection {
  readonly #client: ReturnType<typeof clientFor>
  /** Rejects if Redis refuses the command or the connection is lost; Redis may have counted it anyway. */
  readonly take = batcher<TakeOrder, SharedWindow>(maxBatch, (orders) => this.#client.take(orders))

  private constructor(client: ReturnType<typeof clientFor>) {
    this.#client = client
  }

  /** Rejects if Redis does not accept the connection within a second. */
  static async open(address: RedisAddress): Promise<RedisConnection> {
    const client = clientFor(address)
    // Without a listener, an error would end the process.
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

  /** Immediately; pending commands reject. */
  close(): void {
    this.#client.destroy()
  }
}

/** Does not queue commands or reconnect by itself, and uses a protocol that every Redis since 6 supports. */
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
    // Callers have wait budgets, and a timer for each command would cost more than the command.
    commandOptions: { timeout: 0 },
    scripts: { take: takeScript },
  })
}
