// Builds the single executable for this machine, or with --target for another one, as
// dist/binary/<target>/lethe or in the folder of --out.
import { statSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { LaunchError } from '../bin/launch/launch-error.js'
import { makeBinary } from './packaging/make-binary.ts'
import { underPinnedNode } from './packaging/pinned-node.ts'
import { root } from './packaging/root.ts'
import { isTarget, ownTarget, targets } from './packaging/targets.ts'

const { values } = parseArgs({ options: { target: { type: 'string' }, out: { type: 'string' } } })
const target = values.target ?? ownTarget() ?? `${process.platform}-${process.arch}`

if (!isTarget(target)) {
  console.error(`There is no binary for ${target}. --target takes ${Object.keys(targets).join(', ')}.`)
  process.exitCode = 2
} else if (await underPinnedNode()) {
  try {
    const file = await makeBinary(target, resolve(values.out ?? join(root, 'dist/binary', target)))
    const megabytes = (statSync(file).size / 1e6).toFixed(0)
    console.log(`${relative('.', file)}: ${megabytes} MB`)
    if (target.startsWith('darwin')) {
      console.log('macOS runs it once it is signed, which takes a Mac: codesign --force --sign - lethe')
    }
  } catch (error) {
    if (!(error instanceof LaunchError)) throw error
    console.error(error.message)
    process.exitCode = 1
  }
}
