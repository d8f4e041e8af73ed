import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { bundleProgram } from './bundled-program.ts'
import { createTemplate } from './fresh-database.ts'
import { type PostgresServer, startPostgres } from './postgres.ts'

let server: PostgresServer | null = null
let folder: string | null = null

/**
 * Before the first test file: bundles the program for the hundreds of processes to come, lets each use what another has compiled, and
 * starts the PostgreSQL that all files share, unless somebody has named one.
 */
export async function globalSetup(): Promise<void> {
  folder = mkdtempSync(join(tmpdir(), 'lethe-program-'))
  process.env.NODE_COMPILE_CACHE = join(folder, 'compiled')
  const [program] = await Promise.all([bundleProgram(join(folder, 'bundled')), shareServer()])
  process.env.LETHE_TEST_PROGRAM = program
}

async function shareServer(): Promise<void> {
  if (process.env.LETHE_TEST_POSTGRES) return
  server = await startPostgres()
  process.env.LETHE_TEST_POSTGRES = server.url
  process.env.LETHE_TEST_POSTGRES_TEMPLATE = await createTemplate(server.url)
}

/** After the last. */
export async function globalTeardown(): Promise<void> {
  await server?.remove()
  if (folder) rmSync(folder, { recursive: true, force: true })
}
