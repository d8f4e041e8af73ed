import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { bundleProgram } from './bundled-program.ts'
import { createTemplate } from './fresh-database.ts'
import { type PostgresServer, startPostgres } from './postgres.ts'

let server: PostgresServer | null = null
let folder: string | null = null

/**
 * Before the first test file: lets each process use what another has compiled, bundles the program for the hundreds to come, and starts
 * the PostgreSQL that all files share; unless somebody has named one.
 */
export async function globalSetup(): Promise<void> {
  folder = mkdtempSync(join(tmpdir(), 'lethe-program-'))
  process.env.NODE_COMPILE_CACHE = join(folder, 'compiled')
  await Promise.all([shareProgram(join(folder, 'bundled')), shareServer()])
}

async function shareProgram(place: string): Promise<void> {
  if (process.env.LETHE_TEST_PROGRAM) return
  process.env.LETHE_TEST_PROGRAM = (await bundleProgram(place)).program
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
