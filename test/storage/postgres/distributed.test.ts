import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, describe, it } from 'node:test'
import { Client } from 'pg'
import { openPostgresStore } from '../../../src/storage/postgres/open-postgres-store.ts'
import { freshDatabase } from '../../support/fresh-database.ts'
import { always, eventRow } from '../../support/rows.ts'
import { storeContract } from '../contract.ts'

/** The address of a database on the coordinator of a Citus cluster, in which the tests make schemas of their own. */
const cluster = process.env.LETHE_TEST_CITUS

describe('spreading a store over a cluster', () => {
  it('is refused where the extension is not there, with what to do about it', async (t) => {
    const store = await openPostgresStore(await freshDatabase(t))
    await assert.rejects(store.upkeep.distribute(), /The Citus extension is not there\. Install it/)
    await store.close()
  })
})

if (!cluster) {
  it('the PostgreSQL store on a cluster', {
    skip: 'LETHE_TEST_CITUS names no database with the Citus extension',
  })
} else {
  const schemas = new Map<string, Promise<string>>()
  const endings: (() => Promise<void>)[] = []

  async function query(sql: string): Promise<Record<string, unknown>[]> {
    const client = new Client(cluster)
    await client.connect()
    try {
      return (await client.query(sql)).rows
    } finally {
      await client.end()
    }
  }

  /** The address of an empty schema with the tables spread over the cluster. */
  async function freshSchema(): Promise<string> {
    const schema = `lethe_${randomUUID().replaceAll('-', '')}`
    await query(`CREATE SCHEMA ${schema}`)
    endings.push(async () => void (await query(`DROP SCHEMA ${schema} CASCADE`)))
    const url = new URL(cluster ?? '')
    url.searchParams.set('options', `-c search_path=${schema}`)
    const store = await openPostgresStore(url.href)
    await store.upkeep.distribute()
    await store.close()
    return url.href
  }

  storeContract('the PostgreSQL store on a cluster', async (folder) => {
    const url = schemas.get(folder) ?? freshSchema()
    schemas.set(folder, url)
    return openPostgresStore(await url)
  })

  describe('a store on a cluster', () => {
    it('keeps what it held when it is spread, and nothing of it on the coordinator', async () => {
      const schema = `lethe_${randomUUID().replaceAll('-', '')}`
      await query(`CREATE SCHEMA ${schema}`)
      endings.push(async () => void (await query(`DROP SCHEMA ${schema} CASCADE`)))
      const url = new URL(cluster)
      url.searchParams.set('options', `-c search_path=${schema}`)
      const alone = await openPostgresStore(url.href)
      await alone.organisations.create({ id: 'acme', name: 'Acme', plan: 'free', createdAt: 1 })
      await alone.trackers.create({ id: 'shop', organisationId: 'acme', name: 'Shop', createdAt: 1 })
      const rows = Array.from({ length: 500 }, (_, i) =>
        eventRow({ trackerId: 'shop', subjectId: `s${i}`, eventId: 'e', occurredAt: i }),
      )
      await alone.ingest.ingest(rows)
      await alone.upkeep.distribute()
      await alone.upkeep.distribute()
      await alone.close()
      const spread = await openPostgresStore(url.href)
      const view = { organisationId: 'acme', trackerId: 'shop', since: always }
      assert.equal((await spread.subjects.read(view, 's123'))?.counts.events, 1)
      assert.deepEqual(await spread.subjects.erase(view, 's123'), { sessions: 1, events: 1 })
      assert.equal(await spread.subjects.read(view, 's123'), null)
      await spread.close()
      const kinds = await query(
        `SELECT logicalrelid::regclass::text AS name, partmethod FROM pg_dist_partition
         WHERE logicalrelid::regclass::text LIKE '${schema}.%' ORDER BY 1`,
      )
      assert.deepEqual(
        kinds.map(({ name, partmethod }) => `${String(name).split('.')[1]} ${partmethod}`),
        [
          'activity n',
          'api_keys n',
          'daily_events n',
          'daily_sessions n',
          'events h',
          'members n',
          'organisations n',
          'scrubs n',
          'sessions h',
          'sign_ins n',
          'subjects h',
          'trackers n',
        ],
      )
      const sizes = await query(
        `SELECT sum(pg_relation_size(format('${schema}.%I', name)))::int AS bytes
         FROM unnest(ARRAY['subjects', 'sessions', 'events']) AS name`,
      )
      assert.deepEqual(sizes, [{ bytes: 0 }])
    })

    it('reads and erases a subject on one shard, and merges pages of all', async () => {
      const url = new URL(await freshSchema())
      const client = new Client(url.href)
      await client.connect()
      const tasks = async (sql: string): Promise<number> => {
        const { rows } = await client.query(`EXPLAIN ${sql}`)
        const plan = rows.map((row) => row['QUERY PLAN']).join('\n')
        return Number(/Task Count: (\d+)/.exec(plan)?.[1])
      }
      const key = `'${randomUUID()}'`
      for (const sql of [
        `SELECT * FROM subjects JOIN trackers ON trackers.id = tracker_id WHERE subject_key = ${key}`,
        ...['events', 'sessions', 'subjects'].map(
          (table) => `DELETE FROM ${table} WHERE subject_key = ${key}`,
        ),
      ]) {
        assert.equal(await tasks(sql), 1, sql)
      }
      assert.ok((await tasks('SELECT * FROM subjects ORDER BY subject_id LIMIT 51')) > 1)
      await client.end()
    })
  })

  after(async () => {
    for (const end of endings) await end()
  })
}
