/** Time and randomness, injected so that tests can control them. */
export interface Runtime {
  /** Milliseconds since 1970. */
  now(): number
  /** From 0 (inclusive) to 1 (exclusive). */
  random(): number
  /**
   * Resolves after this time; rejects with the signal's reason when it aborts. A background wait does not
   * keep the process running.
   */
  wait(ms: number, signal?: AbortSignal, options?: { isBackground?: boolean }): Promise<void>
  /** For the IDs of tracked events; `crypto.randomUUID` if omitted. */
  randomUUID?(): string
}

export const systemRuntime: Runtime = { now: Date.now, random: Math.random, wait }

/** A longer timer would fire immediately. */
export const longestTimerMs = 2 ** 31 - 1

function wait(ms: number, signal?: AbortSignal, { isBackground = false } = {}): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason)
    const timer = setTimeout(
      () => {
        signal?.removeEventListener('abort', onAbort)
        resolve()
      },
      Math.min(ms, longestTimerMs),
    )
    function onAbort(): void {
      clearTimeout(timer)
      reject(signal?.reason)
    }
    signal?.addEventListener('abort', onAbort, { once: true })
    if (isBackground) unref(timer)
  })
}

/** Timers are objects on Node, and numbers in browsers, where nothing keeps a page open. */
function unref(timer: unknown): void {
  if (typeof timer === 'object' && timer !== null && 'unref' in timer && typeof timer.unref === 'function')
    timer.unref()
}
