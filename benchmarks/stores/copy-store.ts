import { copyFileSync, rmSync } from 'node:fs'
import type { BenchStore } from './empty-store.ts'

/** Copies an embedded store that is not open, replacing an earlier copy of that name; returns the path. */
export function copyStore({ path }: BenchStore, name: string): string {
  const copy = `${path}.${name}`
  for (const file of [copy, `${copy}-wal`, `${copy}-shm`]) rmSync(file, { force: true })
  copyFileSync(path, copy)
  return copy
}
