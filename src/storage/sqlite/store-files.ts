import { lstatSync, readlinkSync, rmSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { createPrivately, isBusy } from './connection.ts'

// An empty database beside the store, used only for its locks: shared for every process that uses the store,
// reserved for maintenance, exclusive for replacing the store. The system releases them when a process ends.
const lockPath = (path: string) => `${fileOf(path)}-upkeep`

/** How long opening a store waits while it is being replaced. */
const replacedTimeoutMs = 5_000

/** Runs `work` while holding a lock that only one process can hold; `null` if another process holds it. */
export async function withMaintenanceLock<Result>(
  path: string,
  work: () => Promise<Result>,
): Promise<Result | null> {
  return whileLocked(path, 'BEGIN IMMEDIATE', work)
}

/** Runs `work` while no process uses the store, and blocks new ones; `null` if one uses it. */
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

/**
 * Locks an otherwise unused file until the connection is closed or the process ends; `null` if another
 * process holds it.
 */
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

/**
 * Keeps others from replacing a store until the returned function is called. Throws if it is being replaced.
 */
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

/** As many links as operating systems follow. */
const maxLinks = 40

/**
 * The file that a path leads to, even if it does not exist yet. Files of a store are beside the file, not
 * beside a link to it, as SQLite does it: all names of a store share its locks, and a restore replaces the
 * file.
 */
export function fileOf(path: string): string {
  let file = path
  for (let links = 0; links < maxLinks; links++) {
    if (!lstatSync(file, { throwIfNoEntry: false })?.isSymbolicLink()) return file
    file = resolve(dirname(file), readlinkSync(file))
  }
  return path
}

/** Where a restore prepares the new store. */
export function draftPath(path: string): string {
  return `${fileOf(path)}.restoring`
}

/** Where the replaced store stays until the new one is durable. */
export function replacedPath(path: string): string {
  return `${fileOf(path)}.replaced`
}

/** Removes a store with the files beside it. */
export function removeStore(path: string): void {
  for (const suffix of ['', '-wal', '-shm', '-journal', '-upkeep']) rmSync(path + suffix, { force: true })
}

/**
 * Removes what a killed restore left behind: it contains people who were erased since. The caller must keep a
 * restore from starting meanwhile.
 */
export function removeRestoreFiles(path: string): void {
  removeStore(draftPath(path))
  removeStore(replacedPath(path))
}
