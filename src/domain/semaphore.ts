import { tooBusy } from './errors.ts'

interface Bounds {
  permits: number
  /** Further jobs fail immediately. */
  maxWaiting: number
  waitTimeoutMs: number
}

/** Limits the number of concurrent jobs. Others wait in order of arrival. */
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

  /** Rejects with the signal's reason if aborted while the job waits. A running job is not interrupted. */
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

  /** Lets all waiting jobs run first. Call it only from a running job. */
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

  /** Hands the permit to the next job. */
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
  /** Concurrent jobs of all organisations, and of each one. */
  permits: number
  permitsEach?: number
  /** Further jobs of the organisation fail immediately. */
  maxWaitingEach: number
  waitTimeoutMs: number
}

/** Pauses a job while jobs of other organisations wait. Call it often, without holding locks. */
export type GiveWay = () => Promise<void>

/** Runs long jobs: one at a time per organisation unless told otherwise, round-robin across organisations. */
export class FairQueue {
  readonly #bounds: QueueBounds
  /** Has few jobs of each organisation, one by default, so that order of arrival is round-robin. */
  readonly #permits: Semaphore
  readonly #organisations = new Map<string, Semaphore>()

  constructor(bounds: QueueBounds) {
    this.#bounds = bounds
    const { permits, waitTimeoutMs } = bounds
    this.#permits = new Semaphore({ permits, maxWaiting: Number.POSITIVE_INFINITY, waitTimeoutMs })
  }

  /**
   * Rejects with the signal's reason if aborted before the job starts. A running job must watch the signal.
   */
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
    const { permitsEach: permits = 1, maxWaitingEach: maxWaiting, waitTimeoutMs } = this.#bounds
    const own = new Semaphore({ permits, maxWaiting, waitTimeoutMs })
    this.#organisations.set(organisationId, own)
    return own
  }
}

const sliceMs = 1
const paused: (() => void)[] = []

/** Resumes one job per turn of the event loop, so that others wait for one slice only. */
function resumeNext(): void {
  paused.shift()?.()
  if (paused.length > 0) setImmediate(resumeNext)
}

/** Pauses long work before it begins, and whenever it has run for a few milliseconds. */
export function timeSlices(): () => Promise<void> | null {
  let end = 0
  return () => {
    if (performance.now() < end) return null
    return new Promise((resolve) => {
      paused.push(() => {
        end = performance.now() + sliceMs
        resolve()
      })
      if (paused.length === 1) setImmediate(resumeNext)
    })
  }
}
