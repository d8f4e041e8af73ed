import { test } from 'node:test'
import type { Lifetime } from './service.ts'

/** As good as none, of which the runner knows no number: each test of a file has its own. */
const timeout = 86_400_000

/** What the files of this process share, and how it is closed; `null` where a file runs by itself. */
let closers: (() => void | Promise<void>)[] | null = null

/** Runs test files in this process. Each is loaded when the one before it is over, with all that it started. */
export function together(files: Record<string, () => Promise<unknown>>): void {
  closers = []
  const last = Object.keys(files).at(-1)
  for (const [file, load] of Object.entries(files)) {
    test(file, { timeout }, async (t) => {
      if (file === last) t.after(closeShared)
      await load()
    })
  }
}

/** Closes something when the last file of this process is over: that is its own where a file runs by itself. */
export function closeWithLast(lifetime: Lifetime, close: () => void | Promise<void>): void {
  if (closers) closers.push(close)
  else lifetime.after(close)
}

async function closeShared(): Promise<void> {
  for (const close of closers ?? []) await close()
}
