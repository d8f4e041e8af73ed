import { tooBusy } from './errors.ts'

interface Bounds {
  /** How many jobs run at a time. */
  permits: number
  /** How many more may wait; the next one fails immediately. */
  maxWaiting: number
  /** How long each of them waits at most. */
  waitTimeoutMs: number
}

/** Limits how many jobs run at a time. The others wait, first come, first served. */
export class Semaphore {
  readonly #bounds: Bounds
  readonly #waiting = new Set<() => void>()
  #running = 0

  constructor(bounds: Bounds) {
    this.#bounds = bounds
  }

  get waiting(): number {
    return this.#waiting.size
  }

  get isIdle(): boolean {
    return this.#running === 0
  }

  /** Rejects with the signal's reason if it is aborted while the job waits. A running job is not interrupted. */
  async run<Result>(job: () => Promise<Result>, signal?: AbortSignal): Promise<Result> {
    signal?.throwIfAborted()
    if (this.#running < this.#bounds.permits) this.#running += 1
    else await this.#turn(signal)
    try {
      return await job()
    } finally {
      this.#passOn()
    }
  }

  /** Lets every job that is waiting go first. Only for a job that is running. */
  async giveWay(): Promise<void> {
    if (this.#waiting.size === 0) return
    const { promise, resolve } = Promise.withResolvers<void>()
    const resume = () => {
      this.#waiting.delete(resume)
      resolve()
    }
    this.#waiting.add(resume)
    this.#passOn()
    await promise
  }

  /** The next job takes over the permit. */
  #passOn(): void {
    const [next] = this.#waiting
    if (next) next()
    else this.#running -= 1
  }

  #turn(signal: AbortSignal | undefined): Promise<void> {
    const { maxWaiting, waitTimeoutMs } = this.#bounds
    if (this.#waiting.size >= maxWaiting) throw tooBusy()
    return new Promise((resolve, reject) => {
      const leave = () => {
        clearTimeout(timeout)
        signal?.removeEventListener('abort', abort)
        this.#waiting.delete(begin)
      }
      const begin = () => {
        leave()
        resolve()
      }
      const abort = () => {
        leave()
        reject(signal?.reason)
      }
      const timeout = setTimeout(() => {
        leave()
        reject(tooBusy())
      }, waitTimeoutMs)
      signal?.addEventListener('abort', abort)
      this.#waiting.add(begin)
    })
  }
}

interface QueueBounds {
  /** How many jobs run at a time, each for a different organisation. */
  permits: number
  /** How many jobs of one organisation may wait; the next one fails immediately. */
  maxWaitingEach: number
  /** How long a job waits at most before it starts. */
  waitTimeoutMs: number
}

/** Pauses a job while jobs of other organisations wait. To be called often, with nothing held that others need. */
export type GiveWay = () => Promise<void>

/** Runs long jobs: one at a time for each organisation, and round-robin across organisations. */
export class FairQueue {
  readonly #bounds: QueueBounds
  /** No organisation has more than one job here, so that the order of arrival is round-robin. */
  readonly #permits: Semaphore
  readonly #organisations = new Map<string, Semaphore>()

  constructor(bounds: QueueBounds) {
    this.#bounds = bounds
    const { permits, waitTimeoutMs } = bounds
    this.#permits = new Semaphore({ permits, maxWaiting: Number.POSITIVE_INFINITY, waitTimeoutMs })
  }

  /** Rejects with the signal's reason if it is aborted before the job starts. A job that has started watches it itself. */
  async run<Result>(
    organisationId: string,
    job: (giveWay: GiveWay) => Promise<Result>,
    signal?: AbortSignal,
  ): Promise<Result> {
    const own = this.#ownOf(organisationId)
    try {
      return await own.run(() => this.#permits.run(() => job(() => this.#permits.giveWay()), signal), signal)
    } finally {
      if (own.isIdle) this.#organisations.delete(organisationId)
    }
  }

  #ownOf(organisationId: string): Semaphore {
    const known = this.#organisations.get(organisationId)
    if (known) return known
    const { maxWaitingEach: maxWaiting, waitTimeoutMs } = this.#bounds
    const own = new Semaphore({ permits: 1, maxWaiting, waitTimeoutMs })
    this.#organisations.set(organisationId, own)
    return own
  }
}
