import { lstatSync, readlinkSync, rmSync } from 'node:fs'
import { dirname, resolve } from 'node:path'

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
