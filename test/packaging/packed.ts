import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { npmCommand } from '../../bin/launch/child.js'

export const root = fileURLToPath(new URL('../..', import.meta.url))

/** Builds a package and packs it. Returns the path of the tarball. */
export function pack(name: 'lethe' | 'client', folder: string): string {
  execFileSync(process.execPath, ['scripts/build.ts', '--only', name, '--out', folder], { cwd: root })
  runNpm(join(folder, name), ['pack', '--silent', '--pack-destination', folder])
  const [tarball = ''] = readdirSync(folder).filter((file) => file.endsWith('.tgz'))
  return join(folder, tarball)
}

/** Installs a tarball in an empty folder, with the given Node. */
export function install(tarball: string, folder: string, node = process.execPath): void {
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'package.json'), '{"name":"empty","private":true}')
  // Nothing may be downloaded.
  const options = ['--offline', '--no-audit', '--no-fund', '--engine-strict']
  runNpm(folder, ['install', ...options, tarball], node)
}

function runNpm(cwd: string, args: readonly string[], node = process.execPath): void {
  const [command, ...first] = npmCommand(process.env.npm_execpath, process.platform)
  const path = `${dirname(node)}:${process.env.PATH}`
  execFileSync(command, [...first, ...args], {
    cwd,
    env: { ...process.env, PATH: path },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
}
