import { constants, copyFileSync, existsSync, rmSync } from 'node:fs'

/** Puts a copy of a store that no process has open in the place of another, just as it lies there, its log included. */
export function copyStore(from: string, to: string): void {
  for (const suffix of ['', '-wal', '-shm', '-upkeep']) rmSync(to + suffix, { force: true })
  for (const suffix of ['', '-wal']) {
    if (existsSync(from + suffix)) copyFileSync(from + suffix, to + suffix, constants.COPYFILE_FICLONE)
  }
}
