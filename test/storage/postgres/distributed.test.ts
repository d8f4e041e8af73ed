import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import { openPostgresStore } from '../../../src/storage/postgres/open-postgres-store.ts'
import { freshDistributedStore, freshSchema, namedCluster, query } from '../../support/citus.ts'
import { freshDatabase } from '../../support/fresh-database.ts'
import { always, eventRow } from '../../support/rows.ts'
import { eraseIn, testKeys } from '../../support/test-keyring.ts'
import { storeContract } from '../contract.ts'

describe('spreading a store over a cluster', () => {
  it('is refused where the extension is not there, with what to do about it', async (t) => {
    const store = await openPostgresStore(await freshDatabase(t))
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
        `SELECT relname, partmethod FROM pg_dist_partition JOIN pg_class ON oid = logicalrelid
         WHERE relnamespace = current_schema()::regnamespace ORDER BY 1`,
      )
      assert.deepEqual(
        kinds.map(({ relname, partmethod }) => `${relname} ${partmethod}`),
        [
          'activity n',
          'api_keys n',
          'daily_events n',
          'daily_sessions n',
          'events h',
          'ledger_entries h',
          'members n',
          'organisations n',
          'retention_windows n',
          'scrubs n',
          'secrets n',
          'sessions h',
          'sign_ins n',
          'subjects h',
          'sweeps n',
          'tombstones h',
          'trackers n',
        ],
      )
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
