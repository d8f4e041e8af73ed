import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chownSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { after, before, describe, test } from 'node:test'
import { buildahArgs, buildahIn, makeImage } from '../../scripts/packaging/make-image.ts'
import { readManifest } from '../../scripts/packaging/manifest.ts'
import { missing } from '../support/missing.ts'
import { quickFolder } from '../support/quick-folder.ts'
import { until } from '../support/until.ts'
import { buildBinary, notOnLinux, target } from './built-binary.ts'

const skip =
  notOnLinux || missing('buildah') || (process.getuid?.() !== 0 && 'only root can build without a daemon')

const parts = {
  target,
  version: readManifest('package.json').version,
  revision: 'f'.repeat(40),
  date: new Date('2026-11-17T00:00:00.000Z'),
}

describe('the image', { skip, timeout: 900_000 }, () => {
  const folder = quickFolder()
  const buildah = buildahIn(folder)
  const archive = join(folder, 'lethe.oci.tar')
  let container = ''
  let files = ''
  before(() => {
    buildBinary()
    makeImage(parts, archive)
    container = buildah('from', '--pull=never', `oci-archive:${archive}`).trim()
    files = buildah('mount', container).trim()
  })
  after(() => {
    buildah('umount', '--all')
    rmSync(folder, { recursive: true, force: true })
  })

  test('declares its user, its volume and its labels', () => {
    const { OCIv1 } = JSON.parse(buildah('inspect', '--type', 'container', container))
    const { User, Volumes, Entrypoint, Cmd, Labels, ExposedPorts, WorkingDir } = OCIv1.config
    assert.deepEqual(
      { User, Volumes, Entrypoint, Cmd, ExposedPorts, WorkingDir },
      {
        User: '65532:65532',
        Volumes: { '/var/lib/lethe': {} },
        Entrypoint: ['/usr/bin/lethe'],
        Cmd: ['serve', '--json'],
        ExposedPorts: { '8080/tcp': {} },
        WorkingDir: '/var/lib/lethe',
      },
    )
    const label = (name: string) => Labels[`org.opencontainers.image.${name}`]
    assert.deepEqual(['title', 'licenses', 'version', 'revision'].map(label), [
      'Lethe',
      'Apache-2.0',
      parts.version,
      parts.revision,
    ])
  })

  test('is identical, byte for byte, when it is built again', () => {
    const again = join(folder, 'again.oci.tar')
    makeImage(parts, again)
    assert.ok(readFileSync(again).equals(readFileSync(archive)))
  })

  test('is smaller than 200 MB, and contains only the program, its libraries and its licences', () => {
    const bytes = Number(execFileSync('du', ['-sb', files], { encoding: 'utf8' }).split('\t')[0])
    assert.ok(bytes < 200e6, `${bytes} bytes`)
    const listed = execFileSync('find', ['.', '-type', 'f'], { cwd: files, encoding: 'utf8' })
    const others = listed
      .trimEnd()
      .split('\n')
      .filter((file) => !/^\.\/(lib|lib64|usr\/lib)\/.*\.so(\.\d+)*$/.test(file))
    assert.deepEqual(others.toSorted(), [
      ...'./etc/group ./etc/nsswitch.conf ./etc/passwd ./usr/bin/lethe'.split(' '),
      ...'./usr/share/doc/lethe/LICENSE ./usr/share/doc/lethe/THIRD-PARTY-LICENCES.txt'.split(' '),
    ])
  })

  test('lets its user write only to the state and to /tmp', () => {
    const writable = '. ( -uid 65532 -o -gid 65532 -o -perm -o=w ) ! -type l'.split(' ')
    const found = execFileSync('find', writable, { cwd: files, encoding: 'utf8' })
    assert.deepEqual(found.trimEnd().split('\n').toSorted(), ['./tmp', './var/lib/lethe'])
  })

  test('serves, reports that it is ready, and keeps its data', async (t) => {
    const port = await freePort()
    const state = join(folder, 'state')
    mkdirSync(state)
    chownSync(state, 65_532, 65_532)
    const inside = [
      ...['run', '--isolation', 'chroot', '--volume', `${state}:/var/lib/lethe`],
      ...['--env', `LETHE_PORT=${port}`, container, '--', '/usr/bin/lethe'],
    ]
    const service = spawn('buildah', [...buildahArgs(folder), ...inside, 'serve', '--json'], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const ended = once(service, 'exit')
    t.after(async () => {
      stopInside()
      await ended
    })
    let isUp = false
    createInterface({ input: service.stdout }).on('line', (line) => {
      isUp ||= line.includes('"url"')
    })
    await until(() => isUp || service.exitCode !== null)
    assert.equal(buildah(...inside, 'health'), `The service at http://127.0.0.1:${port}/readyz is ready.\n`)
    buildah(...inside, 'orgs', 'create', '--name', 'Acme', '--id', 'acme')
    assert.match(buildah(...inside, 'orgs', 'list'), /^acme /m)
    const owner = execFileSync('stat', ['-c', '%u', join(state, 'lethe.db')], { encoding: 'utf8' })
    assert.equal(owner, '65532\n')

    /** Buildah does not forward signals, so this signals the process that runs the executable. */
    function stopInside(): void {
      const pids = execFileSync('pgrep', ['-u', '65532', '-f', '/usr/bin/lethe serve --json'], {
        encoding: 'utf8',
      })
      for (const pid of pids.trim().split('\n')) {
        if (readFileSync(`/proc/${pid}/environ`, 'utf8').includes(`LETHE_PORT=${port}\0`))
          process.kill(Number(pid), 'SIGTERM')
      }
    }
  })
})

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  assert.ok(address !== null && typeof address === 'object')
  server.close()
  return address.port
}
