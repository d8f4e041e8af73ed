import { type Budget, exhaustedForMs } from './budget.ts'
import { ClientError } from './errors.ts'
import type { Runtime } from './runtime.ts'

const firstPauseMs = 1_000
const maxPauseMs = 30_000
/** After a failure that lasts until somebody acts. */
const lastingPauseMs = 60_000

/** When a sender may and must send its next batch. */
export class SendSchedule {
  readonly #runtime: Runtime
  readonly #flushMs: number
  /** When lines have waited long enough for others. */
  #dueAt = 0
  #retryAt = 0
  /** Before then, the service accepts no request. */
  #notBefore = 0
  #failures = 0

  constructor(runtime: Runtime, flushMs: number) {
    this.#runtime = runtime
    this.#flushMs = flushMs
  }

  /** Lines begin to wait for others. */
  begin(): void {
    this.#dueAt = this.#runtime.now() + this.#flushMs
  }

  /** Allows an attempt that waits for nothing but the service's budgets. */
  retryNow(): void {
    this.#retryAt = 0
  }

  succeeded(budgets: readonly Budget[]): void {
    this.#failures = 0
    this.#retryAt = 0
    this.#notBefore = this.#runtime.now() + exhaustedForMs(budgets)
  }

  /** `isRejected` if the batch itself was rejected: its parts may be accepted soon. */
  failed(error: unknown, isRejected: boolean): void {
    const { now, random } = this.#runtime
    const isTemporary = isRejected || (error instanceof ClientError && error.isWorthRepeating)
    const doubledMs = Math.min(maxPauseMs, firstPauseMs * 2 ** this.#failures)
    this.#failures += 1
    this.#notBefore = now() + (error instanceof ClientError ? (error.retryAfterMs ?? 0) : 0)
    // Random, so that programs that failed together do not try again together.
    this.#retryAt = this.#notBefore + (isTemporary ? doubledMs : lastingPauseMs) * (0.5 + random() / 2)
  }

  /** The time until the next attempt; 0 or less for now. `isDue` if the lines need not wait for others. */
  pauseMs(isDue: boolean): number {
    return Math.max(isDue ? 0 : this.#dueAt, this.#retryAt, this.#notBefore) - this.#runtime.now()
  }
}
