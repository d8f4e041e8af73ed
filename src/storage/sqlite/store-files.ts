import { lstatSync, readlinkSync, rmSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { createPrivately, isBusy } from './connection.ts'

// One empty database beside the store, of which nothing but its locks is used: a shared one for every process that uses the store, a
// reserved one for whoever does what only one may do at a time, an exclusive one for whoever replaces the store. The system lets go of
// them when a process ends, however it ends.
const lockPath = (path: string) => `${fileOf(path)}-upkeep`

/** How long whoever opens a store waits for one that is being replaced. */
const replacedTimeoutMs = 5_000

/** Does `work` while holding a lock that only one process can have; `null` when another has it. */
export async function withMaintenanceLock<Result>(
  path: string,
  work: () => Promise<Result>,
): Promise<Result | null> {
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

/** As many links as systems follow. */
const mostLinks = 40

/**
 * The file that a path leads to, also where it is not there yet. What belongs to a store is beside its file and not beside a link to
 * it, as SQLite has it: whoever comes by another name meets the same locks, and a restore replaces the file and not the link.
 */
export function fileOf(path: string): string {
  let file = path
  for (let links = 0; links < mostLinks; links++) {
    if (!lstatSync(file, { throwIfNoEntry: false })?.isSymbolicLink()) return file
    file = resolve(dirname(file), readlinkSync(file))
  }
  return path
}

/** Where a restore prepares what is to take the place of a store. */
export function draftPath(path: string): string {
  return `${fileOf(path)}.restoring`
}

/** Where the store that was replaced stays until the new one is there for certain. */
export function replacedPath(path: string): string {
  return `${fileOf(path)}.replaced`
}

/** Removes a store with the files beside it. */
export function removeStore(path: string): void {
  for (const suffix of ['', '-wal', '-shm', '-journal', '-upkeep']) rmSync(path + suffix, { force: true })
}

/**
 * Removes what a restore left behind that was killed: people are in it who were erased since. Only for whoever keeps a restore from
 * beginning meanwhile.
 */
export function removeRestoreFiles(path: string): void {
  removeStore(draftPath(path))
  removeStore(replacedPath(path))
}
