/** Time and chance, handed in so that tests can hold them still. */
export interface Runtime {
  /** Milliseconds since 1970. */
  now(): number
  /** From 0 to just under 1. */
  random(): number
  /** Resolves after so long; rejects with the signal's reason as soon as that aborts. */
  wait(ms: number, signal?: AbortSignal): Promise<void>
}

export const systemRuntime: Runtime = { now: Date.now, random: Math.random, wait }

/** No timer runs longer; one that is asked to fires immediately. */
const longestTimerMs = 2 ** 31 - 1

function wait(ms: number, signal?: AbortSignal): Promise<void> {
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
  })
}
