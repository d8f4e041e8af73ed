import { type PostgresServer, startPostgres } from './postgres.ts'

let server: PostgresServer | null = null

/** Before the first test file: starts the PostgreSQL that all files share, unless somebody has named one. */
export async function globalSetup(): Promise<void> {
  if (process.env.LETHE_TEST_POSTGRES) return
  server = await startPostgres()
  process.env.LETHE_TEST_POSTGRES = server.url
}

/** After the last. */
export async function globalTeardown(): Promise<void> {
  await server?.remove()
}
