// Builds the published packages, dist/lethe and dist/client. With --only, builds one of them; with --out,
// writes to another folder.
import { join, relative, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { makeClient } from './packaging/make-client.ts'
import { makePackage } from './packaging/make-package.ts'
import { underPinnedNode } from './packaging/pinned-node.ts'
import { root } from './packaging/root.ts'

const packages = { lethe: makePackage, client: makeClient }

const { values } = parseArgs({ options: { only: { type: 'string' }, out: { type: 'string' } } })
const { only, out = join(root, 'dist') } = values

if (only !== undefined && !Object.hasOwn(packages, only)) {
  console.error(`--only takes ${Object.keys(packages).join(' or ')}, not ${only}.`)
  process.exitCode = 2
} else if (await underPinnedNode()) {
  for (const [name, make] of Object.entries(packages)) {
    if (only !== undefined && only !== name) continue
    const folder = resolve(out, name)
    await make(folder)
    console.log(relative('.', folder))
  }
}
