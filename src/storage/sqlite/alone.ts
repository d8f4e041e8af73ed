import { DatabaseSync } from 'node:sqlite'
import { createPrivately, isBusy } from './connection.ts'

/**
 * Does `work` while holding a lock that only one process can have, on an empty database beside the store; `null` when another has
 * it. The system lets go of it when the process ends, however it ends.
 */
export async function alone<Result>(path: string, work: () => Promise<Result>): Promise<Result | null> {
  const lockPath = `${path}-upkeep`
  createPrivately(lockPath)
  const lock = new DatabaseSync(lockPath, { timeout: 0 })
  try {
    lock.exec('BEGIN EXCLUSIVE')
    return await work()
  } catch (error) {
    if (isBusy(error) && !lock.isTransaction) return null
    throw error
  } finally {
    lock.close()
  }
}
