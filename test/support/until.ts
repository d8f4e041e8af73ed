import assert from 'node:assert/strict'
import { setImmediate, setTimeout, setTimeout as sleep } from 'node:timers/promises'

/** The number of event-loop turns to poll without a pause: work in this process needs few. */
const turnsWithoutPause = 50

/** Polls until the condition holds. Fails after `timeoutMs`. */
export async function until(isMet: () => boolean | Promise<boolean>, timeoutMs = 120_000): Promise<void> {
  const deadline = performance.now() + timeoutMs
  for (let attempt = 1; !(await isMet()); attempt++) {
    assert.ok(performance.now() < deadline, 'what was waited for never came')
    // Another process does not finish sooner if it is polled without a pause.
    await (attempt < turnsWithoutPause ? setImmediate() : setTimeout(5))
  }
}

/** Measures by how much timers of five milliseconds are late, in total. */
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
