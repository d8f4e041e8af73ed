import { tooBusy } from '../domain/errors.ts'

interface Bounds {
  /** How many works run at a time. */
  permits: number
  /** How many more may wait for their turn; the next one fails immediately. */
  maxWaiting: number
  /** How long each of them waits at most. */
  waitTimeoutMs: number
}

/** Lets a number of works run at a time; the others wait for their turn, first come, first served. */
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

  async run<Result>(work: () => Promise<Result>): Promise<Result> {
    if (this.#running < this.#bounds.permits) this.#running += 1
    else await this.#turn()
    try {
      return await work()
    } finally {
      // Whoever comes next takes over the permit.
      const [next] = this.#waiting
      if (next) next()
      else this.#running -= 1
    }
  }

  #turn(): Promise<void> {
    const { maxWaiting, waitTimeoutMs } = this.#bounds
    if (this.#waiting.size >= maxWaiting) throw tooBusy()
    return new Promise((resolve, reject) => {
      const begin = () => {
        clearTimeout(timeout)
        this.#waiting.delete(begin)
        resolve()
      }
      const timeout = setTimeout(() => {
        this.#waiting.delete(begin)
        reject(tooBusy())
      }, waitTimeoutMs)
      this.#waiting.add(begin)
    })
  }
}
