import { copyFileSync, existsSync, linkSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { Store } from '../../domain/store.ts'
import { createPrivately, isBusy, isDiskFailure, writeThrough } from './connection.ts'
import { ForeignStore } from './migrate.ts'
import { openSqliteStore } from './open-sqlite-store.ts'
import { draftPath, fileOf, removeRestoreFiles, removeStore, replacedPath, unused } from './store-files.ts'

/** The store in place: open, not there, or there and damaged. */
export type StoreInPlace = Store | 'none' | 'unreadable'

/**
 * Puts a backup in the place of a store, changed by `work`, which is handed both. `null`, with nothing changed, when a process uses the
 * store. All of it happens to a copy beside the store, which takes its place in one step: whatever fails and whenever the process
 * ends, what stands there is the old store or the new one.
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
    // One that is whole, and only cannot be opened as things are, may know of erasures that the backup does not.
    if (error instanceof Error && isDiskFailure(error.cause)) {
      throw new Error(`${error.message} Mend that, or move it away to restore without what it knows.`)
    }
    return 'unreadable'
  }
}

/** The old store keeps a second name until the new one is there for certain. */
function swap(path: string, draft: string): void {
  fold(draft)
  writeThrough(draft)
  const replaced = replacedPath(path)
  const lock = existsSync(path) ? lockAlone(path) : null
  if (existsSync(path)) linkSync(path, replaced)
  // Of a store that could not be read they may be left. Beside the new one they would be taken for its own.
  if (existsSync(`${path}-wal`)) renameSync(`${path}-wal`, `${replaced}-wal`)
  rmSync(`${path}-shm`, { force: true })
  renameSync(draft, path)
  writeThrough(dirname(path))
  lock?.close()
  removeStore(replaced)
}

/** Puts everything into the one file. */
function fold(path: string): void {
  const db = new DatabaseSync(path)
  db.exec('PRAGMA journal_mode = DELETE')
  db.close()
}

/**
 * Keeps a store, with everything in its one file, from whoever does not ask for the lock beside it, such as another program. `null` for
 * a file that is no database.
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
