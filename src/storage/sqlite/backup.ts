import { existsSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { tryLock } from './alone.ts'
import { createPrivately } from './connection.ts'
import { removeStore } from './restore-files.ts'
import { writeThrough } from './write-through.ts'

// Whoever writes a partial copy holds a lock on an empty file beside it, and removes both. After a kill the two are left, and nobody
// has the lock: so a copy that was given up is told from one that is being written, and from a file of somebody else.
const lockSuffix = '-lock'

export function backupCommands(db: DatabaseSync) {
  const copy = db.prepare('VACUUM INTO ?')
  return {
    /** Builds the copy under another name, so that a file with the name asked for is always whole. */
    backup(file: string): void {
      if (existsSync(file)) throw new Error(`${file} exists already; name a file that does not.`)
      const partial = `${file}.partial`
      const lock = tryLock(partial + lockSuffix, 'BEGIN EXCLUSIVE')
      if (!lock) throw new Error(`Another backup is writing ${file}.`)
      try {
        removeAbandonedBackups(dirname(file))
        removeStore(partial)
        createPrivately(partial)
        copy.run(partial)
        writeThrough(partial)
        renameSync(partial, file)
        writeThrough(dirname(file))
      } finally {
        removeStore(partial)
        lock.close()
        rmSync(partial + lockSuffix, { force: true })
      }
    },
  }
}

/** Removes from a folder what backups have left there that were killed: people are in it who may be erased since. */
export function removeAbandonedBackups(folder: string): void {
  const suffix = `.partial${lockSuffix}`
  for (const name of readdirSync(folder).filter((each) => each.endsWith(suffix))) {
    const path = join(folder, name)
    const lock = tryLockOf(path)
    if (!lock) continue
    removeStore(path.slice(0, -lockSuffix.length))
    lock.close()
    rmSync(path, { force: true })
  }
}

/** `null` also for a file that another user's backup has left, which is theirs to remove. */
function tryLockOf(path: string): DatabaseSync | null {
  try {
    return tryLock(path, 'BEGIN EXCLUSIVE')
  } catch {
    return null
  }
}
