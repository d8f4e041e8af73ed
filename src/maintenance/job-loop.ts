import { setTimeout as delay } from 'node:timers/promises'

/** How often to look for new work. */
const idleMs = 1_000
/** The pause after a failure. */
const retryMs = { first: 1_000, max: 30_000 }

export interface JobLoop {
  /** Looks for new work immediately. */
  wake(): void
  stop(): Promise<void>
}

export interface JobTools {
  /** Aborted when the service stops. */
  signal: AbortSignal
  /** Ends early if the service stops. */
  pause(ms: number): Promise<void>
}

/** Calls `work` again and again. It returns `false` if there was nothing to do. */
export function runJobs(
  work: (tools: JobTools) => Promise<boolean>,
  onError: (error: unknown) => void,
): JobLoop {
  const stopping = new AbortController()
  const { signal } = stopping
  let idle = new AbortController()
  const running = run()

  async function run(): Promise<void> {
    let failures = 0
    while (!signal.aborted) {
      // Before looking for work, so that no call of `wake` is lost.
      idle = new AbortController()
      try {
        const hasWorked = await work({ signal, pause })
        failures = 0
        if (!hasWorked) await pause(idleMs, idle.signal)
      } catch (error) {
        onError(error)
        await pause(Math.min(retryMs.first * 2 ** failures++, retryMs.max))
      }
    }
  }

  async function pause(ms: number, other = signal): Promise<void> {
    await delay(ms, undefined, { signal: AbortSignal.any([signal, other]), ref: false }).catch(() => {})
  }

  return {
    wake: () => idle.abort(),
    async stop() {
      stopping.abort()
      await running
    },
  }
}
