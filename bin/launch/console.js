import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { LaunchError } from './launch-error.js'
import { withLock } from './lock.js'

/**
 * Builds the console's pages when they are missing or older than their sources. Does nothing without sources,
 * because an installed package contains the built pages. Without the build tools, existing pages are used.
 *
 * @param {string} root
 * @param {(root: string, folder: string) => Promise<void>} [build]
 */
export async function ensureConsole(root, build = buildPages) {
  const home = path.join(root, 'console')
  if (!existsSync(path.join(home, 'src')) || isFresh(home)) return
  if (!existsSync(path.join(root, 'node_modules', 'esbuild'))) {
    console.error(
      'lethe: the console cannot be built without the development dependencies (npm ci installs them)',
    )
    return
  }
  const onWait = () => console.error('lethe: waiting for another command to build the console…')
  await withLock(
    path.join(home, '.building'),
    async () => {
      if (isFresh(home)) return
      console.error('lethe: building the console…')
      const partial = path.join(home, 'dist.partial')
      await build(root, partial)
      writeFileSync(path.join(partial, stampName), hashOf(home))
      rmSync(path.join(home, 'dist'), { recursive: true, force: true })
      renameSync(partial, path.join(home, 'dist'))
    },
    { onWait },
  )
}

const stampName = 'built-from'

/** @param {string} home */
function isFresh(home) {
  const stamp = path.join(home, 'dist', stampName)
  return existsSync(stamp) && readFileSync(stamp, 'utf8') === hashOf(home)
}

/**
 * One hash of everything that the pages depend on: sources, build script and versions.
 *
 * @param {string} home
 */
function hashOf(home) {
  const hash = createHash('sha256')
  // The code that verifies receipts belongs to the client.
  const folders = ['src', 'shared', '../client/src']
    .map((name) => path.join(home, name))
    .filter((folder) => existsSync(folder))
  const sources = folders
    .flatMap((folder) =>
      readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => path.join(folder, name)),
    )
    .filter((file) => statSync(file).isFile())
    .sort()
  for (const file of [
    ...['build.js', 'index.html', 'package.json'].map((name) => path.join(home, name)),
    ...sources,
  ]) {
    hash
      .update(`${path.relative(home, file)}\0`)
      .update(readFileSync(file))
      .update('\0')
  }
  return hash.digest('hex')
}

/**
 * @param {string} root
 * @param {string} folder
 */
async function buildPages(root, folder) {
  try {
    /** @type {{ buildConsole(folder: string): Promise<void> }} */
    const { buildConsole } = await import(pathToFileURL(path.join(root, 'console', 'build.js')).href)
    await buildConsole(folder)
  } catch (error) {
    throw new LaunchError(`building the console failed: ${error instanceof Error ? error.message : error}`)
  }
}
