import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createTemplate } from './fresh-database.ts'
import { type PostgresServer, startPostgres } from './postgres.ts'

let server: PostgresServer | null = null
let compiled: string | null = null

/**
 * Before the first test file: starts the PostgreSQL that all files share, unless somebody has named one, and lets the hundreds of
 * processes to come use what one of them has compiled.
 */
export async function globalSetup(): Promise<void> {
  compiled = mkdtempSync(join(tmpdir(), 'lethe-compiled-'))
  process.env.NODE_COMPILE_CACHE = compiled
  if (process.env.LETHE_TEST_POSTGRES) return
  server = await startPostgres()
  process.env.LETHE_TEST_POSTGRES = server.url
  process.env.LETHE_TEST_POSTGRES_TEMPLATE = await createTemplate(server.url)
}

/** After the last. */
export async function globalTeardown(): Promise<void> {
  await server?.remove()
  if (compiled) rmSync(compiled, { recursive: true, force: true })
}
