import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { readManifest } from '../../scripts/packaging/manifest.ts'
import { root } from '../../scripts/packaging/root.ts'
import { ownTarget } from '../../scripts/packaging/targets.ts'
import { missing } from '../support/missing.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const { version } = readManifest('package.json')
const target = ownTarget()
const skip = missing('git') || (target ? false : `no binary for ${process.platform}-${process.arch}`)
/** Files made by other commands, which have their own tests. */
const others = /\.(deb|oci|tar)$/

describe('a release of the last commit', { skip }, () => {
  it('has both packages, the binary, notes, SBOMs and valid checksums, and is reproducible elsewhere', (t) => {
    const [first, second] = [release(temporaryFolder(t)), release(temporaryFolder(t))]
    const names = readdirSync(first).filter((name) => !others.test(name))
    assert.deepEqual(names.sort(), [
      ...['NOTES.md', 'SHA256SUMS'],
      `lethe-${version}-${target}.tar.gz`,
      `lethe-${version}.cdx.json`,
      `lethe-${version}.tgz`,
      `lethe-client-${version}.tgz`,
    ])
    const sums = readFileSync(join(first, 'SHA256SUMS'), 'utf8')
    for (const name of names.filter((each) => each !== 'SHA256SUMS')) {
      const hash = createHash('sha256')
        .update(readFileSync(join(first, name)))
        .digest('hex')
      assert.ok(sums.includes(`${hash}  ${name}\n`), name)
      assert.ok(readFileSync(join(first, name)).equals(readFileSync(join(second, name))), `${name} differs`)
    }
  })
})

/** Clones the last commit into a folder and makes the release there. */
function release(folder: string): string {
  execFileSync('git', ['clone', '--quiet', '--no-local', '--depth=1', `file://${root}`, folder])
  const args = ['run', 'release', '--', version, '--targets', target ?? '']
  const { status, stderr } = spawnSync('npm', args, { cwd: folder, encoding: 'utf8' })
  // The command exits with 1 if a tool for another target is missing, and names it.
  assert.ok(status === 0 || /^Not made: /m.test(stderr), stderr)
  return join(folder, 'dist/release')
}
