import { LetheError } from '../../domain/errors.ts'
import { hashPassword, isPassword, type Passwords } from '../../domain/password.ts'
import type { Randomness } from '../../domain/randomness.ts'

/** Lets a few hashes be made concurrently and some wait; beyond that, whoever comes is sent away until those have had their turn. */
export function passwordQueue(
  randomness: Randomness,
  { atOnce = 2, waiting = 64, now = () => performance.now() } = {},
): Passwords {
  const queue: (() => void)[] = []
  let running = 0
  /** How long the last hash took. */
  let lastMs = 0

  async function inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    if (running >= atOnce) {
      if (queue.length >= waiting) {
        const retryAfterSeconds = Math.max(1, Math.ceil((queue.length / atOnce) * (lastMs / 1_000)))
        throw new LetheError('rate_limited', 'Too many people are signing in at the moment.', [], {
          retryAfterSeconds,
        })
      }
      const { promise, resolve } = Promise.withResolvers<void>()
      queue.push(resolve)
      await promise
    } else {
      running += 1
    }
    const startedAt = now()
    try {
      return await work()
    } finally {
      lastMs = now() - startedAt
      // Whoever is next takes this one's place; only without anybody is it given up.
      const next = queue.shift()
      if (next) next()
      else running -= 1
    }
  }

  return {
    hash: (password) => inTurn(() => hashPassword(password, randomness)),
    matches: (password, hash) => inTurn(() => isPassword(password, hash)),
  }
}
