import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { PostgresServer } from './postgres.ts'

let server: PostgresServer | null = null
let folder: string | null = null

/**
 * Runs before the first test file: shares a compile cache between processes, bundles the program, and starts
 * the PostgreSQL server that all files use. Skips what the run has already done or what is configured.
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

/** Runs after the last test file. */
export async function globalTeardown(): Promise<void> {
  await server?.remove()
  if (folder) rmSync(folder, { recursive: true, force: true })
}
