import { copyFileSync, existsSync, linkSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { Store } from '../../domain/store.ts'
import { createPrivately, isBusy, isDiskFailure, writeThrough } from './connection.ts'
import { ForeignStore } from './migrate.ts'
import { openSqliteStore } from './open-sqlite-store.ts'
import { draftPath, fileOf, removeRestoreFiles, removeStore, replacedPath, unused } from './store-files.ts'

/** The store in place: open, missing, or damaged. */
export type StoreInPlace = Store | 'none' | 'unreadable'

/**
 * Replaces a store with a backup after `work` has changed it; `work` receives both. `null`, with nothing
 * changed, if a process uses the store. Everything happens in a copy that replaces the store in one step, so
 * a failure or kill leaves either the old store or the new one.
 */
export async function replaceStore<Result>(
  name: string,
  backup: string,
  work: (restored: Store, inPlace: StoreInPlace) => Promise<Result>,
): Promise<Result | null> {
  const path = fileOf(name)
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  return unused(path, async () => {
    const draft = draftPath(path)
    removeRestoreFiles(path)
    try {
      const lock = existsSync(path) ? lockAlone(path) : null
      lock?.close()
      createPrivately(draft)
      copyFileSync(backup, draft)
      const result = await onDraft(path, draft, work)
      swap(path, draft)
      return result
    } finally {
      removeStore(draft)
    }
  })
}

async function onDraft<Result>(
  path: string,
  draft: string,
  work: (restored: Store, inPlace: StoreInPlace) => Promise<Result>,
): Promise<Result> {
  const restored = await openSqliteStore(draft, { writesHere: true })
  try {
    const inPlace = await openInPlace(path)
    try {
      return await work(restored, inPlace)
    } finally {
      if (typeof inPlace === 'object') await inPlace.close()
    }
  } finally {
    await restored.close()
  }
}

async function openInPlace(path: string): Promise<StoreInPlace> {
  if (!existsSync(path)) return 'none'
  try {
    return await openSqliteStore(path, { isHeld: true, writesHere: true })
  } catch (error) {
    if (error instanceof ForeignStore) throw error
    // A sound store that cannot be opened now may contain erasures that the backup does not.
    if (error instanceof Error && isDiskFailure(error.cause)) {
      throw new Error(
        `${error.message} Fix this, or move the store away to restore without the erasures that it records.`,
      )
    }
    return 'unreadable'
  }
}

/** The old store keeps a second name until the new one is durable. */
function swap(path: string, draft: string): void {
  fold(draft)
  writeThrough(draft)
  const replaced = replacedPath(path)
  const lock = existsSync(path) ? lockAlone(path) : null
  if (existsSync(path)) linkSync(path, replaced)
  // May be left by an unreadable store. Beside the new store they would be taken for its own.
  if (existsSync(`${path}-wal`)) renameSync(`${path}-wal`, `${replaced}-wal`)
  rmSync(`${path}-shm`, { force: true })
  renameSync(draft, path)
  writeThrough(dirname(path))
  lock?.close()
  removeStore(replaced)
}

/** Moves everything into one file. */
function fold(path: string): void {
  const db = new DatabaseSync(path)
  db.exec('PRAGMA journal_mode = DELETE')
  db.close()
}

/**
 * Locks a store, with everything in one file, against programs that ignore the lock beside it. `null` for a
 * file that is no database.
 */
function lockAlone(path: string): DatabaseSync | null {
  const db = new DatabaseSync(path, { timeout: 0 })
  try {
    db.exec('PRAGMA locking_mode = EXCLUSIVE')
    db.exec('PRAGMA journal_mode = DELETE')
    db.exec('BEGIN EXCLUSIVE; COMMIT')
    return db
  } catch (error) {
    db.close()
    if (isBusy(error)) throw new Error(`Another program has ${path} open. Nothing was changed.`)
    return null
  }
}
