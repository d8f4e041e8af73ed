import { readdirSync } from 'node:fs'
import { basename } from 'node:path'
import { describe } from 'node:test'

/** Runs test files of a folder again, on PostgreSQL: those named, by default all but `on-postgres`. */
export function onPostgres(
  folder: string,
  load: (name: string) => Promise<unknown>,
  names = otherTests(folder),
): void {
  process.env.LETHE_TEST_STORE = 'postgres'
  for (const name of names) {
    describe(`on PostgreSQL: ${basename(folder)}/${name}`, async () => {
      await load(name)
    })
  }
}

function otherTests(folder: string): string[] {
  const files = readdirSync(folder).filter((file) => file.endsWith('.test.ts'))
  return files.map((file) => basename(file, '.test.ts')).filter((name) => name !== 'on-postgres')
}
