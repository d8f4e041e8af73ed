import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, it, mock, type TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import { ensureConsole } from '../../bin/launch/console.js'
import { temporaryFolder } from '../support/temporary-folder.ts'

/** A clone with sources of pages, and a build that only counts. */
function clone(t: TestContext, { hasTools = true } = {}) {
  mock.method(console, 'error', () => {})
  t.after(() => mock.restoreAll())
  const root = temporaryFolder(t)
  const put = (name: string, text: string) => {
    mkdirSync(path.dirname(path.join(root, name)), { recursive: true })
    writeFileSync(path.join(root, name), text)
  }
  for (const name of ['build.js', 'index.html', 'package.json', 'src/main.tsx', 'src/pages/keys.tsx']) {
    put(`console/${name}`, name)
  }
  if (hasTools) put('node_modules/esbuild/package.json', '{}')
  let builds = 0
  const ensure = () =>
    ensureConsole(root, async (_, folder) => {
      builds += 1
      rmSync(folder, { recursive: true, force: true })
      mkdirSync(folder, { recursive: true })
      writeFileSync(path.join(folder, 'index.html'), `build ${builds}`)
    })
  const page = path.join(root, 'console/dist/index.html')
  return {
    root,
    put,
    ensure,
    builds: () => builds,
    page: () => existsSync(page) && readFileSync(page, 'utf8'),
  }
}

describe('the pages of the console are built', () => {
  it('if they are missing, and then not again', async (t) => {
    const { ensure, builds, page } = clone(t)
    await ensure()
    await ensure()
    assert.equal(builds(), 1)
    assert.equal(page(), 'build 1')
  })

  it('again if a source was changed, added or removed', async (t) => {
    const { root, put, ensure, builds, page } = clone(t)
    await ensure()
    put('console/src/pages/keys.tsx', 'changed')
    await ensure()
    put('console/src/pages/more.tsx', 'new')
    await ensure()
    rmSync(path.join(root, 'console/src/pages/more.tsx'))
    await ensure()
    put('console/package.json', 'other versions')
    await ensure()
    assert.equal(builds(), 5)
    assert.equal(page(), 'build 5')
  })

  it('once if several commands start concurrently', async (t) => {
    const { ensure, builds } = clone(t)
    await Promise.all([ensure(), ensure(), ensure()])
    assert.equal(builds(), 1)
  })

  it('never without their sources, as in an installed package', async (t) => {
    const { root, ensure, builds } = clone(t)
    rmSync(path.join(root, 'console/src'), { recursive: true })
    await ensure()
    assert.equal(builds(), 0)
  })

  it('not without the tools, but the service still starts', async (t) => {
    const { ensure, builds } = clone(t, { hasTools: false })
    await ensure()
    assert.equal(builds(), 0)
  })

  it('atomically: a failed build leaves the previous one', async (t) => {
    const { root, put, ensure, page } = clone(t)
    await ensure()
    put('console/src/main.tsx', 'broken')
    await assert.rejects(
      ensureConsole(root, () => Promise.reject(new Error('no'))),
      /no/,
    )
    assert.equal(page(), 'build 1')
    await ensure()
    assert.equal(page(), 'build 2')
  })
})

describe('the real build', () => {
  it('creates a page that refers to its files by their digests', async () => {
    const root = fileURLToPath(new URL('../..', import.meta.url))
    await ensureConsole(root)
    const page = readFileSync(path.join(root, 'console/dist/index.html'), 'utf8')
    assert.doesNotMatch(page, /\{\{|<style|style=|<script>/)
    for (const [, file = ''] of page.matchAll(/"\/console\/(assets\/[^"]+)"/g)) {
      assert.ok(existsSync(path.join(root, 'console/dist', file)), file)
    }
  })
})
