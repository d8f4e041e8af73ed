const exitListeners = new Set<() => void>()

/** Calls the listener when Node has nothing left to do; elsewhere never. Returns how to stop. */
export function onBeforeExit(listener: () => void): () => void {
  // One listener of the process for all, because Node warns about many.
  if (exitListeners.size === 0) nodeProcess()?.on('beforeExit', callExitListeners)
  exitListeners.add(listener)
  return () => {
    exitListeners.delete(listener)
    if (exitListeners.size === 0) nodeProcess()?.removeListener('beforeExit', callExitListeners)
  }
}

function callExitListeners(): void {
  for (const listener of [...exitListeners]) listener()
}

/**
 * Does work when the process gets one of the signals, which then ends it unless the program itself handles
 * that signal. Returns how to stop.
 */
export function onSignals(signals: readonly string[], work: () => Promise<unknown>): () => void {
  const process = nodeProcess()
  const removals = signals.map((signal) => {
    const listener = async () => {
      await work()
      remove()
      if (process?.listenerCount(signal) === 0) process.kill(process.pid, signal)
    }
    const remove = () => void process?.removeListener(signal, listener)
    process?.on(signal, listener)
    return remove
  })
  return () => {
    for (const remove of removals) remove()
  }
}

interface NodeProcess {
  pid: number
  kill(pid: number, signal: string): void
  on(event: string, listener: () => void): void
  removeListener(event: string, listener: () => void): void
  listenerCount(event: string): number
}

/** The `process` of Node, Deno or Bun; `null` in other runtimes. */
function nodeProcess(): NodeProcess | null {
  const found: unknown = Reflect.get(globalThis, 'process')
  return isNodeProcess(found) ? found : null
}

function isNodeProcess(value: unknown): value is NodeProcess {
  if (typeof value !== 'object' || value === null || !('pid' in value)) return false
  const methods = ['kill', 'on', 'removeListener', 'listenerCount']
  return methods.every((name) => typeof Reflect.get(value, name) === 'function')
}
