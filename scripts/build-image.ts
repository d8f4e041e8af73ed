// Builds the image of the single executable without a network:
// dist/image/lethe_<version>_<architecture>.oci.tar.
import { execFileSync } from 'node:child_process'
import { statSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { makeBinary } from './packaging/make-binary.ts'
import { architectures, hasArchitecture } from './packaging/make-deb.ts'
import { makeImage } from './packaging/make-image.ts'
import { readManifest } from './packaging/manifest.ts'
import { underPinnedNode } from './packaging/pinned-node.ts'
import { root } from './packaging/root.ts'
import { sourceDate } from './packaging/source-date.ts'
import { ownTarget } from './packaging/targets.ts'

const { values } = parseArgs({ options: { out: { type: 'string' } } })
const target = ownTarget() ?? process.platform

if (!hasArchitecture(target)) {
  console.error('Images can only be built on Linux.')
  process.exitCode = 2
} else if (await underPinnedNode()) {
  await makeBinary(target, join(root, 'dist/binary', target))
  const { version } = readManifest('package.json')
  const revision = execFileSync('git', ['rev-parse', 'HEAD'], { cwd: root, encoding: 'utf8' }).trim()
  const folder = resolve(values.out ?? join(root, 'dist/image'))
  const archive = join(folder, `lethe_${version}_${architectures[target]}.oci.tar`)
  makeImage({ target, version, revision, date: sourceDate() }, archive)
  console.log(`${relative('.', archive)}: ${(statSync(archive).size / 1e6).toFixed(0)} MB`)
}
