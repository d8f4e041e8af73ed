import { echoMs } from './until-stopped.ts'

const signals = ['SIGINT', 'SIGTERM'] as const

/** Calls `onFirst` for the first signal, so that work can be brought to an end. A second one ends the process at once. */
export function onStopSignal(onFirst: (signal: NodeJS.Signals) => void): { release(): void } {
  let firstAt: number | null = null
  function onSignal(signal: NodeJS.Signals): void {
    if (firstAt === null) {
      firstAt = performance.now()
      onFirst(signal)
    } else if (performance.now() - firstAt > echoMs) {
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
