import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Client } from 'pg'
import { migrate, migrations } from '../../../src/storage/postgres/migrate.ts'
import { openPostgresStore } from '../../../src/storage/postgres/open-postgres-store.ts'
import { freshDatabase } from '../../support/fresh-database.ts'
import { inReverse } from '../../support/in-reverse.ts'
import { eventRow } from '../../support/rows.ts'

async function query(url: string, sql: string): Promise<Record<string, unknown>[]> {
  const client = new Client(url)
  await client.connect()
  try {
    return (await client.query(sql)).rows
  } finally {
    await client.end()
  }
}

describe('opening a PostgreSQL store', () => {
  it('makes its tables once, however many processes start at the same time', async (t) => {
    const url = await freshDatabase(t)
    const stores = await Promise.all(Array.from({ length: 8 }, () => openPostgresStore(url)))
    for (const store of stores) assert.deepEqual(await store.organisations.list(), [])
    await Promise.all(stores.map((store) => store.close()))
    const applied = await query(url, 'SELECT number FROM lethe_migrations ORDER BY number')
    assert.deepEqual(
      applied,
      migrations().map((_, index) => ({ number: index + 1 })),
    )
  })

  it('upgrades a store of the version before with what it holds', async (t) => {
    const url = await freshDatabase(t)
    const store = await openPostgresStore(url)
    await store.organisations.create({ id: 'acme', name: 'Acme', plan: 'pro', createdAt: 7 })
    await store.close()
    const client = new Client(url)
    await client.connect()
    await migrate(client, [...migrations(), 'ALTER TABLE organisations ADD COLUMN motto text'])
    await client.end()
    assert.deepEqual(await query(url, 'SELECT id, motto FROM organisations'), [{ id: 'acme', motto: null }])
  })

  it('changes nothing when a step of an upgrade fails', async (t) => {
    const url = await freshDatabase(t)
    await (await openPostgresStore(url)).close()
    const client = new Client(url)
    await client.connect()
    const steps = [...migrations(), 'CREATE TABLE added (id integer)', 'SELECT 1 / 0']
    await assert.rejects(migrate(client, steps), /division by zero/)
    await client.end()
    assert.deepEqual(await query(url, `SELECT to_regclass('added') AS added`), [{ added: null }])
    await (await openPostgresStore(url)).close()
  })

  it('refuses a store of a newer Lethe untouched', async (t) => {
    const url = await freshDatabase(t)
    await (await openPostgresStore(url)).close()
    await query(url, 'INSERT INTO lethe_migrations VALUES (999, now())')
    await assert.rejects(openPostgresStore(url), /written by a newer Lethe \(version 999; .* Upgrade Lethe/)
  })

  it('refuses a database in another encoding than UTF8', async (t) => {
    const lifetime = inReverse(t)
    const url = new URL(await freshDatabase(lifetime))
    const name = url.pathname.slice(1)
    await query(url.href, `CREATE DATABASE "${name}-latin" TEMPLATE template0 ENCODING 'LATIN1' LOCALE 'C'`)
    lifetime.after(async () => void (await query(url.href, `DROP DATABASE "${name}-latin"`)))
    const latin = new URL(url)
    latin.pathname = `${name}-latin`
    await assert.rejects(openPostgresStore(latin.href), /Its encoding is LATIN1; it takes a database in UTF8/)
  })

  it('says where it could not connect to, without the password', async (t) => {
    const url = new URL(await freshDatabase(t))
    url.password = 'wrong-and-secret'
    url.searchParams.set('application_name', 'secret-too')
    await assert.rejects(openPostgresStore(url.href), (error: Error) => {
      assert.match(error.message, /^Cannot open the store postgres:\/\/…@127\.0\.0\.1:\d+\/\S+: /)
      assert.doesNotMatch(`${error.message} ${error.stack}`, /secret/)
      return true
    })
  })

  it('gathers no statistics about whatever leads to a person', async (t) => {
    const url = await freshDatabase(t)
    const store = await openPostgresStore(url)
    await store.organisations.create({ id: 'acme', name: 'Acme', plan: 'pro', createdAt: 7 })
    await store.trackers.create({ id: 'shop', organisationId: 'acme', name: 'Shop', createdAt: 1 })
    await store.ingest.ingest(
      Array.from({ length: 300 }, (_, i) =>
        eventRow({ trackerId: 'shop', subjectId: `telltale-${i % 7}`, eventId: `telltale-${i}` }),
      ),
    )
    await store.close()
    await query(url, 'ANALYZE')
    const known = await query(
      url,
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
  it('does not quote what it was about', async (t) => {
    const url = await freshDatabase(t)
    const store = await openPostgresStore(url)
    await store.organisations.create({ id: 'acme', name: 'Acme', plan: 'pro', createdAt: 7 })
    await store.trackers.create({ id: 'shop', organisationId: 'acme', name: 'Shop', createdAt: 1 })
    await query(url, 'ALTER TABLE events ADD CONSTRAINT short CHECK (length(properties) < 20)')
    const row = eventRow({ trackerId: 'shop', subjectId: 'telltale', eventId: 'telltale' })
    await assert.rejects(
      store.ingest.ingest([{ ...row, properties: { telltale: 'telltale'.repeat(5) } }]),
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
