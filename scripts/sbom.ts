// Prints what a release is made of, as a CycloneDX document: npm's own, for exactly the packages that run.
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

interface Component {
  'bom-ref': string
  name: string
}

interface Sbom {
  metadata: { component: Component }
  components: Component[]
  dependencies: { ref: string; dependsOn: string[] }[]
}

interface LockedPackage {
  name?: string
  version: string
  dev?: boolean
  devOptional?: boolean
  link?: boolean
}

/** Only develops by package.json, but becomes part of the console's pages. */
const bundled = [
  'node_modules/preact',
  'node_modules/@tanstack/preact-query',
  'node_modules/@tanstack/query-core',
  'node_modules/@fontsource-variable/inter',
]

const cwd = fileURLToPath(new URL('..', import.meta.url))
const manifest: { name: string; version: string } = readJson('package.json')
const lock: { packages: Record<string, LockedPackage> } = readJson('package-lock.json')
const all: Sbom = JSON.parse(
  execFileSync('npm', ['sbom', '--sbom-format=cyclonedx', '--sbom-type=application', '--package-lock-only'], {
    cwd,
    encoding: 'utf8',
    maxBuffer: 64 * 2 ** 20,
    shell: process.platform === 'win32',
  }),
)

// npm can leave out development by itself, but then forgets what both need: more than half of what runs.
const running = new Set(
  Object.entries(lock.packages)
    .filter(([path, { dev, devOptional, link }]) => bundled.includes(path) || !(dev || devOptional || link))
    .map(([path, { name, version }]) => `${name ?? path.replace(/^.*node_modules\//, '')}@${version}`),
)
const components = all.components.filter((component) => running.has(component['bom-ref']))
const dependencies = all.dependencies
  .filter(({ ref }) => running.has(ref))
  .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((other) => running.has(other)) }))
// npm names the whole after the folder it lies in.
const component = { ...all.metadata.component, name: manifest.name }
console.log(
  JSON.stringify({ ...all, metadata: { ...all.metadata, component }, components, dependencies }, null, 2),
)

function readJson<Content>(file: string): Content {
  return JSON.parse(readFileSync(new URL(`../${file}`, import.meta.url), 'utf8'))
}
