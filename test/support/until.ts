import assert from 'node:assert/strict'
import { setImmediate, setTimeout, setTimeout as sleep } from 'node:timers/promises'

/** So many turns of the event loop are waited for before time is: what happens in this process takes few. */
const turns = 50

/** Lets other work go on until `isSo`; fails when that takes unreasonably long. */
export async function until(isSo: () => boolean | Promise<boolean>, timeoutMs = 120_000): Promise<void> {
  const deadline = performance.now() + timeoutMs
  for (let looks = 1; !(await isSo()); looks++) {
    assert.ok(performance.now() < deadline, 'what was waited for never came')
    // What another process does is not sooner done for being asked about without a pause.
    await (looks < turns ? setImmediate() : setTimeout(5))
  }
}

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
