import { closeSync, existsSync, fsyncSync, openSync, renameSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { createPrivately } from './connection.ts'

export function backupCommands(db: DatabaseSync) {
  const copy = db.prepare('VACUUM INTO ?')
  return {
    /** Builds the copy under another name, so that a file with the name asked for is always whole. */
    backup(file: string): void {
      if (existsSync(file)) throw new Error(`${file} exists already; name a file that does not.`)
      const partial = `${file}.partial`
      rmSync(partial, { force: true })
      createPrivately(partial)
      try {
        copy.run(partial)
        writeThrough(partial, 'r+')
        renameSync(partial, file)
        // Windows opens no folders, and makes names durable by itself.
        if (process.platform !== 'win32') writeThrough(dirname(file), 'r')
      } finally {
        rmSync(partial, { force: true })
      }
    },
  }
}

/** Has the system write a file, or the entries of a folder, to the disk before we go on; Windows wants the right to write for it. */
function writeThrough(path: string, flags: 'r' | 'r+'): void {
  const handle = openSync(path, flags)
  try {
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
}
