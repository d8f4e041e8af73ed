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
const longestPauseMs = 500
const heartbeatMs = 1_000

/** A Redis is good when it answers so fast that the three steps of a request fit into its wait budget: at one of a few probes. */
const goodMs = requestWaitMs / 3
const probes = 5
const probeWaitMs = 1_000

/** Told when a limiter that processes share is lost, and when it is back. */
export interface LimiterReports {
  /** `reason` is a short word for people; nothing of a request or a secret is in it. */
  onLost(reason: string): void
  onFound(): void
}

/**
 * Counts in a Redis that processes share. The first thing that goes wrong, an answer that does not come included, closes the
 * connection; from then on this process counts for itself, and looks for Redis in the background until it is good again.
 */
export class RedisLimiter implements Limiter {
  readonly #address: RedisAddress
  readonly #clock: Clock
  /** What this process has granted, with Redis and without it. */
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

  /** Resolves when Redis has been found, or has not been at the first attempt. */
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
    if (!connection || waitBudget.waitMs <= 0) return this.#takeAlone(budget, bucketKey)
    const refusal = this.#ownCount.refusal(budget, bucketKey)
    if (refusal) return refusal
    const { name, limit, windowMs } = budget
    const askedAt = this.#clock()
    return this.#deadline
      .wait(connection.take({ key: `${prefix}${name}:${bucketKey}`, limit, windowMs }), waitBudget)
      .then(
        (shared) => {
          // The count may have come from a process that grants more.
          const remaining = Math.max(0, limit - shared.count)
          const { granted, resetsAt, countedAt } = shared
          const state = { granted, limit, remaining, resetsAt, countedAt, isStandIn: false }
          return granted
            ? tighter(state, this.#ownCount.countShared(budget, bucketKey, shared, askedAt))
            : state
        },
        (error) => {
          this.#lose(connection, error)
          return this.#takeAlone(budget, bucketKey)
        },
      )
  }

  peek(
    budget: Budget,
    bucketKey: string,
    waitBudget: WaitBudget = { waitMs: requestWaitMs },
  ): MaybePromise<BudgetState> {
    const connection = this.#connection
    const peekAlone = () => ({ ...this.#ownCount.peek(budget, bucketKey), isStandIn: true })
    if (!connection || waitBudget.waitMs <= 0) return peekAlone()
    const { name, limit, windowMs } = budget
    // A budget of nothing takes nothing, and tells how much was taken.
    return this.#deadline
      .wait(connection.take({ key: `${prefix}${name}:${bucketKey}`, limit: 0, windowMs }), waitBudget)
      .then(
        ({ count, resetsAt, countedAt }) => {
          const remaining = Math.max(0, limit - count)
          const state = { granted: remaining > 0, limit, remaining, resetsAt, countedAt, isStandIn: false }
          return tighter(state, this.#ownCount.peek(budget, bucketKey))
        },
        (error) => {
          this.#lose(connection, error)
          return peekAlone()
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

  #takeAlone(budget: Budget, bucketKey: string): BudgetState {
    return { ...this.#ownCount.take(budget, bucketKey), isStandIn: true }
  }

  async #find(): Promise<void> {
    try {
      this.#use(await this.#connect())
    } catch (error) {
      this.#tellLost(error)
      this.#after(Math.min(firstPauseMs * 2 ** this.#failures++, longestPauseMs), () => this.#find())
    }
  }

  async #connect(): Promise<RedisConnection> {
    const connection = await RedisConnection.open(this.#address)
    try {
      for (let left = probes; left > 0; left--)
        if ((await this.#probe(connection)) <= goodMs) return connection
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

  /** Without requests nobody would notice that Redis hangs, nor a firewall that its connection is in use. */
  async #beat(connection: RedisConnection): Promise<void> {
    try {
      await this.#probe(connection)
      this.#failures = 0
      if (connection === this.#connection) this.#after(heartbeatMs, () => this.#beat(connection))
    } catch (error) {
      this.#lose(connection, error)
    }
  }

  /**
   * A take like any other, so that it meets whatever others would: no right to write, no memory left, a replica. Resolves with how
   * long nothing was heard.
   */
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
    this.#tellLost(error)
    this.#after(0, () => this.#find())
  }

  #tellLost(error: unknown): void {
    if (this.#isLost || this.#isClosed) return
    this.#isLost = true
    this.#reports.onLost(reasonOf(error))
  }

  #after(ms: number, work: () => Promise<void>): void {
    if (this.#timer) clearTimeout(this.#timer)
    if (!this.#isClosed) this.#timer = setTimeout(work, ms)
  }
}

/** Of what Redis and this process have counted, what leaves the client less; their clocks may differ, the time until the reset does not. */
function tighter(shared: BudgetState, own: BudgetState): BudgetState {
  if (!own.granted || own.remaining < shared.remaining) return own
  const waitMs = ({ resetsAt, countedAt }: BudgetState) => resetsAt - countedAt
  return own.remaining === shared.remaining && waitMs(own) > waitMs(shared) ? own : shared
}

/** What may be told of an error. Never its message: Redis repeats what it did not understand, were it a password. */
function reasonOf(error: unknown): string {
  if (error instanceof NoAnswer) return 'no answer'
  if (error instanceof ErrorReply) return /^[A-Z]+\b/.exec(error.message)?.[0] ?? 'an error'
  const code = error instanceof Error && 'code' in error ? error.code : null
  return typeof code === 'string' ? code : 'connection closed'
}
