import { fstatSync, openSync, readSync, statSync, writeSync } from 'node:fs'

const handles = new Map<string, number>()

/**
 * A handle on the database's file itself, beside SQLite's. There is one for each file, and it is never closed: to close any handle of a
 * file lets go of every lock that this process has on it, SQLite's too.
 */
export function rawHandle(path: string): number {
  const { dev, ino } = statSync(path)
  const file = `${dev}:${ino}`
  const handle = handles.get(file) ?? openSync(path, 'r+')
  handles.set(file, handle)
  return handle
}

/** Whether the file of that name is the one that the handle was opened for. */
export function isHandleOf(handle: number, path: string): boolean {
  const [opened, named] = [fstatSync(handle), statSync(path)]
  return opened.dev === named.dev && opened.ino === named.ino
}

/** Fills `bytes` from the file; how many of them there are where the file ends before. */
export function readAt(handle: number, bytes: Buffer, position: number): number {
  let count = 0
  while (count < bytes.length) {
    const read = readSync(handle, bytes, count, bytes.length - count, position + count)
    if (read === 0) break
    count += read
  }
  return count
}

export function writeAt(handle: number, bytes: Buffer, position: number): void {
  let count = 0
  while (count < bytes.length) {
    count += writeSync(handle, bytes, count, bytes.length - count, position + count)
  }
}
