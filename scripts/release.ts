// Builds all files of a release in dist/release: npm run release -- 0.2.0 [--targets linux-x64,…] [--out DIR]
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { readManifest } from './packaging/manifest.ts'
import { underPinnedNode } from './packaging/pinned-node.ts'
import { releaseNotes } from './packaging/release-notes.ts'
import { type Release, releaseBinaries, releaseOthers, releasePackages } from './packaging/release-parts.ts'
import { releaseRefusal } from './packaging/release-refusal.ts'
import { root } from './packaging/root.ts'
import { isTarget, targets } from './packaging/targets.ts'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { targets: { type: 'string' }, out: { type: 'string' } },
})
const [asked] = positionals
const wanted = values.targets?.split(',') ?? Object.keys(targets)
const unknown = wanted.filter((name) => !isTarget(name))
const changes = readFileSync(join(root, 'CHANGELOG.md'), 'utf8')
const { version } = readManifest('package.json')
const refusal =
  unknown.length > 0
    ? `--targets takes ${Object.keys(targets).join(', ')}, not ${unknown.join(', ')}.`
    : releaseRefusal({ version: asked, told: version, changes, uncommitted: git('status', '--porcelain') })

if (refusal !== null) {
  console.error(refusal)
  process.exitCode = 2
} else if (await underPinnedNode()) {
  await release({
    version,
    folder: resolve(values.out ?? join(root, 'dist/release')),
    seconds: Number(git('log', '-1', '--format=%ct')),
    targets: wanted.filter(isTarget),
  })
}

async function release(parts: Release): Promise<void> {
  const { folder, seconds } = parts
  process.env.SOURCE_DATE_EPOCH = String(seconds)
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  await releasePackages(parts)
  const missing = [...(await releaseBinaries(parts)), ...releaseOthers(parts)]
  const sbom = execFileSync(process.execPath, [join(root, 'scripts/sbom.ts')])
  writeFileSync(join(folder, `lethe-${version}.cdx.json`), sbom)
  writeFileSync(join(folder, 'NOTES.md'), releaseNotes(changes, version) ?? '')
  const files = readdirSync(folder).sort()
  const sums = files.map((name) => `${sha256(join(folder, name))}  ${name}\n`)
  writeFileSync(join(folder, 'SHA256SUMS'), sums.join(''))
  for (const name of readdirSync(folder).sort()) {
    const megabytes = (statSync(join(folder, name)).size / 1e6).toFixed(1)
    console.log(`${megabytes.padStart(7)} MB  ${relative('.', join(folder, name))}`)
  }
  for (const { what, why } of missing) console.error(`Not made: ${what}: ${why}`)
  if (missing.length > 0) process.exitCode = 1
}

function git(...args: string[]): string {
  return execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trimEnd()
}

function sha256(file: string): string {
  return createHash('sha256').update(readFileSync(file)).digest('hex')
}
