import { copyFileSync, rmSync } from 'node:fs'
import type { BenchStore } from './empty-store.ts'

/** Copies an embedded store that nobody has open, in place of an earlier copy of that name; tells where it is. */
export function copyStore({ path }: BenchStore, name: string): string {
  const copy = `${path}.${name}`
  for (const file of [copy, `${copy}-wal`, `${copy}-shm`]) rmSync(file, { force: true })
  copyFileSync(path, copy)
  return copy
}
