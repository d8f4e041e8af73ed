import { closeSync, fsyncSync, openSync, statSync } from 'node:fs'

/** Has the system write a file, or the entries of a folder, to the disk before we go on; Windows wants the right to write for it. */
export function writeThrough(path: string): void {
  const isFolder = statSync(path).isDirectory()
  // Windows opens no folders, and makes names durable by itself.
  if (isFolder && process.platform === 'win32') return
  const handle = openSync(path, isFolder ? 'r' : 'r+')
  try {
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
}
