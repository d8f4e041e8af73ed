import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Client } from 'pg'
import { BatchBlocked } from '../../../src/domain/ingest.ts'
import type { Store } from '../../../src/domain/store.ts'
import { subjectKeyText } from '../../../src/storage/postgres/lock-subjects.ts'
import { openPostgresStore } from '../../../src/storage/postgres/open-postgres-store.ts'
import { withDatabase } from '../../robustness/fleet/fleet.ts'
import {
  citusPrograms,
  freshDistributedStore,
  freshSchema,
  namedCluster,
  startCitus,
} from '../../support/citus.ts'
import { addShop } from '../../support/filled-store.ts'
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

  /** A store with one subject that is not distributed yet. */
  async function openAlone(): Promise<{ alone: string; store: Store }> {
    const alone = await freshSchema(lifetime, cluster)
    const store = await openPostgresStore(alone)
    await addShop(store)
    const row = eventRow({ trackerId: 'shop', subjectId: 'ada', eventId: 'e', occurredAt: 1 })
    await store.ingest.ingest([row], testKeys)
    return { alone, store }
  }
  /** Waits until a query is blocked on one of the tables. */
  const isWaitedFor = (client: Client, tables: string) =>
    until(async () => {
      const waiting = `SELECT FROM pg_locks WHERE relation = ANY ('{${tables}}'::regclass[]) AND NOT granted`
      return (await client.query(waiting)).rowCount !== 0
    })

  it('a subject can be read while the data moves', async () => {
    const { alone, store } = await openAlone()
    await withDatabase(alone, async (client) => {
      await client.query('BEGIN; LOCK TABLE events IN ROW EXCLUSIVE MODE')
      const distributing = store.maintenance.distribute()
      // Subjects and sessions are moved; the next table waits for this transaction.
      await isWaitedFor(client, 'events')
      const view = { organisationId: 'acme', trackerId: 'shop', since: always }
      assert.equal((await store.subjects.read(view, 'ada'))?.counts.events, 1)
      await client.query('COMMIT')
      await distributing
    })
    await store.close()
  })

  /** The tables of which the coordinator still holds rows. */
  const localCopies = (client: Client) =>
    client
      .query(
        `SELECT name FROM unnest('{subjects,sessions,events,identifiers}'::text[]) AS name
         WHERE pg_relation_size(name::regclass) > 0 ORDER BY 1`,
      )
      .then(({ rows }) => rows.map(({ name }) => String(name)))

  const repairs = {
    'when it is opened': async (alone: string) => (await openPostgresStore(alone)).close(),
    'when the command is run again': (_: string, store: Store) => store.maintenance.distribute(),
  }
  for (const [when, repair] of Object.entries(repairs)) {
    it(`a store loses the copy that a killed command left on the coordinator ${when}`, async () => {
      const { alone, store } = await openAlone()
      await withDatabase(alone, async (client) => {
        // The data can be moved during this transaction, but the copy cannot be removed.
        await client.query('BEGIN; LOCK TABLE sessions IN ACCESS SHARE MODE')
        const killed = assert.rejects(store.maintenance.distribute())
        await isWaitedFor(client, 'sessions')
        await client.query(
          `SELECT pg_terminate_backend(pid) FROM pg_locks WHERE relation = 'sessions'::regclass AND NOT granted`,
        )
        await killed
        await client.query('COMMIT')
        assert.deepEqual(await localCopies(client), ['events', 'sessions'])
        await repair(alone, store)
        assert.deepEqual(await localCopies(client), [])
      })
      await store.close()
      const opened = await openPostgresStore(alone)
      const view = { organisationId: 'acme', trackerId: 'shop', since: always }
      assert.equal((await opened.subjects.read(view, 'ada'))?.counts.events, 1)
      await opened.close()
    })
  }

  const transactions = {
    batch: ['SELECT FROM trackers FOR KEY SHARE', 'UPDATE subjects SET event_count = event_count'],
    read: ['SELECT FROM subjects', 'SELECT FROM trackers'],
  }
  for (const [what, [first, second = '']] of Object.entries(transactions)) {
    it(`the data begins to move after a ${what} that is going on, without a deadlock`, async () => {
      const { alone, store } = await openAlone()
      await withDatabase(alone, async (client) => {
        await client.query(`BEGIN; ${first}`)
        const moved = assert.doesNotReject(store.maintenance.distribute())
        await isWaitedFor(client, 'trackers,subjects')
        await client.query(second)
        await client.query('COMMIT')
        await moved
      })
      await store.close()
    })
  }

  it('a batch waits no longer for a subject on a worker than on one machine', async () => {
    const remote = new URL(await freshDistributedStore(lifetime, cluster))
    const options = remote.searchParams.get('options')
    // The only node is then reached like a remote one, through connections that inherit no settings.
    remote.searchParams.set('options', `${options} -c citus.enable_local_execution=off`)
    const store = await openPostgresStore(remote.href)
    await addShop(store)
    const batch = (eventId: string) => {
      const rows = [eventRow({ trackerId: 'shop', subjectId: 'ada', eventId, occurredAt: 1 })]
      return { pieces: [store.ingest.pack(rows)], rows: 1 }
    }
    await store.ingest.ingestAll([batch('first')], testKeys)
    await withDatabase(remote.href, async (client) => {
      const key = subjectKeyText('shop', 'ada')
      await client.query(`BEGIN; SELECT FROM subjects WHERE subject_key = '${key}' FOR UPDATE`)
      await assert.rejects(store.ingest.ingestAll([batch('second')], testKeys), BatchBlocked)
      await client.query('COMMIT')
    })
    assert.equal((await store.ingest.ingestAll([batch('second')], testKeys))[0]?.events, 1)
    await store.close()
  })
})
