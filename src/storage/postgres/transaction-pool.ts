import { Pool, type PoolClient, type PoolConfig } from 'pg'
import { Semaphore } from '../../domain/semaphore.ts'
import { type Begin, type Run, transact } from './transact.ts'

/** How many transactions may wait for a connection of a pool. */
export const maxWaitingWrites = 1_000
/** Longer than a transaction may wait for a lock: those in front that only wait make room in time. */
const waitTimeoutMs = 60_000
const idleTimeoutMs = 60_000

/**
 * Connections for transactions. They come when they are needed. Whoever finds all of them at work waits outside the driver's pool, whose
 * only time-out is that of connecting.
 */
export class TransactionPool {
  readonly #pool: Pool
  readonly #semaphore: Semaphore
  readonly #begin: Begin

  constructor({ begin = 'BEGIN', ...config }: PoolConfig & { max: number; begin?: Begin }) {
    this.#begin = begin
    this.#pool = new Pool({ ...config, idleTimeoutMillis: idleTimeoutMs })
    // A connection that breaks while nobody uses it: the pool replaces it. Without a listener it would end the process.
    this.#pool.on('error', () => {})
    this.#semaphore = new Semaphore({ permits: config.max, maxWaiting: maxWaitingWrites, waitTimeoutMs })
  }

  /** Runs `work` in a transaction, rolled back when it throws. */
  run<Result>(work: (client: PoolClient, run: Run) => Promise<Result>): Promise<Result> {
    return this.#semaphore.run(() => transact(this.#pool, work, this.#begin))
  }

  use(): { open: number; busy: number; waiting: number } {
    const { totalCount: open, idleCount } = this.#pool
    return { open, busy: open - idleCount, waiting: this.#semaphore.waiting }
  }

  close(): Promise<void> {
    return this.#pool.end()
  }
}
