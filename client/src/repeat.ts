import { ClientError } from './errors.ts'
import type { Runtime } from './runtime.ts'

/** When to stop trying. */
export interface RetryPolicy {
  /** How often a request is sent at most, the first time included. */
  maxAttempts: number
  /** How long all attempts and the pauses between them may take together. */
  maxTotalMs: number
  /** The longest first pause; it doubles from one to the next. */
  firstPauseMs: number
  /** The longest pause that nobody asked for. */
  maxPauseMs: number
}

export const defaultRetryPolicy: RetryPolicy = {
  maxAttempts: 5,
  maxTotalMs: 120_000,
  firstPauseMs: 250,
  maxPauseMs: 10_000,
}

/** What one attempt should know of those before it. */
export interface AttemptState {
  /** How long all of it may still take. */
  leftMs: number
  /** Whether one before it may have been carried out, though no answer said so. */
  mayBeDone: boolean
}

/** Attempts something until it succeeds, fails in a way that no repetition mends, or the policy says that it is enough. */
export async function repeat<Result>(
  { now, random, wait }: Runtime,
  policy: RetryPolicy,
  signal: AbortSignal | undefined,
  attempt: (state: AttemptState) => Promise<Result>,
): Promise<Result> {
  const endsAt = now() + policy.maxTotalMs
  let mayBeDone = false
  for (let count = 1; ; count++) {
    try {
      return await attempt({ leftMs: endsAt - now(), mayBeDone })
    } catch (error) {
      if (!(error instanceof ClientError) || !error.isWorthRepeating || count >= policy.maxAttempts)
        throw error
      // Full jitter: clients that failed together do not come back together.
      const longestMs = Math.min(policy.maxPauseMs, policy.firstPauseMs * 2 ** (count - 1))
      const pauseMs = (error.retryAfterMs ?? 0) + random() * longestMs
      if (now() + pauseMs >= endsAt) throw error
      mayBeDone ||= error.isOutcomeUnknown
      await wait(pauseMs, signal)
    }
  }
}
