import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { npm } from './child.js'
import { withLock } from './lock.js'

/**
 * @typedef {{ version?: string, integrity?: string, resolved?: string, link?: boolean, dev?: boolean,
 *   devOptional?: boolean, optional?: boolean }} LockedPackage
 * @typedef {Record<string, LockedPackage>} LockedPackages keyed by path, as in package-lock.json
 */

/**
 * Installs what package-lock.json lists, unless it is installed already. Does nothing without that file,
 * because npm has installed the dependencies of an installed package.
 *
 * @param {string} root
 * @param {{ dev: boolean }} needs `false` accepts an installation without development dependencies
 * @param {(folder: string) => Promise<void>} [install]
 */
export async function ensureDependencies(root, needs, install = cleanInstall) {
  if (!existsSync(path.join(root, 'package-lock.json')) || isInstalled(root, needs)) return
  const onWait = () => console.error('lethe: waiting for another command to install the dependencies…')
  await withLock(
    path.join(root, '.installing'),
    async () => {
      if (isInstalled(root, needs)) return
      console.error('lethe: installing dependencies (once)…')
      await install(root)
    },
    { onWait },
  )
}

/**
 * Whether node_modules contains exactly what the lock file lists, as npm's record, written last, says.
 *
 * @param {string} root
 * @param {{ dev: boolean }} needs
 */
export function isInstalled(root, { dev }) {
  const wanted = readPackages(path.join(root, 'package-lock.json'))
  const present = readPackages(path.join(root, 'node_modules', '.package-lock.json'))
  if (!wanted || !present) return false
  for (const [place, entry] of Object.entries(wanted)) {
    const found = present[place]
    if (found ? !isSame(entry, found) : !mayBeMissing(entry, dev)) return false
  }
  return Object.keys(present).every((place) => place in wanted)
}

/**
 * @param {LockedPackage} entry
 * @param {boolean} dev
 */
function mayBeMissing(entry, dev) {
  // npm omits optional packages for other platforms.
  return entry.optional || (!dev && (entry.dev || entry.devOptional))
}

/**
 * @param {LockedPackage} entry
 * @param {LockedPackage} found
 */
function isSame(entry, found) {
  if (entry.link || found.link) return entry.link === found.link && entry.resolved === found.resolved
  return entry.version === found.version && entry.integrity === found.integrity
}

/**
 * @param {string} file
 * @returns {LockedPackages | undefined} the packages below node_modules; undefined if the file cannot be read
 */
function readPackages(file) {
  try {
    /** @type {LockedPackages} */
    const packages = JSON.parse(readFileSync(file, 'utf8')).packages
    return Object.fromEntries(Object.entries(packages).filter(([place]) => place.includes('node_modules/')))
  } catch {
    return undefined
  }
}

/** @param {string} root */
async function cleanInstall(root) {
  // User settings that would produce an installation other than the one that isInstalled expects.
  const layout = [
    '--include=dev',
    '--include=optional',
    '--install-strategy=hoisted',
    '--legacy-peer-deps=false',
  ]
  await npm(root, ['ci', '--engine-strict=false', ...layout], 'installing the dependencies')
}
