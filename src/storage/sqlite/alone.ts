import { DatabaseSync } from 'node:sqlite'
import { createPrivately, isBusy } from './connection.ts'
import { fileOf } from './restore-files.ts'

// One empty database beside the store, of which nothing but its locks is used: a shared one for every process that uses the store, a
// reserved one for whoever does what only one may do at a time, an exclusive one for whoever replaces the store. The system lets go of
// them when a process ends, however it ends.
const lockPath = (path: string) => `${fileOf(path)}-upkeep`

/** How long whoever opens a store waits for one that is being replaced. */
const replacedTimeoutMs = 5_000

/** Does `work` while holding a lock that only one process can have; `null` when another has it. */
export async function alone<Result>(path: string, work: () => Promise<Result>): Promise<Result | null> {
  return whileLocked(path, 'BEGIN IMMEDIATE', work)
}

/** Does `work` while no process uses a store, and lets none begin to; `null` when one does. */
export async function unused<Result>(path: string, work: () => Promise<Result>): Promise<Result | null> {
  return whileLocked(path, 'BEGIN EXCLUSIVE', work)
}

async function whileLocked<Result>(
  path: string,
  begin: 'BEGIN IMMEDIATE' | 'BEGIN EXCLUSIVE',
  work: () => Promise<Result>,
): Promise<Result | null> {
  const lock = tryLock(lockPath(path), begin)
  if (!lock) return null
  try {
    return await work()
  } finally {
    lock.close()
  }
}

/** Locks a file of which nothing else is used until the connection is closed or the process ends; `null` when another has it. */
export function tryLock(path: string, begin: 'BEGIN IMMEDIATE' | 'BEGIN EXCLUSIVE'): DatabaseSync | null {
  createPrivately(path)
  const lock = new DatabaseSync(path, { timeout: 0 })
  try {
    lock.exec(begin)
    return lock
  } catch (error) {
    lock.close()
    if (isBusy(error)) return null
    throw error
  }
}

/** Keeps others from replacing a store until what is handed back is called. Throws when one is being replaced. */
export function holdStore(path: string): () => void {
  createPrivately(lockPath(path))
  const lock = new DatabaseSync(lockPath(path), { timeout: replacedTimeoutMs })
  try {
    lock.exec('BEGIN')
    lock.prepare('SELECT 1 FROM sqlite_schema').get()
  } catch (error) {
    lock.close()
    if (isBusy(error)) throw new Error('lethe restore is replacing it; try again when that has ended')
    throw error
  }
  return () => lock.close()
}
