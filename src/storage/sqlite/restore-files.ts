import { rmSync } from 'node:fs'

/** Where a restore prepares what is to take the place of a store. */
export function draftPath(path: string): string {
  return `${path}.restoring`
}

/** Where the store that was replaced stays until the new one is there for certain. */
export function replacedPath(path: string): string {
  return `${path}.replaced`
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
