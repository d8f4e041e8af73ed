import { test } from 'node:test'
import { pathToFileURL } from 'node:url'

/** Runs test files in this process. Each is loaded when the one before it is over, with all that it started. */
export function together(files: readonly string[]): void {
  for (const file of files) {
    test(file, { timeout: Infinity }, async () => {
      await import(pathToFileURL(file).href)
    })
  }
}
