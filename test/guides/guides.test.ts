import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { hideSecrets } from '../../src/domain/secret.ts'
import { blocks, read, root, tableRows } from '../docs/markdown.ts'
import { citusPrograms, startCitus } from '../support/citus.ts'
import { commandLine, startServe } from '../support/command-line.ts'
import { freePort } from '../support/free-port.ts'
import { freshDatabase } from '../support/fresh-database.ts'
import { inReverse } from '../support/in-reverse.ts'
import { noOwnRedis, startRedis } from '../support/redis.ts'
import { startTestService } from '../support/service.ts'
import { runGuide } from './run-guide.ts'
import { sampleUrl, startSampleService } from './sample-service.ts'
import { openShell, programHere } from './shell.ts'

const repository = fileURLToPath(new URL('../..', import.meta.url))

const atOnce = [
  'getting-data-in',
  'collectors',
  'access-request',
  'erasure-request',
  'one-person-many-ids',
  'prove-an-erasure',
  'erasing-a-batch',
  'keys-in-practice',
  'remote-config',
]
const withStops = ['backup-and-restore']
/** Tested in another file, or without commands. */
const elsewhere = [
  'install',
  'deploying',
  'upgrading',
  'gdpr',
  'reply-texts',
  'single-sign-on',
  'outgrowing-one-machine',
]
const withoutCommands = ['gdpr.md', 'reply-texts.md', 'single-sign-on.md']

for (const guide of atOnce) {
  test(`the commands in docs/guides/${guide}.md print the documented output`, async (t) => {
    const { shell, names } = await startSampleService(t)
    await shell.run(`ln -s '${repository}/examples' examples`)
    await runGuide(`docs/guides/${guide}.md`, { shell, names })
  })
}

for (const guide of withStops) {
  test(`the commands in docs/guides/${guide}.md print the documented output, with the service restarted in between`, async (t) => {
    const { shell, names, stop, start } = await startSampleService(t, { journal: 'backups/lethe.journal' })
    const standIns = { 'sudo systemctl stop lethe': stop, 'sudo systemctl start lethe': start }
    await runGuide(`docs/guides/${guide}.md`, { shell, names, standIns })
  })
}

test('every guide is in the index and tested', () => {
  const guides = readdirSync(new URL('docs/guides/', root)).filter((file) => file !== 'README.md')
  assert.deepEqual(guides.sort(), [...atOnce, ...withStops, ...elsewhere].map((name) => `${name}.md`).sort())
  const listed = tableRows(read('docs/guides/README.md')).map(([link]) => /\((.+)\)/.exec(link ?? '')?.[1])
  assert.deepEqual(listed.sort(), guides)
  for (const guide of guides) {
    const text = read(`docs/guides/${guide}`)
    const shown = text.match(/^ *\$ /gm)?.length ?? 0
    const inBlocks = blocks(text, 'console').join('').match(/^\$ /gm)?.length ?? 0
    assert.equal(inBlocks, shown, `${guide} shows commands outside a block of the console`)
    assert.equal(shown > 0, !withoutCommands.includes(guide))
  }
})

const noGit = spawnSync('git', ['rev-parse'], { cwd: repository }).status === 0 ? false : 'not a clone'
const noJq = spawnSync('jq', ['--version']).status === 0 ? false : 'no jq on the PATH'

test('the requests of the readme return the documented responses', { skip: noJq }, async (t) => {
  const { shell, names } = await startSampleService(t)
  await runGuide('README.md', { shell, names, only: 'Send requests' })
})

test('the commands of the readme for your own data print the documented output, and use existing files', async (t) => {
  const lifetime = inReverse(t)
  const cli = commandLine(lifetime, 'sqlite:data/acme.db')
  const LETHE_PORT = String(await freePort())
  const program = await programHere(lifetime, cli.folder)
  const shell = openShell(lifetime, cli.folder, { LETHE_PORT }, { program })
  await shell.run(`ln -s '${repository}/examples' examples`)
  const serve = async () => {
    const server = await startServe(cli, { LETHE_PORT })
    lifetime.after(async () => {
      server.kill('SIGTERM')
      assert.equal((await server.ended).code, 0)
    })
    return `[03:01:45] INFO: listening {"url":"${server.url}"}\n`
  }
  await runGuide('README.md', {
    shell,
    names: { [sampleUrl]: `http://127.0.0.1:${LETHE_PORT}` },
    standIns: { 'npx lethe serve': serve },
    only: 'Use your own data',
  })
})

test('the data files of the readme and the guides are ignored by git', { skip: noGit }, () => {
  const pages = [
    'README.md',
    'docs/guides/access-request.md',
    'docs/guides/erasing-a-batch.md',
    'docs/guides/backup-and-restore.md',
    'docs/reference/commands.md',
    'examples/README.md',
  ]
  const files = pages.flatMap((page) => {
    const text = readFileSync(new URL(`../../${page}`, import.meta.url), 'utf8')
    const written = text.matchAll(
      /(?:--output|lethe backup(?! verify)|--from-file| >|export-subject\.js \S+ \S+) ([\w./-]+)/g,
    )
    const names = Array.from(written, ([, file = '']) => file)
    assert.ok(names.length > 0, page)
    return names
  })
  const ignored = spawnSync('git', ['check-ignore', ...files], { cwd: repository, encoding: 'utf8' })
  assert.deepEqual(ignored.stdout.trimEnd().split('\n'), files)
})

const file = 'docs/guides/deploying.md'

/** An empty variable selects its default. */
const defaultBudgets = { LETHE_LIMIT_IP: '', LETHE_LIMIT_KEY: '', LETHE_LIMIT_ERASURE: '' }

test('the commands for a fleet print the documented output, with two services', {
  skip: noOwnRedis,
}, async (t) => {
  const lifetime = inReverse(t)
  const store = await freshDatabase(lifetime)
  const { url: limiter } = await startRedis(lifetime)
  const cli = commandLine(lifetime, store)
  const addresses = ['http://10.0.0.1:8080', 'http://10.0.0.2:8080']
  const LETHE_SECRET_FILE = join(cli.folder, 'lethe.secret')
  const ports = [await freePort(), await freePort()]
  await runGuide(file, {
    shell: openShell(lifetime, cli.folder, {}, { program: await programHere(lifetime, cli.folder) }),
    names: {
      'postgres://lethe@db.internal:5432/lethe': store,
      'postgres://db.internal:5432/lethe': hideSecrets(store),
      'redis://cache.internal:6379': limiter,
      ...Object.fromEntries(addresses.map((address, i) => [address, `http://127.0.0.1:${ports[i]}`])),
    },
    standIns: {
      'sudo systemctl start lethe': () =>
        Promise.all(
          ports.map((port) =>
            startTestService(lifetime, {
              LETHE_STORE: store,
              LETHE_LIMITER: limiter,
              LETHE_PORT: String(port),
              LETHE_SECRET_FILE,
              ...defaultBudgets,
            }),
          ),
        ),
    },
    only: 'A fleet',
  })
})

const citus = citusPrograms()

test('the commands for a larger store move the sample to PostgreSQL, and to a cluster if Citus is installed', async (t) => {
  const lifetime = inReverse(t)
  const guide = 'docs/guides/outgrowing-one-machine.md'
  const address = 'postgres://lethe@db.internal:5432/lethe'
  const { cli, shell, stop } = await startSampleService(lifetime)
  // The coordinator is the only node, so the steps of the guide with `psql` are already done.
  const store = citus === null ? await freshDatabase(lifetime) : await startCitus(lifetime, citus)
  const LETHE_PORT = String(await freePort())
  let service = { stop }
  const standIns = {
    'sudo systemctl stop lethe': () => service.stop(),
    async 'sudo systemctl start lethe'() {
      const LETHE_SECRET_FILE = (await shell.run('echo $LETHE_SECRET_FILE')).trim()
      service = await startTestService(lifetime, { LETHE_STORE: store, LETHE_SECRET_FILE, LETHE_PORT })
    },
    ...Object.fromEntries(
      [...read(guide).matchAll(/^\$ (psql .+)$/gm)].map(
        ([, command = '']) => [command, async () => ''] as const,
      ),
    ),
  }
  const names = { [address]: store, '/srv/lethe': cli.folder }
  const run = { shell, names, standIns }
  await runGuide(guide, { ...run, only: 'From the embedded store to PostgreSQL' })
  if (citus !== null) await runGuide(guide, { ...run, only: 'From PostgreSQL to a cluster' })
})
