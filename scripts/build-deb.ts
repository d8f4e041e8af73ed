// Builds the Debian package of the single executable, dist/deb/lethe_<version>_<architecture>.deb, for this
// machine or with --target.
import { statSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { makeBinary } from './packaging/make-binary.ts'
import { architectures, hasArchitecture, makeDeb } from './packaging/make-deb.ts'
import { readManifest } from './packaging/manifest.ts'
import { underPinnedNode } from './packaging/pinned-node.ts'
import { root } from './packaging/root.ts'
import { sourceDate } from './packaging/source-date.ts'
import { ownTarget } from './packaging/targets.ts'

const { values } = parseArgs({ options: { target: { type: 'string' }, out: { type: 'string' } } })
const target = values.target ?? ownTarget() ?? process.platform

if (!hasArchitecture(target)) {
  console.error(
    `There is no Debian package for ${target}. --target takes ${Object.keys(architectures).join(', ')}.`,
  )
  process.exitCode = 2
} else if (await underPinnedNode()) {
  const binary = join(root, 'dist/binary', target)
  await makeBinary(target, binary)
  const { version } = readManifest('package.json')
  const parts = { binary, architecture: architectures[target], version, date: sourceDate() }
  const file = await makeDeb(parts, resolve(values.out ?? join(root, 'dist/deb')))
  console.log(`${relative('.', file)}: ${(statSync(file).size / 1e6).toFixed(0)} MB`)
}
