import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { PIN } from '../../bin/launch/runtime.js'
import { readManifest } from '../../scripts/packaging/manifest.ts'
import { releaseNotes } from '../../scripts/packaging/release-notes.ts'
import { releaseRefusal } from '../../scripts/packaging/release-refusal.ts'
import { root } from '../../scripts/packaging/root.ts'
import { tarball } from '../../scripts/packaging/tarball.ts'
import { targets } from '../../scripts/packaging/targets.ts'
import { missing } from '../support/missing.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const { version } = readManifest('package.json')
const changes = readFileSync(join(root, 'CHANGELOG.md'), 'utf8')

describe('the version', () => {
  it('is defined only in package.json: the lock file repeats it, and workspace members have none', () => {
    const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'))
    assert.deepEqual([lock.version, lock.packages[''].version], [version, version])
    for (const member of ['client', 'console']) {
      assert.equal(readManifest(`${member}/package.json`).version, undefined, member)
    }
  })

  it('is the one in the docs', () => {
    const shown = /(?:\blethe@|\bLethe +|"version":"|\blethe-(?:client-)?|\blethe_)(\d+\.\d+\.\d+)\b/g
    for (const file of globSync(['README.md', 'client/README.md', 'docs/**/*.md'], { cwd: root })) {
      const text = readFileSync(join(root, file), 'utf8')
      // The upgrade guide names older versions.
      if (file.endsWith('upgrading.md')) continue
      for (const [, told] of text.matchAll(shown)) assert.equal(told, version, file)
    }
  })

  it('is in the changelog, as is the previous one', () => {
    assert.match(releaseNotes(changes, version) ?? '', /^- /m)
    assert.match(releaseNotes(changes, '0.1.0') ?? '', /6a71166/)
  })
})

describe('a release', () => {
  const facts = {
    version: '1.2.0',
    told: '1.2.0',
    changes: '# Changes\n\n## 1.2.0\n\n- New.\n',
    uncommitted: '',
  }

  it('is accepted if everything has the same version', () => {
    assert.equal(releaseRefusal(facts), null)
  })

  it('is refused without a version, with a different one, without changes and with uncommitted files', () => {
    const refusals = [
      { version: undefined },
      { version: '1.3.0' },
      { changes: '# Changes\n\n## 1.1.0\n\n- Old.\n' },
      { changes: '# Changes\n\n## 1.2.0\n\n## 1.1.0\n\n- Old.\n' },
      { uncommitted: ' M src/main.ts' },
    ].map((change) => releaseRefusal({ ...facts, ...change }))
    assert.match(refusals[0] ?? '', /npm run release -- 1\.2\.0/)
    assert.match(refusals[1] ?? '', /is 1\.2\.0, not 1\.3\.0/)
    assert.match(refusals[2] ?? '', /has no section for 1\.2\.0/)
    assert.match(refusals[3] ?? '', /has no section for 1\.2\.0/)
    assert.match(refusals[4] ?? '', /src\/main\.ts/)
  })

  it('is also refused by the command, which then creates nothing', (t) => {
    const out = join(temporaryFolder(t), 'release')
    const args = [join(root, 'scripts/release.ts'), '99.0.0', '--out', out]
    const { status, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' })
    assert.equal(status, 2)
    assert.match(stderr, /not 99\.0\.0/)
    assert.deepEqual(globSync(out), [])
  })

  it('has notes that end where the previous version starts', () => {
    const text = '# Changes\n\nWhat changed.\n\n## 1.2.0, of today\n\n- New.\n\n## 1.1.0\n\n- Old.\n'
    assert.equal(releaseNotes(text, '1.2.0'), '- New.\n')
    assert.equal(releaseNotes(text, '1.1.0'), '- Old.\n')
    assert.equal(releaseNotes(text, '1.2'), undefined)
  })

  it('has a binary for every listed system', () => {
    for (const { platform, arch } of Object.values(targets)) {
      assert.ok(PIN.packages[`${platform}-${arch}`], `${platform}-${arch}`)
    }
  })

  it('packs archives that tar unpacks, with the same bytes each time', { skip: missing('tar') }, (t) => {
    const folder = temporaryFolder(t)
    const files = [
      { name: 'lethe', content: Buffer.alloc(1_000, 'x'), isExecutable: true },
      { name: 'LICENSE', content: Buffer.from('free') },
    ]
    const archive = tarball(files, 1_700_000_000)
    assert.deepEqual(tarball(files, 1_700_000_000), archive)
    assert.ok(gunzipSync(archive).subarray(257).toString().startsWith('ustar\x0000'))
    writeFileSync(join(folder, 'a.tar.gz'), archive)
    const tar = (...args: string[]) => execFileSync('tar', args, { cwd: folder, encoding: 'utf8' })
    assert.match(tar('tvzf', 'a.tar.gz'), /^-rwxr-xr-x .* 1000 .* lethe\n-rw-r--r-- .* 4 .* LICENSE\n$/)
    tar('xzf', 'a.tar.gz')
    assert.deepEqual(readFileSync(join(folder, 'lethe')), files[0]?.content)
  })
})
