import { Semaphore } from './semaphore.ts'

interface Bounds {
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
  readonly #bounds: Bounds
  /** No organisation has more than one job here, so that the order of arrival is round-robin. */
  readonly #permits: Semaphore
  readonly #organisations = new Map<string, Semaphore>()

  constructor(bounds: Bounds) {
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
