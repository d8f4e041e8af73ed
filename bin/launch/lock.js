import { mkdirSync, rmSync, statSync, utimesSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'

/**
 * Runs the work while holding a lock, which is a folder. The owner touches the folder regularly. A folder
 * that stays untouched was left behind by a process that died, and the lock is taken over.
 *
 * @template T
 * @param {string} folder its parent must exist; git ignores empty folders
 * @param {() => Promise<T>} work
 * @param {{ touchMs?: number, staleMs?: number, onWait?: () => void }} [options]
 * @returns {Promise<T>}
 */
export async function withLock(folder, work, options = {}) {
  const { touchMs = 1000, staleMs = 10_000, onWait = () => {} } = options
  if (!take(folder)) {
    onWait()
    await waitFor(folder, staleMs)
  }
  const heartbeat = setInterval(() => touch(folder), touchMs)
  try {
    return await work()
  } finally {
    clearInterval(heartbeat)
    rmSync(folder, { recursive: true, force: true })
  }
}

/**
 * @param {string} folder
 * @param {number} staleMs
 */
async function waitFor(folder, staleMs) {
  let beat = 0
  let since = 0
  do {
    const seen = statSync(folder, { throwIfNoEntry: false })?.mtimeMs ?? 0
    if (seen !== beat) {
      beat = seen
      since = performance.now()
    } else if (performance.now() - since > staleMs) {
      rmSync(folder, { recursive: true, force: true })
    }
    await sleep(100)
  } while (!take(folder))
}

/**
 * @param {string} folder
 * @returns {boolean} whether this process now has the lock
 */
function take(folder) {
  try {
    mkdirSync(folder)
    return true
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false
    throw error
  }
}

/** @param {string} folder */
function touch(folder) {
  try {
    utimesSync(folder, new Date(), new Date())
  } catch {
    // Someone removed the lock by hand, which does not harm the work.
  }
}
