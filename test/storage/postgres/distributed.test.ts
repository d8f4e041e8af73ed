import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import { openPostgresStore } from '../../../src/storage/postgres/open-postgres-store.ts'
import { freshDistributedStore, freshSchema, namedCluster, query } from '../../support/citus.ts'
import { freshStore } from '../../support/fresh-database.ts'
import { always, eventRow } from '../../support/rows.ts'
import { eraseIn, testKeys } from '../../support/test-keyring.ts'
import { storeContract } from '../contract.ts'

describe('spreading a store over a cluster', () => {
  it('is refused where the extension is not there, with what to do about it', async (t) => {
    const store = await openPostgresStore(await freshStore(t))
    await assert.rejects(store.maintenance.distribute(), /The Citus extension is not there\. Install it/)
    await store.close()
  })
})

const cluster = namedCluster
if (!cluster) {
  it('the PostgreSQL store on a cluster', {
    skip: 'LETHE_TEST_CITUS names no database with the Citus extension',
  })
} else {
  const stores = new Map<string, Promise<string>>()
  const endings: (() => void | Promise<void>)[] = []
  const lifetime = { after: (work: () => void | Promise<void>) => void endings.push(work) }

  storeContract('the PostgreSQL store on a cluster', async (folder) => {
    const address = stores.get(folder) ?? freshDistributedStore(lifetime, cluster)
    stores.set(folder, address)
    return openPostgresStore(await address)
  })

  describe('a store on a cluster', () => {
    it('keeps what it held when it is spread, and nothing of it on the coordinator', async () => {
      const address = await freshSchema(lifetime, cluster)
      const alone = await openPostgresStore(address)
      await alone.organisations.create({ id: 'acme', name: 'Acme', plan: 'free', createdAt: 1 })
      await alone.trackers.create({ id: 'shop', organisationId: 'acme', name: 'Shop', createdAt: 1 })
      const rows = Array.from({ length: 500 }, (_, i) =>
        eventRow({ trackerId: 'shop', subjectId: `s${i}`, eventId: 'e', occurredAt: i }),
      )
      await alone.ingest.ingest(rows, testKeys)
      await alone.maintenance.distribute()
      await alone.maintenance.distribute()
      await alone.close()
      const spread = await openPostgresStore(address)
      const view = { organisationId: 'acme', trackerId: 'shop', since: always }
      assert.equal((await spread.subjects.read(view, 's123'))?.counts.events, 1)
      assert.deepEqual(await eraseIn(spread, view, 's123'), { sessions: 1, events: 1 })
      assert.equal(await spread.subjects.read(view, 's123'), null)
      await spread.close()
      const kinds = await query(
        address,
        `SELECT relname, partmethod FROM pg_class LEFT JOIN pg_dist_partition ON oid = logicalrelid
         WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r' ORDER BY 1`,
      )
      const those = (kind: string | null) =>
        kinds.filter(({ partmethod }) => partmethod === kind).map(({ relname }) => relname)
      const spreadTables = ['events', 'identifiers', 'ledger_entries', 'sessions', 'subjects', 'tombstones']
      assert.deepEqual(those('h'), spreadTables)
      assert.deepEqual(those(null), ['lethe_migrations'], 'every other table is on every node')
      const sizes = await query(
        address,
        `SELECT sum(pg_relation_size(name::regclass))::int AS bytes
         FROM unnest(ARRAY['subjects', 'sessions', 'events']) AS name`,
      )
      assert.deepEqual(sizes, [{ bytes: 0 }])
    })
  })

  after(async () => {
    for (const end of endings) await end()
  })
}
