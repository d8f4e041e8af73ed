import { test } from 'node:test'
import { pathToFileURL } from 'node:url'

/** As good as none, of which the runner knows no number: each test of a file has its own. */
const timeout = 86_400_000

/** Runs test files in this process. Each is loaded when the one before it is over, with all that it started. */
export function together(files: readonly string[]): void {
  for (const file of files) {
    test(file, { timeout }, async () => {
      await import(pathToFileURL(file).href)
    })
  }
}
