import { setTimeout as sleep } from 'node:timers/promises'

/** Tells by how much timers of five milliseconds have come late. */
export function watchTimers() {
  let isOn = true
  async function watch(): Promise<number> {
    let lateMs = 0
    while (isOn) {
      const startedAt = performance.now()
      await sleep(5)
      lateMs += performance.now() - startedAt - 5
    }
    return lateMs
  }
  const watched = watch()
  return {
    stop(): Promise<number> {
      isOn = false
      return watched
    },
  }
}
