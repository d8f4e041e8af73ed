import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { openPostgresStore } from '../../../src/storage/postgres/open-postgres-store.ts'
import { withDatabase } from '../../robustness/fleet/fleet.ts'
import {
  citusPrograms,
  freshDistributedStore,
  freshSchema,
  namedCluster,
  query,
  startCitus,
} from '../../support/citus.ts'
import { inReverse } from '../../support/in-reverse.ts'
import { always, eventRow } from '../../support/rows.ts'
import { testKeys } from '../../support/test-keyring.ts'
import { until } from '../../support/until.ts'
import { shardTests } from './shards.ts'

const programs = citusPrograms()
const skip =
  !namedCluster && !programs && 'no Citus extension is installed, and LETHE_TEST_CITUS names no cluster'

describe('on a cluster', { skip }, () => {
  const lifetime = inReverse({ after })
  let address = ''
  let cluster = ''
  before(async () => {
    cluster = namedCluster ?? (await startCitus(lifetime, programs ?? ''))
    address = await freshDistributedStore(lifetime, cluster)
  })
  shardTests(() => address)

  it('a subject can be read while the data moves', async () => {
    const alone = await freshSchema(lifetime, cluster)
    const store = await openPostgresStore(alone)
    await store.organisations.create({ id: 'acme', name: 'Acme', plan: 'free', createdAt: 1 })
    await store.trackers.create({ id: 'shop', organisationId: 'acme', name: 'Shop', createdAt: 1 })
    const row = eventRow({ trackerId: 'shop', subjectId: 'ada', eventId: 'e', occurredAt: 1 })
    await store.ingest.ingest([row], testKeys)
    await withDatabase(alone, async (client) => {
      await client.query('BEGIN; LOCK TABLE events IN ROW EXCLUSIVE MODE')
      const distributing = store.maintenance.distribute()
      // Subjects and sessions are moved, and the next table waits for this transaction.
      await until(async () => {
        const waiting = `SELECT 1 FROM pg_locks WHERE relation = 'events'::regclass AND NOT granted`
        return (await query(alone, waiting)).length > 0
      })
      const view = { organisationId: 'acme', trackerId: 'shop', since: always }
      assert.equal((await store.subjects.read(view, 'ada'))?.counts.events, 1)
      await client.query('COMMIT')
      await distributing
    })
    await store.close()
  })
})
