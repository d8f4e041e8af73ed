// Makes the Debian package of the single executable: dist/deb/lethe_<version>_<architecture>.deb.
import { execFileSync } from 'node:child_process'
import { existsSync, statSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { ownVersion } from './packaging/debian-files.ts'
import { architectures, makeDeb } from './packaging/make-deb.ts'
import { root } from './packaging/root.ts'
import { sourceDate } from './packaging/source-date.ts'
import { ownTarget } from './packaging/targets.ts'

const { values } = parseArgs({ options: { target: { type: 'string' }, out: { type: 'string' } } })
const target = values.target ?? ownTarget()

if (target !== 'linux-x64' && target !== 'linux-arm64') {
  console.error(
    `There is no Debian package for ${target}. --target takes ${Object.keys(architectures).join(', ')}.`,
  )
  process.exitCode = 2
} else {
  const binary = join(root, 'dist/binary', target)
  if (!existsSync(join(binary, 'lethe'))) {
    execFileSync('npm', ['run', 'build:binary', '--', '--target', target], { cwd: root, stdio: 'inherit' })
  }
  const parts = { binary, architecture: architectures[target], version: ownVersion(), date: sourceDate() }
  const file = await makeDeb(parts, resolve(values.out ?? join(root, 'dist/deb')))
  console.log(`${relative('.', file)}: ${(statSync(file).size / 1e6).toFixed(0)} MB`)
}
