import type { Asker } from '../domain/budget.ts'
import { NoAnswer } from './no-answer.ts'

const tickMs = 5

interface Waiting {
  asker: Asker
  giveUp(): void
}

/**
 * Waits for answers, but not for longer than whoever asks has patience. Only silence tries it: time in which nobody was answered. So
 * a burst that keeps Redis busy for a while is still counted exactly, and one that keeps this process busy is not blamed on Redis.
 */
export class Patience {
  readonly #waiting = new Set<Waiting>()
  #wasAnswered = false
  #timer: NodeJS.Timeout | null = null

  /** Like `answer`, or rejects with `NoAnswer`. */
  wait<Answer>(answer: Promise<Answer>, asker: Asker): Promise<Answer> {
    const { promise, resolve, reject } = Promise.withResolvers<Answer>()
    const waiting = { asker, giveUp: () => reject(new NoAnswer()) }
    this.#waiting.add(waiting)
    this.#timer ??= setTimeout(this.#tick, tickMs)
    answer.then(
      (value) => {
        this.#wasAnswered = true
        this.#waiting.delete(waiting)
        resolve(value)
      },
      (error) => {
        this.#waiting.delete(waiting)
        reject(error)
      },
    )
    return promise
  }

  /** After a busy moment, answers that are here already are read first: between a timer and `setImmediate`. */
  readonly #tick = (): void => {
    setImmediate(() => {
      if (!this.#wasAnswered) for (const waiting of this.#waiting) this.#try(waiting)
      this.#wasAnswered = false
      this.#timer = this.#waiting.size > 0 ? setTimeout(this.#tick, tickMs) : null
    })
  }

  #try(waiting: Waiting): void {
    waiting.asker.patienceMs -= tickMs
    if (waiting.asker.patienceMs > 0) return
    this.#waiting.delete(waiting)
    waiting.giveUp()
  }
}
