const signals = ['SIGINT', 'SIGTERM'] as const

/** One signal comes more than once where it was sent to a whole group, and npm or our launcher passes it on as well. */
export const echoMs = 100

export interface StopHandlers {
  onFirst(signal: NodeJS.Signals): void
  onSecond?(signal: NodeJS.Signals): void
}

/** Calls `onFirst` for the first signal, so that work can be brought to an end. A second one ends the process immediately. */
export function onStopSignal({ onFirst, onSecond }: StopHandlers): { release(): void } {
  let firstAt: number | null = null
  function onSignal(signal: NodeJS.Signals): void {
    if (firstAt === null) {
      firstAt = performance.now()
      onFirst(signal)
    } else if (performance.now() - firstAt > echoMs) {
      onSecond?.(signal)
      // Not exit(), which would wait for a write under way. The store bears it: that is what transactions are for.
      process.kill(process.pid, 'SIGKILL')
    }
  }
  for (const signal of signals) process.on(signal, onSignal)
  return {
    release() {
      for (const signal of signals) process.removeListener(signal, onSignal)
    },
  }
}
