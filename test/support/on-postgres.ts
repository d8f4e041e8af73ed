import { readdirSync } from 'node:fs'
import { basename, join } from 'node:path'
import { describe } from 'node:test'

/** Runs every test file of a folder once more, on PostgreSQL. */
export function onPostgres(folder: string): void {
  process.env.LETHE_TEST_STORE = 'postgres'
  const files = readdirSync(folder).filter((file) => file.endsWith('.test.ts'))
  for (const file of files.filter((name) => name !== 'on-postgres.test.ts')) {
    describe(`on PostgreSQL: ${basename(folder)}/${file}`, async () => {
      await import(join(folder, file))
    })
  }
}
