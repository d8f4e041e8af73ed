import { existsSync, renameSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { createPrivately } from './connection.ts'
import { writeThrough } from './write-through.ts'

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
        writeThrough(partial)
        renameSync(partial, file)
        writeThrough(dirname(file))
      } finally {
        rmSync(partial, { force: true })
      }
    },
  }
}
