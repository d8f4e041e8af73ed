import { readdirSync } from 'node:fs'
import { basename, join } from 'node:path'
import { describe } from 'node:test'

/** Runs test files of a folder once more, on PostgreSQL: these, or all but the one that asks for it. */
export function onPostgres(folder: string, files = otherTests(folder)): void {
  process.env.LETHE_TEST_STORE = 'postgres'
  for (const file of files) {
    describe(`on PostgreSQL: ${basename(folder)}/${file}`, async () => {
      await import(join(folder, file))
    })
  }
}

function otherTests(folder: string): string[] {
  const files = readdirSync(folder).filter((file) => file.endsWith('.test.ts'))
  return files.filter((file) => file !== 'on-postgres.test.ts')
}
