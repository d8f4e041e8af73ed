import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import { subjectKeyText } from '../../../src/storage/postgres/lock-subjects.ts'
import { openPostgresStore } from '../../../src/storage/postgres/open-postgres-store.ts'
import { freshDistributedStore, freshSchema, namedCluster } from '../../support/citus.ts'
import { addShop } from '../../support/filled-store.ts'
import { freshStore } from '../../support/fresh-database.ts'
import { query } from '../../support/raw-postgres.ts'
import { always, eventRow, sessionRow } from '../../support/rows.ts'
import { eraseIn, testKeys, testMark } from '../../support/test-keyring.ts'
import { storeContract } from '../contract.ts'

describe('distributing a store over a cluster', () => {
  it('is refused without the extension, with instructions', async (t) => {
    const store = await openPostgresStore(await freshStore(t))
    await assert.rejects(store.maintenance.distribute(), /The Citus extension is not installed\. Install it/)
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
    it('keeps its data when it is distributed, and none of it on the coordinator', async () => {
      const address = await freshSchema(lifetime, cluster)
      const alone = await openPostgresStore(address)
      await addShop(alone)
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
      assert.deepEqual(those('h'), ['events', 'identifiers', 'sessions', 'subjects'])
      assert.deepEqual(those('n'), ['scrubs'])
      assert.equal(those(null).includes('activity'), true, 'everything else is on the coordinator alone')
      const sizes = await query(
        address,
        `SELECT sum(pg_relation_size(name::regclass))::int AS bytes
         FROM unnest(ARRAY['subjects', 'sessions', 'events']) AS name`,
      )
      assert.deepEqual(sizes, [{ bytes: 0 }])
    })

    it('lists every subject, even if one shard holds all of them', async () => {
      const address = await freshDistributedStore(lifetime, cluster)
      const store = await openPostgresStore(address)
      await addShop(store)
      const candidates = Array.from(
        { length: 3_000 },
        (_, i) => `('s${i}', '${subjectKeyText('shop', `s${i}`)}'::uuid)`,
      )
      const together = await query(
        address,
        `SELECT id FROM (VALUES ${candidates}) AS candidates (id, key)
         WHERE get_shard_id_for_distribution_column('subjects', key) =
           (SELECT min(shardid) FROM pg_dist_shard WHERE logicalrelid = 'subjects'::regclass) ORDER BY id LIMIT 40`,
      )
      const ids = together.map(({ id }) => String(id))
      assert.equal(ids.length, 40)
      const rows = ids.map((subjectId) =>
        eventRow({ trackerId: 'shop', subjectId, eventId: 'e', occurredAt: 1 }),
      )
      await store.ingest.ingest(rows, testKeys)
      const view = { organisationId: 'acme', trackerId: 'shop', since: always }
      const filters = { after: null, subjectIdPrefix: null, lastSeenAfter: null, lastSeenBefore: null }
      const page = await store.subjects.list(view, { ...filters, limit: 40, sort: 'subjectId' })
      assert.deepEqual(
        page?.rows.map(({ subjectId }) => subjectId),
        ids.toSorted(),
      )
      assert.equal(page?.next, null)
      await store.close()
    })

    it('commits on both the coordinator and a worker, or on neither', async () => {
      const address = await freshDistributedStore(lifetime, cluster)
      const store = await openPostgresStore(address)
      await addShop(store)
      const view = { organisationId: 'acme', trackerId: 'shop', since: always }
      const line = { subjectId: 'ada', sessionId: 's' }
      const { ingest, subjects } = store
      await ingest.ingest([sessionRow({ ...line, attributes: { a: 1 } })], testKeys)
      const changes = {
        'a new attribute': () =>
          ingest.ingest([sessionRow({ ...line, endedAt: Date.now(), attributes: { a: 2 } })], testKeys),
        'an erasure': () => subjects.erase(view, 'ada', testMark(view, 'ada', 0), undefined),
      }
      for (const [what, change] of Object.entries(changes)) {
        const before = await preparedSoFar(address)
        await change()
        assert.ok((await preparedSoFar(address)) > before, what)
      }
      await store.close()
    })
  })

  after(async () => {
    for (const end of endings) await end()
  })
}

/** The number of transactions prepared on workers, of which the coordinator keeps rows for some time. */
async function preparedSoFar(address: string): Promise<number> {
  const [row] = await query(
    address,
    `SELECT coalesce(max(split_part(gid, '_', 4)::bigint), 0) AS number FROM pg_dist_transaction`,
  )
  return Number(row?.number)
}
