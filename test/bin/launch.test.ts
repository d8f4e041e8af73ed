import assert from 'node:assert/strict'
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:http'
import os from 'node:os'
import path from 'node:path'
import { after, before, describe, it, mock, type TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { npmCommand } from '../../bin/launch/child.js'
import { ensureDependencies, isInstalled } from '../../bin/launch/dependencies.js'
import { withLock } from '../../bin/launch/lock.js'
import { cacheFolder, ensureNode, installNode, PIN } from '../../bin/launch/runtime.js'
import { listen } from '../support/listen.ts'

const temporary = mkdtempSync(path.join(os.tmpdir(), 'lethe-launch-'))
before(() => mock.method(console, 'error', () => {}))
after(() => rmSync(temporary, { recursive: true, force: true }))

function folder(files: Record<string, string> = {}): string {
  const root = mkdtempSync(path.join(temporary, 'case-'))
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(root, name)), { recursive: true })
    writeFileSync(path.join(root, name), text)
  }
  return root
}

/** The commands work on the clone that contains them, which must not be this one. */
function withBin(root: string): string {
  cpSync(fileURLToPath(new URL('../../bin', import.meta.url)), path.join(root, 'bin'), { recursive: true })
  return root
}

type Entries = Record<string, Record<string, unknown>>

function checkout(wanted: Entries, installed?: Entries): string {
  const root = folder({ 'package-lock.json': JSON.stringify({ packages: { '': { name: 'x' }, ...wanted } }) })
  if (installed) record(root, installed)
  return root
}

function record(root: string, packages: Entries): void {
  mkdirSync(path.join(root, 'node_modules'), { recursive: true })
  writeFileSync(path.join(root, 'node_modules/.package-lock.json'), JSON.stringify({ packages }))
}

const a1 = { 'node_modules/a': { version: '1.0.0', integrity: 'sha512-a1' } }
const a2 = { 'node_modules/a': { version: '2.0.0', integrity: 'sha512-a2' } }
const devTool = { 'node_modules/d': { version: '1.0.0', integrity: 'sha512-d', dev: true } }
const otherPlatform = { 'node_modules/o': { version: '1.0.0', integrity: 'sha512-o', optional: true } }

describe('the dependencies count as installed', () => {
  const all = { dev: true }

  it('if npm recorded exactly the packages of the lock file', () => {
    assert.equal(isInstalled(checkout({ ...a1, ...devTool }, { ...a1, ...devTool }), all), true)
  })

  it('if only an optional package is missing', () => {
    assert.equal(isInstalled(checkout({ ...a1, ...otherPlatform }, a1), all), true)
  })

  it('without the development dependencies, for a command that needs none', () => {
    const root = checkout({ ...a1, ...devTool }, a1)
    assert.equal(isInstalled(root, { dev: false }), true)
    assert.equal(isInstalled(root, all), false)
  })

  it('unless npm never finished', () => {
    assert.equal(isInstalled(checkout(a1), all), false)
  })

  it('unless a version or a hash changed, or there is an additional package', () => {
    assert.equal(isInstalled(checkout(a2, a1), all), false)
    const swapped = { 'node_modules/a': { version: '1.0.0', integrity: 'sha512-else' } }
    assert.equal(isInstalled(checkout(a1, swapped), all), false)
    assert.equal(isInstalled(checkout(a1, { ...a1, ...devTool }), all), false)
  })

  it('regardless of workspace members, of which only the links are compared', () => {
    const link = { 'node_modules/client': { resolved: 'client', link: true } }
    assert.equal(isInstalled(checkout({ client: { version: '1.0.0' }, ...link }, link), all), true)
    const moved = { 'node_modules/client': { resolved: 'elsewhere', link: true } }
    assert.equal(isInstalled(checkout(link, moved), all), false)
  })
})

describe('installing the dependencies', () => {
  it('runs if they are outdated, and not again afterwards', async () => {
    const root = checkout(a2, a1)
    let installs = 0
    const install = async () => {
      installs += 1
      record(root, a2)
    }
    await ensureDependencies(root, { dev: true }, install)
    await ensureDependencies(root, { dev: true }, install)
    assert.equal(installs, 1)
    assert.deepEqual(readdirSync(root).sort(), ['node_modules', 'package-lock.json'])
  })

  it('runs once if two commands start at the same time', async () => {
    const root = checkout(a1)
    let installs = 0
    const install = async () => {
      installs += 1
      await sleep(150)
      record(root, a1)
    }
    const twice = [1, 2].map(() => ensureDependencies(root, { dev: true }, install))
    await Promise.all(twice)
    assert.equal(installs, 1)
  })

  it('does not run without a lock file', async () => {
    await ensureDependencies(folder(), { dev: true }, () => assert.fail('installed'))
  })
})

describe('the lock', () => {
  it('is released if the work fails', async () => {
    const lock = path.join(folder(), 'lock')
    await assert.rejects(withLock(lock, () => Promise.reject(new Error('no'))))
    assert.equal(existsSync(lock), false)
  })

  it('is taken over from a process that died', async () => {
    const lock = path.join(folder(), 'lock')
    mkdirSync(lock)
    assert.equal(await withLock(lock, async () => 'done', { staleMs: 50 }), 'done')
  })

  it('is not taken from a process that is still working', async () => {
    const lock = path.join(folder(), 'lock')
    const order: string[] = []
    const slow = async () => {
      await sleep(500)
      order.push('first')
    }
    const first = withLock(lock, slow, { touchMs: 20 })
    const second = withLock(lock, async () => order.push('second'), { staleMs: 250 })
    await Promise.all([first, second])
    assert.deepEqual(order, ['first', 'second'])
  })
})

describe('the Node to run with', () => {
  const unix = process.platform === 'win32' ? 'the stand-in for Node is a shell script' : false

  it('is the running one if it is new enough, and nothing is stored', async () => {
    const cache = path.join(folder(), 'cache')
    for (const running of ['24.15.0', '24.21.3', '25.0.0', '26.10.0']) {
      assert.equal(await ensureNode({ running, cache }), process.execPath)
    }
    assert.equal(existsSync(cache), false)
  })

  it('is unavailable for a platform without a package', async () => {
    for (const running of ['20.20.2', '23.9.0', '24.14.9']) {
      const none = ensureNode({ running, platform: 'aix', arch: 'ppc64', cache: folder() })
      await assert.rejects(none, { message: /aix-ppc64 has no package; install Node 24\.15 or newer/ })
    }
  })

  it('is installed once into the shared folder if the running one is older', { skip: unix }, async () => {
    await using registry = await serveNode('#!/bin/sh\necho v26.0.0\n')
    const old = {
      running: '20.0.0',
      platform: 'linux',
      arch: 'x64',
      cache: folder(),
      pin: registry.pin,
    } as const
    const node = await ensureNode(old)
    assert.ok(node.startsWith(path.join(old.cache, 'node-26.0.0-linux-x64')))
    assert.ok(statSync(node).mode & 0o100)
    assert.deepEqual(readdirSync(old.cache), ['node-26.0.0-linux-x64'])
    const { requests } = registry
    assert.equal(await ensureNode(old), node)
    assert.equal(registry.requests, requests)
  })

  it('is rejected if its hash is not the pinned one', { skip: unix }, async () => {
    await using registry = await serveNode('#!/bin/sh\necho v26.0.0\n')
    const { name } = registry.wanted
    const other = `sha512-${createHash('sha512').update('another package').digest('base64')}`
    const pin = { ...registry.pin, packages: { 'linux-x64': { name, integrity: other } } }
    const cache = folder()
    const refused = ensureNode({ running: '20.0.0', platform: 'linux', arch: 'x64', cache, pin })
    await assert.rejects(refused, { message: /installing Node 26\.0\.0 \(tiny-node\) failed/ })
    assert.equal(existsSync(path.join(cache, 'node-26.0.0-linux-x64')), false)
  })

  /** A package whose Node does not run here, installed by a script in place of npm. */
  const foreign = { version: '26.0.0', packages: { 'linux-x64': { name: 'foreign', integrity: 'sha512-f' } } }
  const npmOfForeign = () =>
    path.join(folder({ 'npm-cli.js': installForeign, 'package.json': '{}' }), 'npm-cli.js')
  const installForeign = `
    const fs = require('node:fs')
    fs.mkdirSync('node_modules/foreign/bin', { recursive: true })
    fs.writeFileSync('node_modules/foreign/bin/node', '#!/nowhere/loader', { mode: 0o755 })`

  it('is rejected if it does not run here', { skip: unix }, async (t) => {
    startNpmBy(t, npmOfForeign())
    const cache = folder()
    const refused = ensureNode({ running: '20.0.0', platform: 'linux', arch: 'x64', cache, pin: foreign })
    await assert.rejects(refused, {
      message: 'Node 26.0.0 does not run here; install Node 24.15 or newer and try again',
    })
    assert.equal(existsSync(path.join(cache, 'node-26.0.0-linux-x64')), false)
  })

  it('can be downloaded for another system, where it is not tested', { skip: unix }, async (t) => {
    startNpmBy(t, npmOfForeign())
    const cache = folder()
    const node = await installNode({ platform: 'linux', arch: 'x64', cache, pin: foreign })
    assert.ok(existsSync(node))
    await assert.rejects(installNode({ platform: 'aix', arch: 'ppc64', cache }), {
      message: 'there is no package with Node for aix-ppc64',
    })
  })

  it('is stored in the system’s cache folder', () => {
    assert.equal(cacheFolder('linux', {}, '/home/x'), path.join('/home/x', '.cache', 'lethe'))
    assert.equal(cacheFolder('linux', { XDG_CACHE_HOME: '/c' }, '/home/x'), path.join('/c', 'lethe'))
    assert.equal(cacheFolder('darwin', {}, '/Users/x'), path.join('/Users/x', 'Library', 'Caches', 'lethe'))
    assert.equal(cacheFolder('win32', { LOCALAPPDATA: 'L' }, 'H'), path.join('L', 'lethe'))
  })
})

describe('npm', () => {
  it('is the one that started the process, and never another package manager', () => {
    const mine = [process.execPath, path.join('/npm/bin', 'npm-cli.js')]
    assert.deepEqual(npmCommand('/npm/bin/npm-cli.js', 'linux'), mine)
    assert.deepEqual(npmCommand('/npm/bin/npx-cli.js', 'linux'), mine)
    assert.deepEqual(npmCommand('/pnpm/bin/pnpm.cjs', 'linux'), ['npm'])
    assert.deepEqual(npmCommand(undefined, 'win32'), ['npm.cmd'])
  })
})

describe('bin/node.js', () => {
  const nodeJs = path.join(withBin(folder({ 'package.json': '{"type":"module"}' })), 'bin/node.js')
  const waits = `process.stdout.write('ready'); setInterval(() => {}, 1000);`

  it('ends with the signal of its child', async () => {
    const child = await ready(spawn(process.execPath, [nodeJs, '-e', waits]))
    child.kill('SIGTERM')
    assert.deepEqual(await once(child, 'exit'), [null, 'SIGTERM'])
  })

  it('forwards signals, waits for the child to finish, and exits with its exit code', async () => {
    const tells = `for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => process.stdout.write(signal));`
    const finishes = `process.on('SIGHUP', () => setTimeout(() => process.exit(9), 50));`
    const child = await ready(spawn(process.execPath, [nodeJs, '-e', tells + finishes + waits]))
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
      child.kill(signal)
      assert.deepEqual(String(await once(child.stdout, 'data')), signal)
    }
    assert.deepEqual(await once(child, 'exit'), [9, null])
  })
})

describe('bin/lethe.js', () => {
  const main = 'console.log(JSON.stringify({ pid: process.pid, args: process.argv.slice(2) }))'

  /** A clone with one dependency to install, and the given script in place of npm. */
  function clone(npm: string) {
    const root = folder({
      'package.json': '{"type":"module"}',
      'package-lock.json': JSON.stringify({ packages: a1 }),
      'src/main.ts': main,
      'npm/package.json': '{}',
      'npm/npm-cli.js': npm,
    })
    withBin(root)
    const env = { ...process.env, npm_execpath: path.join(root, 'npm/npm-cli.js') }
    return { root, args: [path.join(root, 'bin/lethe.js')], options: { env, encoding: 'utf8' } as const }
  }

  it('runs the program with its arguments, in its own process', () => {
    const root = withBin(folder({ 'package.json': '{"type":"module"}', 'src/main.ts': main }))
    const { pid, stdout, stderr } = spawnSync(process.execPath, [
      path.join(root, 'bin/lethe.js'),
      'a',
      '--b=c d',
    ])
    assert.deepEqual(JSON.parse(stdout.toString()), { pid, args: ['a', '--b=c d'] })
    assert.equal(stderr.toString(), '')
  })

  it('stores its compile cache in a folder of the user, or continues without', () => {
    const root = withBin(folder({ 'package.json': '{"type":"module"}', 'src/main.ts': main }))
    const start = (cache: string) => {
      const { NODE_COMPILE_CACHE: _, ...rest } = process.env
      const env = { ...rest, XDG_CACHE_HOME: cache, HOME: cache, LOCALAPPDATA: cache }
      const run = spawnSync(process.execPath, [path.join(root, 'bin/lethe.js'), 'a'], {
        env,
        encoding: 'utf8',
      })
      assert.deepEqual([JSON.parse(run.stdout).args, run.stderr], [['a'], ''])
      return path.join(cacheFolder(process.platform, env, cache), 'compiled')
    }
    const compiled = start(folder())
    assert.notDeepEqual(readdirSync(compiled, { recursive: true }), [])
    assert.equal(existsSync(start(path.join(root, 'package.json'))), false)
  })

  it('runs the program with the stored Node if its own is too old', () => {
    const { version, packages } = PIN
    const wanted = packages[`${process.platform}-${process.arch}`]
    assert.ok(wanted)
    const home = folder()
    const env = { ...process.env, HOME: home, XDG_CACHE_HOME: home, LOCALAPPDATA: home }
    const cache = cacheFolder(process.platform, env, home)
    const stored = path.join(cache, `node-${version}-${process.platform}-${process.arch}`)
    const node = path.join(stored, 'node_modules', wanted.name, 'bin', path.basename(process.execPath))
    mkdirSync(path.dirname(node), { recursive: true })
    symlinkSync(process.execPath, node)

    const ending = `${main}; process.exitCode = 6`
    const older = `Object.defineProperty(process, 'versions', { value: { node: '20.0.0' } })`
    const files = { 'package.json': '{"type":"module"}', 'src/main.ts': ending, 'older.js': older }
    const root = withBin(folder(files))
    const preload = `--import=${pathToFileURL(path.join(root, 'older.js'))}`
    const args = [preload, path.join(root, 'bin/lethe.js'), 'a', '--b=c d']
    const { pid, status, stdout } = spawnSync(process.execPath, args, { env, encoding: 'utf8' })
    const printed = JSON.parse(stdout)
    assert.deepEqual(printed.args, ['a', '--b=c d'])
    assert.notEqual(printed.pid, pid)
    assert.equal(status, 6)
  })

  it('installs first, with a message on stderr and nothing on stdout', () => {
    const { args, options } = clone(`
      const fs = require('node:fs')
      console.log('added 1 package')
      fs.mkdirSync('node_modules')
      fs.copyFileSync('package-lock.json', 'node_modules/.package-lock.json')`)
    const first = spawnSync(process.execPath, args, options)
    assert.equal(first.stderr, 'lethe: installing dependencies (once)…\n')
    assert.deepEqual(JSON.parse(first.stdout).args, [])
    assert.equal(spawnSync(process.execPath, args, options).stderr, '')
  })

  it('reports a failure of npm, and releases the lock', () => {
    const { root, args, options } = clone('process.exit(4)')
    const { status, stdout, stderr } = spawnSync(process.execPath, args, options)
    assert.equal(status, 1)
    assert.equal(stdout, '')
    assert.match(stderr, /\nlethe: installing the dependencies failed: npm ended with code 4, see above\n$/)
    assert.equal(existsSync(path.join(root, '.installing')), false)
  })

  it('releases the lock if it is stopped while npm runs', async () => {
    const { root, args, options } = clone(`console.error('at work'); setInterval(() => {}, 1000)`)
    const child = spawn(process.execPath, args, options)
    for await (const text of child.stderr) if (String(text).includes('at work')) break
    child.kill('SIGTERM')
    assert.deepEqual(await once(child, 'exit'), [null, 'SIGTERM'])
    assert.equal(existsSync(path.join(root, '.installing')), false)
  })
})

/** Uses this script as npm until the end of the test. */
function startNpmBy(t: TestContext, script: string): void {
  const before = process.env.npm_execpath
  process.env.npm_execpath = script
  t.after(() => {
    if (before === undefined) delete process.env.npm_execpath
    else process.env.npm_execpath = before
  })
}

async function ready<Child extends ChildProcess>(child: Child): Promise<Child> {
  assert.ok(child.stdout)
  await once(child.stdout, 'data')
  return child
}

/** A registry with one package, `tiny-node@26.0.0`, whose bin/node is the given script. */
async function serveNode(script: string) {
  const manifest = { name: 'tiny-node', version: '26.0.0' }
  const root = folder({ 'package/package.json': JSON.stringify(manifest), 'package/bin/node': script })
  execFileSync('chmod', ['+x', path.join(root, 'package/bin/node')])
  const tarball = execFileSync('tar', ['-cz', '-C', root, 'package'])
  const integrity = `sha512-${createHash('sha512').update(tarball).digest('base64')}`
  let requests = 0
  const server = createServer((request, response) => {
    requests += 1
    const dist = { integrity, tarball: `http://${request.headers.host}/tiny-node.tgz` }
    const document = JSON.stringify({ name: 'tiny-node', versions: { '26.0.0': { ...manifest, dist } } })
    response.end(request.url?.endsWith('.tgz') ? tarball : document)
  })
  process.env.npm_config_registry = `http://127.0.0.1:${await listen(server)}/`
  process.env.npm_config_cache = path.join(root, 'npm-cache')
  const wanted = { name: 'tiny-node', integrity }
  return {
    wanted,
    pin: { version: '26.0.0', packages: { 'linux-x64': wanted } },
    get requests() {
      return requests
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
    },
  }
}
