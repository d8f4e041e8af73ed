import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, it } from 'node:test'
import { withClient } from '../../src/storage/postgres/connect.ts'
import * as postgres from '../../src/storage/postgres/migrate.ts'
import * as sqlite from '../../src/storage/sqlite/migrate.ts'
import { value } from '../storage/sqlite/open-shop.ts'
import { type CommandLine, commandLine, jsonLines, onlyJson } from '../support/command-line.ts'
import { openStoreAt } from '../support/empty-store.ts'
import { freshDatabase } from '../support/fresh-database.ts'
import { preparedStore, runCommands } from '../support/prepared-store.ts'
import { anyRedis, noRedis } from '../support/redis.ts'
import { at, eventRow } from '../support/rows.ts'
import { unrelatedKeys } from '../support/test-keyring.ts'
import { until } from '../support/until.ts'

const create = ['orgs', 'create', '--name', 'Acme', '--id', 'acme', '--plan', 'pro']
const created = preparedStore(runCommands(create))

/** Every file of the folder with its content. */
function files({ folder }: CommandLine): Record<string, string> {
  return Object.fromEntries(
    readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), 'hex')]),
  )
}

async function failed(cli: CommandLine, env = {}): Promise<Record<string, unknown>> {
  const { code, stdout } = await cli.run(['status', '--json'], { env })
  assert.equal(code, 1)
  return jsonLines(stdout)[0] ?? assert.fail('nothing was printed')
}

function edit(path: string, work: (db: DatabaseSync) => void): void {
  const db = new DatabaseSync(path)
  work(db)
  db.close()
}

describe('lethe status of the embedded store', () => {
  it('prints one JSON object, and changes no file', async (t) => {
    const cli = await created(t)
    // Space freed by migrations.
    const free = 4_096 * Number(value(cli.storePath, 'PRAGMA freelist_count'))
    const before = files(cli)
    const status = onlyJson(await cli.run(['status', '--json'], { env: { LETHE_RETENTION_DAYS: 'pro=9' } }))
    const known = sqlite.migrations().length
    assert.partialDeepStrictEqual(status, {
      node: process.versions.node,
      store: { place: cli.storePath, engine: `SQLite ${process.versions.sqlite}`, problem: null },
      migrations: { applied: known, known, pending: 0 },
      organisations: [{ id: 'acme', name: 'Acme', plan: 'pro', retentionDays: 9 }],
      rows: { organisations: 1, trackers: 0, api_keys: 0, members: 0 },
      bytes: { database: before['lethe.db'] && before['lethe.db'].length / 2, free, log: 0 },
      ...{ estimatedRows: null, lastSweepAt: null, isScrubDue: false },
      limiter: { engine: 'memory', isReachable: true },
    })
    assert.match(String(status.version), /^\d+\.\d+\.\d+/)
    assert.deepEqual(files(cli), before)
  })

  it('prints lines for people', async (t) => {
    const cli = await created(t)
    const { code, stdout, stderr } = await cli.run(['status'])
    assert.deepEqual([code, stderr], [0, ''])
    assert.match(
      stdout,
      /^Lethe +\S+, on Node \S+\nStore +SQLite \S+ at .*lethe\.db\nMigrations +\d+, all applied\n/,
    )
    assert.match(stdout, /^Size +\d\.\d MB database, 0\.0 MB free, 0\.0 MB log$/m)
    assert.match(stdout, /^Last sweep +none on record\nLast scrub +\S+Z; no data was deleted since$/m)
    assert.match(stdout, /^ORGANISATION +NAME +PLAN +KEEPS\nacme +Acme +pro +730 days\n$/m)
  })

  it('shows the last sweep, and that a scrub is due', async (t) => {
    const cli = await created(t)
    const store = await openStoreAt(`sqlite:${cli.storePath}`, { writesHere: true })
    t.after(() => store.close())
    await store.trackers.create({ id: 'shop', organisationId: 'acme', name: 'Shop', createdAt: 1 })
    await store.ingest.ingest(
      [
        eventRow({
          trackerId: 'shop',
          subjectId: 'anna',
          eventId: 'e',
          occurredAt: at('2020-01-01T00:00:00.000Z'),
        }),
      ],
      await unrelatedKeys(store),
    )
    const earliest = new Date().toISOString()
    await cli.run(['sweep'])
    const swept = onlyJson(await cli.run(['status', '--json']))
    assert.ok(String(swept.lastSweepAt) >= earliest, 'seen while another has the store open, out of its log')
    assert.equal(swept.isScrubDue, true)
    const { scrubbedAt } = onlyJson(await cli.run(['scrub', '--json']))
    const scrubbed = onlyJson(await cli.run(['status', '--json']))
    assert.partialDeepStrictEqual(scrubbed, { lastScrubAt: scrubbedAt, isScrubDue: false })
  })

  it('says that there is no store, creates none, and shows the rest', async (t) => {
    const cli = commandLine(t)
    const status = await failed(cli)
    assert.partialDeepStrictEqual(status, {
      store: { place: cli.storePath, engine: null, problem: `There is no store at ${cli.storePath}.` },
      ...{ migrations: null, organisations: null, limiter: { engine: 'memory' } },
    })
    assert.deepEqual(files(cli), {})
    const { code, stdout } = await cli.run(['status'])
    assert.equal(code, 1)
    assert.match(stdout, /^Problem +There is no store at /m)
  })

  it('shows a store of an older version without upgrading it', async (t) => {
    const cli = commandLine(t)
    const known = sqlite.migrations().length
    for (let applied = 1; applied < known; applied++) {
      edit(cli.storePath, (db) => sqlite.migrate(db, cli.storePath, sqlite.migrations().slice(0, applied)))
      const before = files(cli)
      const status = onlyJson(await cli.run(['status', '--json']))
      assert.deepEqual(status.migrations, { applied, known, pending: known - applied })
      assert.deepEqual(status.organisations, [])
      assert.deepEqual(files(cli), before)
    }
    assert.match((await cli.run(['status'])).stdout, /^Migrations +\d+ of \d+; the next start applies 1$/m)
  })

  it('shows a store of a newer version as far as possible', async (t) => {
    const cli = await created(t)
    edit(cli.storePath, (db) =>
      db.exec(`UPDATE organisations SET plan = 'galaxy'; DROP TABLE sweeps;
        ALTER TABLE scrubs RENAME COLUMN scrubbed_at TO done_at; PRAGMA user_version = 999`),
    )
    const status = onlyJson(await cli.run(['status', '--json']))
    assert.partialDeepStrictEqual(status, {
      migrations: { applied: 999, pending: 0 },
      organisations: [{ id: 'acme', plan: 'galaxy', retentionDays: null }],
      ...{ lastSweepAt: null, lastScrubAt: null, isScrubDue: null },
    })
    assert.match((await cli.run(['status'])).stdout, /^Migrations +999, .* it is older than the store/m)
  })

  it('rejects a database of another program, and a file that is not a database', async (t) => {
    const cli = commandLine(t)
    edit(cli.storePath, (db) => db.exec('CREATE TABLE theirs (a)'))
    assert.match(JSON.stringify((await failed(cli)).store), /is a database, but not a Lethe store/)
    const env = { LETHE_STORE: `sqlite:${cli.folder}` }
    assert.match(JSON.stringify((await failed(cli, env)).store), /"problem":"[^"]+"/)
  })
})

describe('lethe status of a store in PostgreSQL', () => {
  it('is shown without the password', async (t) => {
    const address = await freshDatabase(t)
    const cli = commandLine(t, address)
    await cli.run(create)
    await cli.run(['sweep'])
    const known = postgres.migrations().length
    const status = onlyJson(await cli.run(['status', '--json']))
    const { host, pathname, password } = new URL(address)
    assert.partialDeepStrictEqual(status, {
      store: { place: `postgres://…@${host}${pathname}`, problem: null },
      migrations: { applied: known, known, pending: 0 },
      organisations: [{ id: 'acme', plan: 'pro', retentionDays: 730 }],
      rows: { organisations: 1, trackers: 0, api_keys: 0, members: 0 },
      ...{ isScrubDue: false },
    })
    assert.match(JSON.stringify(status.store), /"engine":"PostgreSQL \d+/)
    assert.match(
      JSON.stringify(status.bytes),
      /^{"subjects":\d+,"sessions":\d+,"events":\d+,"others":\d{4,}}$/,
    )
    assert.match(String(status.lastSweepAt), /Z$/)
    const people = await cli.run(['status'])
    assert.equal(people.code, 0)
    if (password) assert.equal(people.stdout.includes(password), false)
  })

  it('shows a store of an older version without upgrading it, and says if there is none', async (t) => {
    const address = await freshDatabase(t)
    const cli = commandLine(t, address)
    assert.match(JSON.stringify((await failed(cli)).store), /There is no store in this database/)
    const known = postgres.migrations().length
    await withClient(address, async (client) => {
      assert.equal(await postgres.version(client), 0, 'nothing was made')
      await postgres.migrate(client, postgres.migrations().slice(0, 1))
      const status = onlyJson(await cli.run(['status', '--json']))
      assert.partialDeepStrictEqual(status, {
        migrations: { applied: 1, known, pending: known - 1 },
        ...{ organisations: [], rows: null, lastSweepAt: null, isScrubDue: false },
      })
      assert.equal(await postgres.version(client), 1)
      await client.query('INSERT INTO lethe_migrations VALUES (999, now())')
      assert.partialDeepStrictEqual(onlyJson(await cli.run(['status', '--json'])).migrations, {
        applied: 999,
      })
    })
  })

  it('fails if the server does not respond', async (t) => {
    const env = { LETHE_STORE: 'postgres://lethe:hush@127.0.0.1:1/lethe' }
    const status = await failed(commandLine(t), env)
    assert.match(JSON.stringify(status.store), /"place":"postgres:\/\/…@127\.0\.0\.1:1\/lethe".*ECONNREFUSED/)
  })
})

describe('lethe status of a limiter', () => {
  it('reports an unreachable Redis, without failing', async (t) => {
    const cli = await created(t)
    const env = { LETHE_LIMITER: 'redis://:hush@127.0.0.1:1' }
    const { limiter } = onlyJson(await cli.run(['status', '--json'], { env }))
    assert.deepEqual(limiter, { engine: 'redis', isReachable: false })
    const { stdout } = await cli.run(['status'], { env })
    assert.match(stdout, /^Limiter +redis, unreachable/m)
    assert.doesNotMatch(stdout, /hush/)
  })

  it('reports a reachable Redis', { skip: noRedis }, async (t) => {
    const cli = await created(t)
    const env = { LETHE_LIMITER: await anyRedis(t) }
    // A Redis that is slowed down by other tests counts as unreachable.
    await until(async () => {
      const { limiter } = onlyJson(await cli.run(['status', '--json'], { env }))
      return JSON.stringify(limiter) === '{"engine":"redis","isReachable":true}'
    })
  })
})
