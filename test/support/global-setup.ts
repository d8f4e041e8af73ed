import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { PostgresServer } from './postgres.ts'

let server: PostgresServer | null = null
let folder: string | null = null

/**
 * Before the first test file: lets each process use what another has compiled, bundles the program for the hundreds to come, and starts
 * the PostgreSQL that all files share; unless the run has done so already, or somebody has named one.
 */
export async function globalSetup(): Promise<void> {
  folder = mkdtempSync(join(tmpdir(), 'lethe-program-'))
  process.env.NODE_COMPILE_CACHE = join(folder, 'compiled')
  await Promise.all([shareProgram(join(folder, 'bundled')), shareServer()])
}

async function shareProgram(place: string): Promise<void> {
  if (process.env.LETHE_TEST_PROGRAM) return
  const { bundleProgram } = await import('./bundled-program.ts')
  process.env.LETHE_TEST_PROGRAM = (await bundleProgram(place)).program
}

async function shareServer(): Promise<void> {
  if (process.env.LETHE_TEST_POSTGRES) return
  const { sharePostgres } = await import('./fresh-database.ts')
  server = await sharePostgres()
}

/** After the last. */
export async function globalTeardown(): Promise<void> {
  await server?.remove()
  if (folder) rmSync(folder, { recursive: true, force: true })
}
