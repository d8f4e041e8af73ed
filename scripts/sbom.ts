// Prints the components of a release as a CycloneDX document: npm's, reduced to the packages that are used at
// run time.
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { packagesOfPages } from './packaging/packages-of-pages.ts'

interface Component {
  'bom-ref': string
  name: string
  version: string
  purl: string
}

interface Sbom {
  serialNumber: string
  metadata: { timestamp: string; component: Component }
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

const bundled = packagesOfPages()
const manifest: { name: string; version: string; workspaces: string[] } = readJson('package.json')
const lock: { packages: Record<string, LockedPackage> } = readJson('package-lock.json')
const all = listAll()

// npm can omit development dependencies, but then also omits what both need, which is more than half of the
// run-time packages.
const running = new Set(
  Object.entries(lock.packages)
    .filter(([path, { dev, devOptional, link }]) => bundled.includes(path) || !(dev || devOptional || link))
    .map(([path, { name, version }]) => `${name ?? path.replace(/^.*node_modules\//, '')}@${version}`),
)
const components = all.components.filter((component) => running.has(component['bom-ref']))
const dependencies = all.dependencies
  .filter(({ ref }) => running.has(ref))
  .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((other) => running.has(other)) }))
// npm names the document after its folder, and generates an ID and a time on each run.
const component = { ...all.metadata.component, name: manifest.name }
const serialNumber = `urn:uuid:${uuidOf(JSON.stringify(components))}`
const { SOURCE_DATE_EPOCH: seconds } = process.env
const timestamp = seconds ? new Date(Number(seconds) * 1000).toISOString() : all.metadata.timestamp
const metadata = { ...all.metadata, timestamp, component }
console.log(JSON.stringify({ ...all, serialNumber, metadata, components, dependencies }, null, 2))

/** npm's list, created in a copy, because the workspace's members have no version and npm requires one. */
function listAll(): Sbom {
  const cwd = mkdtempSync(join(tmpdir(), 'lethe-sbom-'))
  const { version } = manifest
  const write = (file: string, content: object) => writeFileSync(join(cwd, file), JSON.stringify(content))
  try {
    for (const member of manifest.workspaces) {
      Object.assign(lock.packages[member] ?? {}, { version })
      mkdirSync(join(cwd, member))
      write(`${member}/package.json`, { ...readJson<object>(`${member}/package.json`), version })
    }
    write('package.json', manifest)
    write('package-lock.json', lock)
    const args = ['sbom', '--sbom-format=cyclonedx', '--sbom-type=application', '--package-lock-only']
    const options = {
      encoding: 'utf8',
      maxBuffer: 64 * 2 ** 20,
      shell: process.platform === 'win32',
    } as const
    return JSON.parse(execFileSync('npm', args, { cwd, ...options }))
  } finally {
    rmSync(cwd, { recursive: true })
  }
}

function uuidOf(content: string): string {
  const hash = createHash('sha256').update(content).digest('hex')
  return hash.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*$/, '$1-$2-8$3-8$4-$5')
}

function readJson<Content>(file: string): Content {
  return JSON.parse(readFileSync(new URL(`../${file}`, import.meta.url), 'utf8'))
}
