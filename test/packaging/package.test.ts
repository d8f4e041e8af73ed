import assert from 'node:assert/strict'
import { isAscii } from 'node:buffer'
import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { bundleScripts } from '../../scripts/packaging/bundle.ts'
import { packagesIn } from '../../scripts/packaging/licences.ts'
import { makePackage } from '../../scripts/packaging/make-package.ts'
import { readManifest } from '../../scripts/packaging/manifest.ts'
import { packagesOfPages } from '../../scripts/packaging/packages-of-pages.ts'
import { root } from '../../scripts/packaging/root.ts'
import { event, ndjson, withShop, write } from '../support/import-shop.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const lock: { packages: Record<string, { dev?: boolean; link?: boolean }> } = JSON.parse(
  readFileSync(join(root, 'package-lock.json'), 'utf8'),
)

describe('the package lethe', () => {
  const folder = join(temporaryFolder({ after }), 'lethe')
  before(() => makePackage(folder))

  it('needs no other package and runs no script when it is installed', () => {
    const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
    const { name, version, description, license, type, engines } = readManifest('package.json')
    const bin = { lethe: 'bin/lethe.js' }
    assert.deepEqual(manifest, { name, version, description, license, type, engines, bin })
  })

  it('contains only JavaScript, with the pages, migrations, completions and all licences', () => {
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    assert.deepEqual(
      files.filter((file) => file.endsWith('.ts')),
      [],
    )
    for (const file of [
      ...['LICENSE', 'README.md', 'THIRD-PARTY-LICENCES.txt', 'console/dist/index.html'],
      ...['completions/_lethe', 'completions/lethe.bash', 'completions/lethe.fish'],
      ...['src/storage/sqlite/migrations', 'src/storage/postgres/migrations'],
    ]) {
      assert.ok(existsSync(join(folder, file)), file)
    }
    assert.ok(statSync(join(folder, 'bin/lethe.js')).mode & 0o100)
  })

  it('keeps the server in ASCII, because a single character outside Latin-1 would double its memory', () => {
    const modules = readdirSync(join(folder, 'src')).filter((file) => file.endsWith('.js'))
    const texts = modules.map((file) => readFileSync(join(folder, 'src', file)))
    const server = texts.find((text) => text.includes('// src/http/server.ts'))
    assert.ok(server && isAscii(server))
  })

  it('runs by its launcher, and writes in a thread', async (t) => {
    const cli = await withShop(t)
    const cwd = cli.folder
    const { PATH, NODE_COMPILE_CACHE } = process.env
    const env = { PATH, NODE_COMPILE_CACHE, HOME: cwd, LETHE_STORE: `sqlite:${cli.storePath}` }
    const lethe = (...args: string[]) =>
      execFileSync(process.execPath, [join(folder, 'bin/lethe.js'), ...args], { cwd, env, encoding: 'utf8' })
    assert.equal(lethe('--version'), `${readManifest('package.json').version}\n`)
    write(cli, 'visits.ndjson', ndjson(event()))
    const imported = JSON.parse(lethe('import', 'visits.ndjson', '--tracker', 'shop', '--json'))
    assert.equal(imported.events, 1)
  })
})

describe('the script inside the single executable', () => {
  it('requires only Node’s own modules, and contains no development dependencies', async (t) => {
    const { inputs, outputs } = await bundleScripts(temporaryFolder(t))
    const outside = Object.values(outputs).flatMap((output) => output.imports.map(({ path }) => path))
    assert.deepEqual(
      outside.filter((path) => !isBuiltin(path)),
      // Loaded only with options that are not used here.
      ['pg-native', '@node-rs/xxhash'],
    )
    const packages = packagesIn({ inputs, outputs })
    assert.ok(packages.includes('node_modules/pg'))
    const developing = packages.filter((path) => lock.packages[path]?.dev)
    assert.deepEqual(developing, packagesOfPages())
  })
})
