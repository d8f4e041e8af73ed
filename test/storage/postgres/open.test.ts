import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import { Client } from 'pg'
import { subjectKeyText } from '../../../src/storage/postgres/lock-subjects.ts'
import { migrate, migrations } from '../../../src/storage/postgres/migrate.ts'
import { openPostgresStore } from '../../../src/storage/postgres/open-postgres-store.ts'
import { freshDatabase, freshStore } from '../../support/fresh-database.ts'
import { query } from '../../support/raw-postgres.ts'
import { eventRow } from '../../support/rows.ts'
import { testKeys } from '../../support/test-keyring.ts'
import { keeping, rememberWindows } from '../../support/windows.ts'
import {
  assertComparedInNfc,
  assertUpgraded,
  oldIdentifiersSql,
  oldStoreSql,
} from '../upgraded-identifiers.ts'

/** A store for the tests that do not change it. */
const shared = await freshStore({ after })
const shop = await openPostgresStore(shared)
await shop.organisations.create({ id: 'acme', name: 'Acme', plan: 'pro', createdAt: 7 })
await shop.trackers.create({ id: 'shop', organisationId: 'acme', name: 'Shop', createdAt: 1 })
await shop.close()

describe('opening a PostgreSQL store', () => {
  it('creates its tables once, however many processes start at the same time', async (t) => {
    const url = await freshDatabase(t)
    const stores = await Promise.all(Array.from({ length: 4 }, () => openPostgresStore(url)))
    for (const store of stores) assert.deepEqual(await store.organisations.list(), [])
    await Promise.all(stores.map((store) => store.close()))
    const applied = await query(url, 'SELECT number FROM lethe_migrations ORDER BY number')
    assert.deepEqual(
      applied,
      migrations().map((_, index) => ({ number: index + 1 })),
    )
  })

  it('upgrades a store of the previous version with its data', async (t) => {
    const url = await freshStore(t)
    const store = await openPostgresStore(url)
    await store.organisations.create({ id: 'acme', name: 'Acme', plan: 'pro', createdAt: 7 })
    await store.close()
    const client = new Client(url)
    await client.connect()
    await migrate(client, [...migrations(), 'ALTER TABLE organisations ADD COLUMN motto text'])
    await client.end()
    assert.deepEqual(await query(url, 'SELECT id, motto FROM organisations'), [{ id: 'acme', motto: null }])
  })

  it('upgrades a store of the second version: no window is remembered, and nothing in it stays visible forever', async (t) => {
    const url = await freshDatabase(t)
    const client = new Client(url)
    await client.connect()
    await migrate(client, migrations().slice(0, 2))
    const [far, start] = [Date.parse('9999-12-31T23:59:59.000Z'), Date.parse('2026-06-01T00:00:00.000Z')]
    const [opened, lost, sound] = [1, 2, 3].map((n) => `00000000-0000-0000-0000-00000000000${n}`)
    await client.query(`
      INSERT INTO organisations VALUES ('acme', 'Acme', 'pro', 1);
      INSERT INTO trackers VALUES ('shop', 'acme', 'Shop', 1);
      INSERT INTO subjects VALUES ('${opened}', 'shop', 'open', ${start}, ${far}, ${start}, 1, 1),
        ('${lost}', 'shop', 'lost', ${far - 9}, ${far}, ${far - 9}, 1, 3),
        ('${sound}', 'shop', 'sound', ${start}, ${start + 5}, ${start}, 1, 0);
      INSERT INTO sessions VALUES ('${opened}', 's', ${start}, ${far}, 1, '{}', ${far}),
        ('${lost}', 's', ${far - 9}, ${far}, 3, '{}', ${far}),
        ('${sound}', 's', ${start}, ${start + 5}, 0, '{}', ${start + 5});
      INSERT INTO events VALUES ('${opened}', ${start}, 'e', 's', 'pageview', '{}'),
        ('${lost}', ${far - 9}, 'e', 's', 'pageview', '{}'), ('${lost}', ${far}, 'e', 's', 'pageview', '{}'),
        ('${lost}', ${far}, 'f', 's', 'pageview', '{}')`)
    await client.end()
    const store = await openPostgresStore(url)
    t.after(() => store.close())
    assert.deepEqual(await query(url, 'SELECT * FROM retention_windows'), [])
    const seen = await query(
      url,
      `SELECT subject_id, event_count::int, last_seen_at < ${Date.now() + 60_000} AS is_past FROM subjects ORDER BY subject_id`,
    )
    assert.deepEqual(seen, [
      { subject_id: 'lost', event_count: 2, is_past: true },
      { subject_id: 'open', event_count: 1, is_past: true },
      { subject_id: 'sound', event_count: 0, is_past: true },
    ])
    await rememberWindows(store, keeping(1))
    const late = { policy: keeping(1), now: Date.now() + 3 * 86_400_000, maxRows: 99 }
    const swept = await store.retention.sweep('shop', late)
    assert.deepEqual(swept, { subjects: 3, sessions: 3, events: 3, isDone: true })
  })

  it('upgrades a store of the fifth version: its data is kept, and can be deleted', async (t) => {
    const url = await freshDatabase(t)
    const client = new Client(url)
    await client.connect()
    await migrate(client, migrations().slice(0, 5))
    await client.query(`
      INSERT INTO organisations VALUES ('acme', 'Acme', 'pro', 1);
      INSERT INTO trackers VALUES ('shop', 'acme', 'Shop', 1);
      INSERT INTO activity (organisation_id, at, id, kind, actor_kind)
        VALUES ('acme', 1, 'a', 'tracker.created', 'command-line')`)
    await client.end()
    const store = await openPostgresStore(url)
    t.after(() => store.close())
    await store.ingest.ingest([eventRow({ subjectId: 'anna', eventId: 'e' })], testKeys)
    assert.equal((await store.organisations.list()).length, 1)
    const actor = { kind: 'command-line' } as const
    const note = { id: 'b', organisationId: 'acme', at: 2, actor, target: null, requestId: null }
    const kind = 'organisation.deleted'
    assert.equal(await store.deletions.deleteOrganisation('acme', 'Acme', 2, { ...note, kind }), true)
    assert.deepEqual(await store.deletions.removeTracker('shop', 99), {
      ...{ subjects: 1, sessions: 1, events: 1 },
      isDone: true,
    })
    const { rows } = await store.activity.list('acme', { limit: 9, after: null, requestId: null })
    assert.deepEqual(
      rows.map(({ kind }) => kind),
      ['organisation.deleted', 'tracker.created'],
    )
  })

  it('upgrades a store of the ninth version: its data is kept, and people are found in it', async (t) => {
    const url = await freshDatabase(t)
    const client = new Client(url)
    await client.connect()
    await migrate(client, migrations().slice(0, 9))
    for (const sql of oldStoreSql(`'${subjectKeyText('shop', 'anna')}'`)) await client.query(sql)
    await client.end()
    const store = await openPostgresStore(url)
    await assertUpgraded(store)
    await store.close()
  })

  it('upgrades a store of 0.2.0: identifiers are found however an accent is encoded', async (t) => {
    const url = await freshDatabase(t)
    const client = new Client(url)
    await client.connect()
    await migrate(client, migrations().slice(0, 13))
    const key = `'${subjectKeyText('shop', 'anna')}'`
    for (const sql of oldIdentifiersSql(key, (hex) => `'${hex}'::uuid`)) await client.query(sql)
    await client.end()
    const store = await openPostgresStore(url)
    await assertComparedInNfc(store)
    await store.close()
  })

  it('changes nothing if a step of an upgrade fails', async () => {
    const client = new Client(shared)
    await client.connect()
    const steps = [...migrations(), 'CREATE TABLE added (id integer)', 'SELECT 1 / 0']
    await assert.rejects(migrate(client, steps), /division by zero/)
    await client.end()
    assert.deepEqual(await query(shared, `SELECT to_regclass('added') AS added`), [{ added: null }])
    await (await openPostgresStore(shared)).close()
  })

  it('refuses a store of a newer Lethe, and leaves it unchanged', async (t) => {
    await query(shared, 'INSERT INTO lethe_migrations VALUES (999, now())')
    t.after(async () => void (await query(shared, 'DELETE FROM lethe_migrations WHERE number = 999')))
    await assert.rejects(
      openPostgresStore(shared),
      /written by a newer Lethe \(version 999; .* Upgrade Lethe/,
    )
  })

  it('refuses a database in another encoding than UTF8', async (t) => {
    const url = new URL(shared)
    const name = url.pathname.slice(1)
    await query(url.href, `CREATE DATABASE "${name}-latin" TEMPLATE template0 ENCODING 'LATIN1' LOCALE 'C'`)
    t.after(async () => void (await query(url.href, `DROP DATABASE "${name}-latin"`)))
    const latin = new URL(url)
    latin.pathname = `${name}-latin`
    await assert.rejects(openPostgresStore(latin.href), /Its encoding is LATIN1; Lethe needs UTF8/)
  })

  it('says where it could not connect to, without the password', async () => {
    const url = new URL(shared)
    url.password = 'wrong-and-secret'
    url.searchParams.set('application_name', 'secret-too')
    await assert.rejects(openPostgresStore(url.href), (error: Error) => {
      assert.match(error.message, /^Cannot open the store postgres:\/\/…@127\.0\.0\.1:\d+\/\S+: /)
      assert.doesNotMatch(`${error.message} ${error.stack}`, /secret/)
      return true
    })
  })

  it('collects no statistics about columns that identify people', async () => {
    const store = await openPostgresStore(shared)
    await store.ingest.ingest(
      Array.from({ length: 300 }, (_, i) =>
        eventRow({ trackerId: 'shop', subjectId: `telltale-${i % 7}`, eventId: `telltale-${i}` }),
      ),
      testKeys,
    )
    await store.close()
    await query(shared, 'ANALYZE')
    const known = await query(
      shared,
      `SELECT tablename || '.' || attname AS name FROM pg_stats WHERE tablename IN ('subjects', 'sessions', 'events')`,
    )
    const names = known.map(({ name }) => name)
    assert.ok(names.includes('events.occurred_at'), 'other columns have statistics')
    const personal = ['subject_key', 'subject_id', 'session_id', 'event_id', 'attributes', 'properties']
    for (const column of personal) {
      assert.ok(!names.some((name) => String(name).endsWith(`.${column}`)), column)
    }
  })
})

describe('a failure of PostgreSQL', () => {
  it('does not quote values', async (t) => {
    const store = await openPostgresStore(shared)
    await query(shared, 'ALTER TABLE events ADD CONSTRAINT short CHECK (length(properties) < 20)')
    t.after(async () => void (await query(shared, 'ALTER TABLE events DROP CONSTRAINT short')))
    const row = eventRow({ trackerId: 'shop', subjectId: 'telltale', eventId: 'telltale' })
    await assert.rejects(
      store.ingest.ingest([{ ...row, properties: { telltale: 'telltale'.repeat(5) } }], testKeys),
      (error: Error & { code?: string }) => {
        assert.equal(error.code, '23514')
        assert.match(error.message, /violates check constraint "short"/)
        assert.doesNotMatch(
          JSON.stringify({ ...error, message: error.message, stack: error.stack }),
          /telltale/,
        )
        return true
      },
    )
    await store.close()
  })
})
