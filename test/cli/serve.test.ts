import assert from 'node:assert/strict'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, it, type TestContext } from 'node:test'
import { setTimeout as passTime } from 'node:timers/promises'
import { echoMs } from '../../src/cli/until-stopped.ts'
import {
  type ApiAnswer,
  assertRefused,
  type CommandLine,
  callApi,
  commandLine,
  jsonLines,
  onlyJson,
  type RunningProgram,
  startServe,
  textOf,
} from '../support/command-line.ts'
import { inStore, shop } from '../support/filled-store.ts'
import { listen } from '../support/listen.ts'
import { startTestService } from '../support/service.ts'
import { visit } from '../support/shop.ts'
import { unrelatedKeys } from '../support/test-keyring.ts'

const roomyBudgets = { LETHE_LIMIT_IP: '1000000/day', LETHE_LIMIT_KEY: '500000/day' }

/** A store with the tracker `shop`, and a key with all permissions for it. */
async function withShop(t: TestContext): Promise<{ cli: CommandLine; keyId: string; key: string }> {
  const cli = commandLine(t)
  await cli.run(['orgs', 'create', '--name', 'Acme', '--id', 'acme'])
  await cli.run(['trackers', 'create', '--org', 'acme', '--name', 'Shop', '--id', 'shop'])
  const { id, key } = onlyJson(
    await cli.run([
      ...['keys', 'create', '--org', 'acme', '--name', 'all', '--json'],
      ...['--scope', 'analytics:view', 'analytics:delete-data'],
    ]),
  )
  return { cli, keyId: String(id), key: String(key) }
}

describe('lethe serve refuses to start', { concurrency: true }, () => {
  it('with an invalid configuration, with one line and exit code 2', async (t) => {
    const cli = commandLine(t)
    const outcome = await cli.run(['serve'], { env: { LETHE_PORT: '80800' } })
    assertRefused(outcome, 2, /^error: LETHE_PORT is "80800"; it accepts a port from 0 .*\n$/)
    assert.deepEqual(readdirSync(cli.folder), [], 'nothing was created')
  })

  it('on a port in use, with one line that names it and exit code 1', async (t) => {
    const cli = commandLine(t)
    const server = createServer()
    t.after(() => server.close())
    const port = String(await listen(server))
    const env = { LETHE_PORT: port, LETHE_LOG_LEVEL: 'error' }
    const outcome = await cli.run(['serve'], { env })
    assertRefused(outcome, 1, /LETHE_PORT/)
    assert.ok(outcome.stderr.includes(port), outcome.stderr)
  })

  const unusable: [what: string, prepare: (path: string) => void, reason: RegExp][] = [
    ['a folder', (path) => mkdirSync(path), /./],
    [
      'a file that is no database',
      (path) => writeFileSync(path, 'Dear diary, '.repeat(500)),
      /not a database/,
    ],
    [
      "another program's database",
      (path) => execute(path, 'CREATE TABLE notes (text)'),
      /not a Lethe store\. Name another file in LETHE_STORE/,
    ],
  ]
  for (const [what, prepare, reason] of unusable) {
    it(`on ${what}, with one line that names it and exit code 1`, async (t) => {
      const cli = commandLine(t)
      const path = join(cli.folder, 'something')
      prepare(path)
      const env = { LETHE_STORE: `sqlite:${path}`, LETHE_LOG_LEVEL: 'silent' }
      const outcome = await cli.run(['serve'], { env })
      assertRefused(outcome, 1, reason)
      assert.ok(outcome.stderr.includes(path), outcome.stderr)
    })
  }

  it('if LETHE_JOURNAL names another file, and leaves that file unchanged', async (t) => {
    const { cli, keyId } = await withShop(t)
    const notes = join(cli.folder, 'notes')
    writeFileSync(notes, 'Dear diary\n')
    const secret = join(cli.folder, 'lethe.secret')
    const inStead = (LETHE_JOURNAL: string) => ({ env: { LETHE_JOURNAL, LETHE_LOG_LEVEL: 'silent' } })
    for (const [journal, code, reason] of [
      [notes, 1, /notes is not a journal/],
      [cli.storePath, 2, /LETHE_JOURNAL is the file of the store/],
      [secret, 2, /LETHE_JOURNAL is the file of the secret/],
    ] as const)
      assertRefused(await cli.run(['serve'], inStead(journal)), code, reason)
    const revoked = await cli.run(['keys', 'revoke', keyId, '--name', 'all'], inStead(notes))
    assertRefused(revoked, 1, /The change was made, but .*notes is not a journal/)
    assert.equal(readFileSync(notes, 'utf8'), 'Dear diary\n')
  })

  it('if it cannot create its folder, with one line that names it and exit code 1', async (t) => {
    const cli = commandLine(t)
    writeFileSync(join(cli.folder, 'file'), '')
    const path = join(cli.folder, 'file', 'lethe.db')
    assertRefused(await cli.run(['serve'], { env: { LETHE_STORE: `sqlite:${path}` } }), 1, /[\\/]file\b/)
  })

  it('on a store of a newer version, with one line that says so, and leaves it unchanged', async (t) => {
    const cli = commandLine(t)
    await cli.run(['orgs', 'create', '--name', 'Acme'])
    execute(cli.storePath, 'PRAGMA user_version = 4711')
    const outcome = await cli.run(['serve'], { env: { LETHE_LOG_LEVEL: 'silent' } })
    assertRefused(outcome, 1, /newer Lethe \(store version 4711; .*Upgrade Lethe/)
    assert.ok(outcome.stderr.includes(cli.storePath))
    const db = new DatabaseSync(cli.storePath)
    assert.equal(db.prepare('PRAGMA user_version').get()?.user_version, 4711)
    db.close()
  })
})

describe('lethe serve without a store', () => {
  it('creates an empty one, says so, and serves', async (t) => {
    const cli = commandLine(t)
    const path = join(cli.folder, 'new', 'folder', 'lethe.db')
    const env = { LETHE_STORE: `sqlite:${path}` }
    const server = await startServe(cli, env)
    assert.match(server.stdout(), /the store is empty: create an organisation with \\"lethe orgs create\\"/)
    assert.ok(server.stdout().includes(`"store":"${path}","msg":"created an empty store"`))
    assert.match(server.stdout(), /"msg":"created a secret: keep a copy/)
    assert.equal((await fetch(`${server.url}/readyz`)).status, 200)
    assert.equal((await cli.run(['orgs', 'list', '--json'], { env })).stdout, '')
    server.kill('SIGINT')
    const { code, stdout, stderr } = await server.ended
    assert.deepEqual([code, stderr], [0, ''])
    assert.deepEqual(jsonLines(stdout).at(-1)?.msg, 'stopped')
  })
})

describe('a change from the command line', () => {
  it('applies to the very next request of a running server, whose log contains no key', async (t) => {
    const { cli, keyId, key } = await withShop(t)
    const service = await startTestService(t, { LETHE_STORE: `sqlite:${cli.storePath}` })
    const subject = `${service.url}/v1/analytics/trackers/shop/subjects/visitor-4711`
    const statusOf = async (keyString: string) => (await callApi(subject, keyString)).status
    const strings = [key]
    assert.equal(await statusOf(key), 404, 'the key holds; the subject is not there')

    const rotations = 2
    for (let round = 0; round < rotations; round++) {
      const rotated = onlyJson(await cli.run(['keys', 'rotate', keyId, '--yes', '--json']))
      const [old = '', next] = [strings.at(-1), textOf(rotated, 'key')]
      strings.push(next)
      assert.deepEqual([await statusOf(next), await statusOf(old)], [404, 401], `rotation ${round + 1}`)
    }

    const create = 'keys create --org acme --name late --scope analytics:view --json'.split(' ')
    const late = onlyJson(await cli.run(create))
    strings.push(textOf(late, 'key'))
    assert.equal(await statusOf(textOf(late, 'key')), 404)
    await cli.run(['keys', 'revoke', textOf(late, 'id'), '--name', 'late'])
    assert.equal(await statusOf(textOf(late, 'key')), 401)
    await cli.run(['trackers', 'create', '--org', 'acme', '--name', 'Blog', '--id', 'blog'])
    const blog = `${service.url}/v1/analytics/trackers/blog/subjects`
    assert.equal((await callApi(blog, strings.at(-2) ?? '')).status, 200)

    for (const keyString of strings) assert.equal(cli.holdsBytes(keyString.slice(23)), false)
    await service.stop()
    const log = `${service.logged.join('\n')}\n`
    const requests = jsonLines(log).filter(({ msg }) => msg === 'request')
    assert.equal(requests.length, 1 + 2 * rotations + 2 + 1, 'one line for each request')
    for (const secret of [...strings.map((keyString) => keyString.slice(23)), 'visitor-4711']) {
      assert.equal(log.includes(secret), false)
    }
    const used = jsonLines((await cli.run(['keys', 'list', '--org', 'acme', '--json'])).stdout)
    assert.match(String(used[0]?.lastUsedAt), /Z$/, 'the last use is noted before the server ends')
  })
})

describe('a server that receives a signal', { concurrency: true }, () => {
  const eventCount = 500
  /** Long enough for a busy machine, and shorter than the server would wait for kept-alive connections. */
  const promptMs = 30_000

  /** Starts an erasure that cannot finish before `release`, because another process holds the write lock. */
  async function beginErasure(
    cli: CommandLine,
    server: { url: string },
    key: string,
  ): Promise<{ answer: Promise<ApiAnswer>; release: () => void }> {
    const subjects = `${server.url}/v1/analytics/trackers/shop/subjects`
    // The first write starts the server's writer, so that it runs before the erasure.
    assert.equal((await callApi(`${subjects}/nobody`, key, 'DELETE')).status, 200)
    const holder = new DatabaseSync(cli.storePath)
    holder.exec('BEGIN IMMEDIATE')
    const list = `${subjects}?limit=1`
    const remaining = async () => Number((await callApi(list, key)).headers.get('x-ratelimit-remaining'))
    let expected = await remaining()
    const answer = callApi(`${subjects}/busy`, key, 'DELETE')
    answer.catch(() => {})
    // Each poll costs one request; a second one missing means that the erasure has arrived.
    for (let seen = expected; seen === expected; seen = await remaining()) expected--
    // Gives the erasure time to reach the writer, which waits for the write lock.
    for (let look = 0; look < 20; look++) await remaining()
    return { answer, release: () => holder.close() }
  }

  async function count(cli: CommandLine): Promise<unknown> {
    const subject = await inStore(cli.storePath, async ({ subjects }) => subjects.read(shop, 'busy'))
    return subject?.counts.events ?? null
  }

  it('completes and answers a running erasure, and exits with 0', async (t) => {
    const { cli, key } = await withShop(t)
    await addBusy(cli, eventCount)
    const server = await startServe(cli, roomyBudgets)
    assert.doesNotMatch(server.stdout(), /created a/, 'the store and its secret were there')
    const { answer, release } = await beginErasure(cli, server, key)
    server.kill('SIGTERM')
    await server.waitFor('stdout', /"signal":"SIGTERM".*stopping/)
    await assert.rejects(fetch(`${server.url}/healthz`), 'no new connection is taken')
    release()
    const { status, data } = await answer
    assert.equal(status, 200)
    assert.partialDeepStrictEqual(data, { alreadyErased: false, counts: { events: eventCount } })
    const outcome = await endedWithin(server, promptMs)
    assert.ok(outcome, 'long after its last answer the server was still there')
    assert.deepEqual([outcome.code, outcome.signal, outcome.stderr], [0, null, ''])
    assert.equal(await count(cli), null)
  })

  it('stops immediately on a second signal, and the subject stays complete', async (t) => {
    const { cli, key } = await withShop(t)
    await addBusy(cli, 100)
    const server = await startServe(cli, roomyBudgets)
    const { answer, release } = await beginErasure(cli, server, key)
    server.kill('SIGTERM')
    await server.waitFor('stdout', /stopping/)
    // An earlier signal would count as an echo of the first.
    await passTime(2 * echoMs)
    server.kill('SIGTERM')
    const outcome = await endedWithin(server, promptMs)
    release()
    assert.ok(outcome, 'long after the second signal the server was still there')
    assert.ok(outcome.signal !== null || outcome.code !== 0, 'it does not look like a regular end')
    await assert.rejects(answer)
    assert.equal(await count(cli), 100)
  })
})

async function endedWithin(program: RunningProgram, ms: number) {
  const { promise, resolve } = Promise.withResolvers<null>()
  const timer = setTimeout(() => resolve(null), ms)
  const outcome = await Promise.race([program.ended, promise])
  clearTimeout(timer)
  return outcome
}

/** Adds the subject `busy` with this many events to the shop. */
async function addBusy(cli: CommandLine, events: number): Promise<void> {
  await inStore(cli.storePath, async (store) =>
    store.ingest.ingest(visit('busy', { events }), await unrelatedKeys(store)),
  )
}

function execute(path: string, sql: string): void {
  const db = new DatabaseSync(path)
  db.exec(sql)
  db.close()
}
