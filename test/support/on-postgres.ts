import { readdirSync } from 'node:fs'
import { basename, join } from 'node:path'
import { describe } from 'node:test'

/** This one, and what is about the limiter, HTTP itself, or pages and documents, whatever the store. */
const elsewhere = [
  'on-postgres.test.ts',
  ...['budget-headers.test.ts', 'budgets.test.ts', 'client-addresses.test.ts', 'shared-limiter.test.ts'],
  ...['bodies.test.ts', 'http2.test.ts', 'parser-errors.test.ts'],
  ...['parameters.test.ts', 'paths-and-methods.test.ts', 'request-batches.test.ts', 'request-id.test.ts'],
  ...['response.test.ts', 'streamed-body.test.ts'],
  ...['openapi.test.ts', 'public-routes.test.ts', 'reference.test.ts'],
]

/** Runs every test file of a folder once more, on PostgreSQL. */
export function onPostgres(folder: string): void {
  process.env.LETHE_TEST_STORE = 'postgres'
  const files = readdirSync(folder).filter((file) => file.endsWith('.test.ts'))
  for (const file of files.filter((name) => !elsewhere.includes(name))) {
    describe(`on PostgreSQL: ${basename(folder)}/${file}`, async () => {
      await import(join(folder, file))
    })
  }
}
