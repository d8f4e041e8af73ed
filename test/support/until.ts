import assert from 'node:assert/strict'
import { setImmediate } from 'node:timers/promises'

/** Lets other work go on until `isSo`; fails when that takes unreasonably long. */
export async function until(isSo: () => boolean | Promise<boolean>, patienceMs = 10_000): Promise<void> {
  const deadline = performance.now() + patienceMs
  while (!(await isSo())) {
    assert.ok(performance.now() < deadline, 'what was waited for never came')
    await setImmediate()
  }
}
