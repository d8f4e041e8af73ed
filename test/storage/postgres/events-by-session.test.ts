import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Client } from 'pg'
import type { IncomingRow } from '../../../src/domain/ingest.ts'
import { withClient } from '../../../src/storage/postgres/connect.ts'
import { keepInterleaved } from '../../../src/storage/postgres/interleaving.ts'
import { subjectKeyText } from '../../../src/storage/postgres/lock-subjects.ts'
import { migrate, migrations } from '../../../src/storage/postgres/migrate.ts'
import { openPostgresStore } from '../../../src/storage/postgres/open-postgres-store.ts'
import { listOfSession } from '../../../src/storage/postgres/session.ts'
import { behindAll } from '../../../src/storage/postgres/subject.ts'
import type { Run } from '../../../src/storage/postgres/transaction.ts'
import { addShop } from '../../support/filled-store.ts'
import { freshDatabase, freshStore } from '../../support/fresh-database.ts'
import { inReverse } from '../../support/in-reverse.ts'
import { connectTo } from '../../support/raw-postgres.ts'
import { always, eventRow } from '../../support/rows.ts'
import type { Lifetime } from '../../support/service.ts'
import { testKeys } from '../../support/test-keyring.ts'

const tracker = { organisationId: 'acme', trackerId: 'shop', since: always }
const first = { limit: 200, after: null }

/** Three thousand events of one session, and ten of another spread over the same time. */
const rows: IncomingRow[] = Array.from({ length: 3_010 }, (_, number) =>
  eventRow({
    ...{ subjectId: 'anna', eventId: `e${number}`, occurredAt: number },
    sessionId: number % 301 === 0 ? 'rare' : 'busy',
  }),
)

/** A store with the tracker `shop`, which holds nothing yet. */
async function openShop(lifetime: Lifetime) {
  const url = await freshStore(lifetime)
  const store = await openPostgresStore(url)
  lifetime.after(() => store.close())
  await addShop(store)
  return { url, store }
}

describe('the events of a session among many others, on PostgreSQL', () => {
  it('are found by an index, with a generic plan', async (t) => {
    const lifetime = inReverse(t)
    const { url, store } = await openShop(lifetime)
    await store.ingest.ingest(rows, testKeys)
    const listed = await store.events.list(tracker, 'anna', { ...first, sessionId: 'rare' })
    assert.equal(listed?.rows.length, 10)
    const client = await connectTo(lifetime, url)
    // The same settings as for reading in connections.ts.
    await client.query('SET plan_cache_mode = force_generic_plan; SET jit = off; SET enable_seqscan = off')
    await client.query('SET enable_bitmapscan = off; SET enable_sort = off')
    await client.query(
      `PREPARE page (uuid, text, bigint, bigint, text, bigint, text) AS ${listOfSession.withTracker.text}`,
    )
    const key = subjectKeyText('shop', 'anna')
    const { rows: steps } = await client.query(
      `EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) EXECUTE page ('${key}', 'acme', 0, ${behindAll}, '', 201, 'rare')`,
    )
    const plan = steps.map((step) => step['QUERY PLAN']).join('\n')
    assert.match(plan, /Index Scan Backward using events_by_session on events \(actual rows=10/, plan)
    assert.doesNotMatch(plan, /Rows Removed by Filter: [1-9]\d\d/, plan)
    assert.doesNotMatch(plan, /Sort Key/, plan)
  })

  it('are in the index only if sessions overlap others with many events', async (t) => {
    const lifetime = inReverse(t)
    const { url, store } = await openShop(lifetime)
    const client = await connectTo(lifetime, url)
    const storeAndCount = async (rows: IncomingRow[]) => {
      await store.ingest.ingest(rows, testKeys)
      const sql = 'SELECT count(*)::int AS indexed FROM events WHERE interleaved = 1'
      return (await client.query(sql)).rows[0].indexed
    }
    // Ten events each, the last of them after the start of the next session.
    const visits = (from: number, to: number) =>
      Array.from({ length: (to - from) * 10 }, (_, index) => {
        const [visit, event] = [from + Math.floor(index / 10), index % 10]
        const occurredAt = visit * 1_000 + event * 120
        return eventRow({
          ...{ subjectId: 'anna', sessionId: `s${visit}`, eventId: `${visit}-${event}`, occurredAt },
        })
      })
    assert.equal(await storeAndCount(visits(0, 110)), 0)
    assert.equal(await storeAndCount(visits(110, 150)), 0)
    const end = eventRow({ subjectId: 'anna', sessionId: 's0', eventId: 'end', occurredAt: 149_000 })
    assert.equal(await storeAndCount([end]), 1_501)
  })

  it('are checked session by session, unless a batch changes a tenth of all sessions', async (t) => {
    const lifetime = inReverse(t)
    const { url, store } = await openShop(lifetime)
    const sessionCount = 2_000
    const visits = Array.from({ length: sessionCount }, (_, n) =>
      eventRow({ subjectId: 'anna', sessionId: `s${n}`, eventId: `e${n}`, occurredAt: n * 1_000 }),
    )
    await store.ingest.ingest(visits, testKeys)
    const asked: string[] = []
    const grow = (changed: number) =>
      withClient(url, (client) => {
        const run: Run = async ({ text }, given) => {
          asked.push(text)
          const { rows, rowCount } = await client.query(text, Array.isArray(given) ? given : [])
          return { rows, count: rowCount ?? 0 }
        }
        const sessions = visits
          .slice(0, changed)
          .map(({ sessionId, occurredAt: at }) => ({ sessionId, startedAt: at, endedAt: at }))
        const growth = { before: sessionCount, after: sessionCount + 1, sessions, sessionCount }
        return keepInterleaved(run, { ...growth, key: subjectKeyText('shop', 'anna'), isInterleaved: false })
      })
    await grow(199)
    assert.equal(asked.length, 1)
    assert.doesNotMatch(asked.join(), /WINDOW/)
    await grow(200)
    assert.match(asked.join(), /WINDOW/)
  })

  it('are in the index after an upgrade too, if sessions overlap and events are many', async (t) => {
    const lifetime = inReverse(t)
    const url = await freshDatabase(lifetime)
    const client = new Client(url)
    await client.connect()
    await migrate(client, migrations().slice(0, 2))
    const key = subjectKeyText('shop', 'anna')
    await client.query(`INSERT INTO organisations VALUES ('acme', 'Acme', 'free', 1)`)
    await client.query(`INSERT INTO trackers VALUES ('shop', 'acme', 'Shop', 1)`)
    await client.query(
      `INSERT INTO events SELECT $1, n, 'e' || n, CASE WHEN n % 301 = 0 THEN 'rare' ELSE 'busy' END, 'pageview', '{}'
       FROM generate_series(0, 3009) AS n`,
      [key],
    )
    await client.query(
      `INSERT INTO sessions SELECT subject_key, session_id, min(occurred_at), max(occurred_at), count(*), '{}', NULL
       FROM events GROUP BY subject_key, session_id`,
    )
    await client.query(`INSERT INTO subjects VALUES ($1, 'shop', 'anna', 0, 3009, 0, 2, 3010)`, [key])
    await client.end()
    const store = await openPostgresStore(url)
    lifetime.after(() => store.close())
    const listed = await store.events.list(tracker, 'anna', { ...first, sessionId: 'rare' })
    assert.deepEqual(
      listed?.rows.map(({ occurredAt }) => occurredAt),
      Array.from({ length: 10 }, (_, index) => 301 * (9 - index)),
    )
    const after = await connectTo(lifetime, url)
    const { rows: marked } = await after.query(
      'SELECT count(*)::int AS events, (SELECT interleaved FROM subjects) AS subject FROM events WHERE interleaved = 1',
    )
    assert.deepEqual(marked, [{ events: 3_010, subject: 1 }])
  })
})
