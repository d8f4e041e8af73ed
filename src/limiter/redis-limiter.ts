import { ErrorReply } from '@redis/client'
import {
  type Budget,
  type BudgetState,
  type Limiter,
  requestWaitMs,
  type WaitBudget,
} from '../domain/budget.ts'
import type { Clock } from '../domain/instant.ts'
import type { MaybePromise } from '../domain/maybe-promise.ts'
import { Deadline, NoAnswer } from './deadline.ts'
import type { RedisAddress } from './limiter-address.ts'
import { MemoryLimiter } from './memory-limiter.ts'
import { RedisConnection } from './redis-connection.ts'

const prefix = 'lethe:'
const firstPauseMs = 50
const maxPauseMs = 500
const heartbeatMs = 1_000

/** Redis is usable if the three steps of a request fit into its wait budget, in one of a few probes. */
const maxProbeMs = requestWaitMs / 3
const probes = 5
const probeWaitMs = 1_000

/** Called when the shared limiter is lost and when it is back. */
export interface LimiterReports {
  /** `reason` is a short word without request data or secrets. */
  onLost(reason: string): void
  onFound(): void
}

/**
 * Counts in a Redis that processes share. On any error or timeout, it closes the connection; this process
 * then counts for itself and reconnects in the background.
 */
export class RedisLimiter implements Limiter {
  readonly #address: RedisAddress
  readonly #clock: Clock
  /** What this process has granted, with and without Redis. */
  readonly #ownCount: MemoryLimiter
  readonly #reports: LimiterReports
  readonly #deadline = new Deadline()
  #connection: RedisConnection | null = null
  #timer: NodeJS.Timeout | null = null
  #failures = 0
  #isLost = false
  #isClosed = false

  private constructor(address: RedisAddress, clock: Clock, reports: LimiterReports) {
    this.#address = address
    this.#clock = clock
    this.#ownCount = new MemoryLimiter(clock)
    this.#reports = reports
  }

  /** Resolves after the first attempt to connect, successful or not. */
  static async open(address: RedisAddress, clock: Clock, reports: LimiterReports): Promise<RedisLimiter> {
    const limiter = new RedisLimiter(address, clock, reports)
    await limiter.#find()
    return limiter
  }

  take(
    budget: Budget,
    bucketKey: string,
    waitBudget: WaitBudget = { waitMs: requestWaitMs },
  ): MaybePromise<BudgetState> {
    const connection = this.#connection
    if (!connection || waitBudget.waitMs <= 0) return this.#takeLocally(budget, bucketKey)
    const refusal = this.#ownCount.refusal(budget, bucketKey)
    if (refusal) return refusal
    const { name, limit, windowMs } = budget
    const askedAt = this.#clock()
    return this.#deadline
      .wait(connection.take({ key: `${prefix}${name}:${bucketKey}`, limit, windowMs }), waitBudget)
      .then(
        (shared) => {
          // The count may come from a process with a larger budget.
          const remaining = Math.max(0, limit - shared.count)
          const { granted, resetsAt, countedAt } = shared
          const state = { granted, limit, remaining, resetsAt, countedAt, isStandIn: false }
          return granted
            ? tighter(state, this.#ownCount.countShared(budget, bucketKey, shared, askedAt))
            : state
        },
        (error) => {
          this.#lose(connection, error)
          return this.#takeLocally(budget, bucketKey)
        },
      )
  }

  isReachable(): boolean {
    return this.#connection !== null
  }

  async close(): Promise<void> {
    this.#isClosed = true
    if (this.#timer) clearTimeout(this.#timer)
    this.#connection?.close()
    this.#connection = null
  }

  #takeLocally(budget: Budget, bucketKey: string): BudgetState {
    return { ...this.#ownCount.take(budget, bucketKey), isStandIn: true }
  }

  async #find(): Promise<void> {
    try {
      this.#use(await this.#connect())
    } catch (error) {
      this.#reportLost(error)
      this.#after(Math.min(firstPauseMs * 2 ** this.#failures++, maxPauseMs), () => this.#find())
    }
  }

  async #connect(): Promise<RedisConnection> {
    const connection = await RedisConnection.open(this.#address)
    try {
      for (let left = probes; left > 0; left--)
        if ((await this.#probe(connection)) <= maxProbeMs) return connection
      throw new NoAnswer()
    } catch (error) {
      connection.close()
      throw error
    }
  }

  #use(connection: RedisConnection): void {
    if (this.#isClosed) {
      connection.close()
      return
    }
    this.#connection = connection
    connection.onBroken((error) => this.#lose(connection, error))
    this.#after(heartbeatMs, () => this.#beat(connection))
    if (this.#isLost) this.#reports.onFound()
    this.#isLost = false
  }

  /** Detects a Redis that hangs without requests, and keeps the connection alive in firewalls. */
  async #beat(connection: RedisConnection): Promise<void> {
    try {
      await this.#probe(connection)
      this.#failures = 0
      if (connection === this.#connection) this.#after(heartbeatMs, () => this.#beat(connection))
    } catch (error) {
      this.#lose(connection, error)
    }
  }

  /** A real take, so that it fails as others would (permission, memory, replica). Resolves to the wait. */
  async #probe(connection: RedisConnection): Promise<number> {
    const waitBudget = { waitMs: probeWaitMs }
    await this.#deadline.wait(
      connection.take({ key: `${prefix}probe`, limit: 1_000_000_000, windowMs: heartbeatMs }),
      waitBudget,
    )
    return probeWaitMs - waitBudget.waitMs
  }

  #lose(connection: RedisConnection, error: unknown): void {
    if (connection !== this.#connection) return
    this.#connection = null
    connection.close()
    this.#reportLost(error)
    this.#after(0, () => this.#find())
  }

  #reportLost(error: unknown): void {
    if (this.#isLost || this.#isClosed) return
    this.#isLost = true
    this.#reports.onLost(reasonOf(error))
  }

  #after(ms: number, work: () => Promise<void>): void {
    if (this.#timer) clearTimeout(this.#timer)
    if (!this.#isClosed) this.#timer = setTimeout(work, ms)
  }
}

/** The stricter of both states. Their clocks may differ, so the times until the reset are compared. */
function tighter(shared: BudgetState, own: BudgetState): BudgetState {
  if (!own.granted || own.remaining < shared.remaining) return own
  const waitMs = ({ resetsAt, countedAt }: BudgetState) => resetsAt - countedAt
  return own.remaining === shared.remaining && waitMs(own) > waitMs(shared) ? own : shared
}

/** Never the message, because Redis repeats commands that it does not understand, including passwords. */
function reasonOf(error: unknown): string {
  if (error instanceof NoAnswer) return 'no answer'
  if (error instanceof ErrorReply) return /^[A-Z]+\b/.exec(error.message)?.[0] ?? 'an error'
  const code = error instanceof Error && 'code' in error ? error.code : null
  return typeof code === 'string' ? code : 'connection closed'
}
