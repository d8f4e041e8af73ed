import { test } from 'node:test'
import type { Lifetime } from './service.ts'

/** Effectively no timeout; each test has its own. */
const timeout = 86_400_000

/** Closes what the files in this process share; `null` if a file runs on its own. */
let closers: (() => void | Promise<void>)[] | null = null

/** Runs test files in this process, each after the previous one has ended. */
export function runTestFiles(files: Record<string, () => Promise<unknown>>): void {
  closers = []
  const last = Object.keys(files).at(-1)
  for (const [file, load] of Object.entries(files)) {
    test(file, { timeout }, async (t) => {
      if (file === last) t.after(closeShared)
      await load()
    })
  }
}

/** Closes something after the last file in this process, or after the file itself if it runs on its own. */
export function closeAfterLastFile(lifetime: Lifetime, close: () => void | Promise<void>): void {
  if (closers) closers.push(close)
  else lifetime.after(close)
}

async function closeShared(): Promise<void> {
  for (const close of closers ?? []) await close()
}
