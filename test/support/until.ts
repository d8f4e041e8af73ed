import assert from 'node:assert/strict'
import { setImmediate, setTimeout } from 'node:timers/promises'

/** So many turns of the event loop are waited for before time is: what happens in this process takes few. */
const turns = 50

/** Lets other work go on until `isSo`; fails when that takes unreasonably long. */
export async function until(isSo: () => boolean | Promise<boolean>, timeoutMs = 60_000): Promise<void> {
  const deadline = performance.now() + timeoutMs
  for (let looks = 1; !(await isSo()); looks++) {
    assert.ok(performance.now() < deadline, 'what was waited for never came')
    // What another process does is not sooner done for being asked about without a pause.
    await (looks < turns ? setImmediate() : setTimeout(5))
  }
}
