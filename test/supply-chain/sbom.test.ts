import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { before, describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { missing } from '../support/missing.ts'

interface Package {
  version: string
  integrity?: string
  license?: string
  resolved?: string
  dev?: boolean
  link?: boolean
  hasInstallScript?: boolean
}

interface Component {
  'bom-ref': string
  version: string
  purl: string
  hashes?: { alg: string; content: string }[]
  licenses: unknown[]
}

interface Sbom {
  bomFormat: string
  specVersion: string
  metadata: { component: { name: string; version: string; type: string } }
  components: Component[]
  dependencies: { ref: string; dependsOn: string[] }[]
}

const root = fileURLToPath(new URL('../..', import.meta.url))
const lock: { packages: Record<string, Package> } = JSON.parse(
  readFileSync(`${root}package-lock.json`, 'utf8'),
)
const packages = Object.entries(lock.packages)
const others = packages.filter(([path]) => path.startsWith('node_modules/') && !lock.packages[path]?.link)

/** The packages that are bundled into the console, which package.json lists as development dependencies. */
const ofPages = [
  ...['commands', 'lang-json', 'language', 'lint', 'state', 'streamparser', 'view'].map(
    (name) => `node_modules/@codemirror/${name}`,
  ),
  'node_modules/@fontsource-variable/inter',
  ...['common', 'highlight', 'json', 'lr'].map((name) => `node_modules/@lezer/${name}`),
  'node_modules/@marijn/find-cluster-break',
  'node_modules/@simplewebauthn/browser',
  'node_modules/@tanstack/preact-query',
  'node_modules/@tanstack/query-core',
  'node_modules/crelt',
  'node_modules/preact',
  'node_modules/style-mod',
  'node_modules/uqr',
  'node_modules/w3c-keyname',
]

describe('the lock file', () => {
  it('has a hash for every package, and no addresses', () => {
    assert.ok(others.length > 100)
    for (const [path, { integrity, resolved, link }] of others) {
      assert.match(integrity ?? '', /^sha512-/, path)
      assert.ok(resolved === undefined || link, path)
    }
  })

  it('has no runtime dependency with an install script, and install scripts are disabled', () => {
    const scripted = packages.filter(([, { hasInstallScript, dev }]) => hasInstallScript && !dev)
    assert.deepEqual(scripted, [])
    assert.match(readFileSync(`${root}.npmrc`, 'utf8'), /^ignore-scripts=true$/m)
  })
})

describe('the output of npm run sbom', { skip: missing('npm') }, () => {
  let sbom: Sbom
  before(() => {
    const { stdout } = spawnSync(process.execPath, [`${root}scripts/sbom.ts`], { encoding: 'utf8' })
    sbom = JSON.parse(stdout)
  })

  it('is a CycloneDX document for this version', () => {
    const { version } = JSON.parse(readFileSync(`${root}package.json`, 'utf8'))
    const { bomFormat, specVersion, metadata } = sbom
    assert.deepEqual([bomFormat, specVersion], ['CycloneDX', '1.5'])
    assert.partialDeepStrictEqual(metadata.component, { name: 'lethe', version, type: 'application' })
  })

  it('has exactly the runtime packages, with the hashes of the lock file', () => {
    const isPart = (path: string, { dev }: Package) => !dev || ofPages.includes(path)
    const expected = others
      .filter(([path, part]) => isPart(path, part))
      .map(([path, { version, integrity = '' }]) => {
        const hash = Buffer.from(integrity.slice('sha512-'.length), 'base64').toString('hex')
        return `${path.replace(/^.*node_modules\//, '')}@${version} ${hash}`
      })
    const ours = ['@lethe/client@', '@lethe/console@']
    const listed = sbom.components
      .filter((component) => !ours.some((name) => component['bom-ref'].startsWith(name)))
      .map((component) => `${component['bom-ref']} ${component.hashes?.[0]?.content}`)
    assert.ok(expected.some((part) => part.startsWith('pg@')))
    assert.deepEqual(listed.sort(), expected.sort())
    for (const { purl, licenses } of sbom.components) {
      assert.match(purl, /^pkg:npm\//)
      assert.ok(licenses.length > 0, purl)
    }
  })

  it('lists the dependencies of each part, all of which are included', () => {
    const known = new Set(sbom.components.map((component) => component['bom-ref']))
    const needed = sbom.dependencies.flatMap(({ dependsOn }) => dependsOn)
    assert.ok(needed.some((ref) => ref.startsWith('pg-protocol@')))
    for (const ref of needed) assert.ok(known.has(ref), ref)
  })

  it('has all packages that the console’s pages import', () => {
    const sources = readdirSync(`${root}console/src`, { recursive: true, encoding: 'utf8' })
    const imported = sources
      .filter((file) => /\.tsx?$/.test(file))
      .flatMap((file) => [
        ...readFileSync(`${root}console/src/${file}`, 'utf8').matchAll(/ from '([^.'][^']*)'/g),
      ])
      .map(([, specifier = '']) => specifier.replace(/^((?:@[^/]+\/)?[^/]+).*$/, '$1'))
    assert.ok(imported.includes('preact'))
    for (const name of new Set(imported)) {
      if (name !== '@lethe/client') assert.ok(ofPages.includes(`node_modules/${name}`), name)
    }
  })
})
