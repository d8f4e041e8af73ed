import { ClientError } from './errors.ts'
import type { Runtime } from './runtime.ts'

/** When to stop repeating a request. */
export interface RetryPolicy {
  /** The maximum number of attempts, including the first. */
  maxAttempts: number
  /** The maximum total time of all attempts and pauses. */
  maxTotalMs: number
  /** The maximum first pause, which doubles after each attempt. */
  firstPauseMs: number
  /** The maximum pause, unless the service asks for a longer one. */
  maxPauseMs: number
}

export const defaultRetryPolicy: RetryPolicy = {
  maxAttempts: 5,
  maxTotalMs: 120_000,
  firstPauseMs: 250,
  maxPauseMs: 10_000,
}

/** What an attempt knows about the previous ones. */
export interface AttemptState {
  /** The remaining total time. */
  leftMs: number
  /** Whether a previous attempt without a response may have been carried out. */
  mayBeDone: boolean
}

/** Repeats attempts until one succeeds, fails permanently, or the policy ends. */
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
      // Full jitter, so that clients that failed together do not retry together.
      const longestMs = Math.min(policy.maxPauseMs, policy.firstPauseMs * 2 ** (count - 1))
      const pauseMs = (error.retryAfterMs ?? 0) + random() * longestMs
      if (now() + pauseMs >= endsAt) throw error
      mayBeDone ||= error.isOutcomeUnknown
      await wait(pauseMs, signal)
    }
  }
}
