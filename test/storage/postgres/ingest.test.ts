import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { IncomingRow, PackedBatch } from '../../../src/domain/ingest.ts'
import { IngestQueue } from '../../../src/domain/ingest-queue.ts'
import { openPostgresStore } from '../../../src/storage/postgres/open-postgres-store.ts'
import { freshStore } from '../../support/fresh-database.ts'
import { inReverse } from '../../support/in-reverse.ts'
import { connectTo, waitForLocks } from '../../support/raw-postgres.ts'
import { eventRow } from '../../support/rows.ts'
import type { Lifetime } from '../../support/service.ts'
import { testKeys } from '../../support/test-keyring.ts'
import { until } from '../../support/until.ts'
import { Fixture } from '../contract/fixture.ts'

/** A store opened by two processes, and a third connection that holds locks. */
async function openTwice(t: Lifetime) {
  const lifetime = inReverse(t)
  const address = await freshStore(lifetime)
  const [one, other] = [await openPostgresStore(address), await openPostgresStore(address)]
  let closing: Promise<unknown> | null = null
  const close = async () => {
    closing ??= Promise.all([one.close(), other.close()])
    await closing
  }
  lifetime.after(close)
  const fixture = new Fixture()
  fixture.use(one)
  const [blocker, observer] = [await connectTo(lifetime, address), await connectTo(lifetime, address)]
  return {
    one,
    other,
    close,
    fixture,
    observer,
    async lock(rows: string, values: string[]): Promise<() => Promise<unknown>> {
      await blocker.query('BEGIN')
      await blocker.query(`SELECT FROM ${rows} FOR UPDATE`, values)
      return () => blocker.query('ROLLBACK')
    },
    /** Waits until this many connections wait for a lock. */
    areWaiting: (count: number) => waitForLocks(observer, count),
    packed: (...rows: IncomingRow[]): PackedBatch => ({ pieces: [one.ingest.pack(rows)], rows: rows.length }),
  }
}

describe('batches of two organisations', () => {
  it('do not deadlock with those of another process in the opposite order', async (t) => {
    const { one, other, close, fixture, observer, lock, areWaiting, packed } = await openTwice(t)
    const first = (await fixture.createTracker()).trackerId
    const second = (await fixture.createTracker()).trackerId
    const batch = (trackerId: string, subjectId: string) =>
      packed(eventRow({ trackerId, subjectId, eventId: 'e', identifiers: { userId: subjectId } }))
    await one.ingest.ingestAll([batch(first, 'known'), batch(second, 'known')], testKeys)
    const release = await lock('daily_events WHERE tracker_id = $1', [first])
    const forwards = one.ingest.ingestAll([batch(first, 'anna'), batch(second, 'anna')], testKeys)
    await areWaiting(1)
    const backwards = other.ingest.ingestAll([batch(second, 'ben'), batch(first, 'ben')], testKeys)
    await areWaiting(2)
    await release()
    const added = { subjects: 1, sessions: 1, events: 1 }
    assert.deepEqual(await forwards, [added, added])
    assert.deepEqual(await backwards, [added, added])
    await close()
    // A connection reports its deadlocks before it closes.
    await until(async () => {
      const ours = `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'lethe'`
      return (await observer.query(ours)).rowCount === 0
    })
    const { rows } = await observer.query(
      'SELECT deadlocks::int FROM pg_stat_database WHERE datname = current_database()',
    )
    assert.deepEqual(rows, [{ deadlocks: 0 }])
  })

  it('are stored while a batch of the first waits for a locked subject', async (t) => {
    const { one, fixture, lock, areWaiting, packed } = await openTwice(t)
    const waiting = await fixture.createTracker()
    const rival = await fixture.createTracker()
    const batch = ({ trackerId }: { trackerId: string }, subjectId: string, eventId = 'e') =>
      packed(eventRow({ trackerId, subjectId, eventId }))
    await one.ingest.ingestAll([batch(waiting, 'held')], testKeys)
    const bounds = { maxRows: 10_000, maxWaitingEach: 100, maxBlockedMs: 600_000 }
    const queue = new IngestQueue(one.ingest, testKeys, bounds)
    const release = await lock('subjects WHERE tracker_id = $1', [waiting.trackerId])
    const held = queue.add(waiting.organisationId, batch(waiting, 'held', 'later'))
    await areWaiting(1)
    const added = { subjects: 1, sessions: 1, events: 1 }
    assert.deepEqual(await queue.add(rival.organisationId, batch(rival, 'anna')), added)
    await areWaiting(1)
    // Other batches of the first organisation do not wait either.
    assert.deepEqual(await queue.add(waiting.organisationId, batch(waiting, 'anna')), added)
    assert.deepEqual(await queue.add(rival.organisationId, batch(rival, 'ben')), added)
    await release()
    assert.deepEqual(await held, { subjects: 0, sessions: 0, events: 1 })
    const counts = (await one.subjects.read(waiting, 'held'))?.counts
    assert.deepEqual(counts, { sessions: 1, events: 2 })
  })
})

describe('identifiers that two processes add to a subject at the same time', () => {
  it('are at most a thousand', async (t) => {
    const { one, other, fixture, lock, areWaiting } = await openTwice(t)
    const tracker = await fixture.createTracker()
    const { trackerId } = tracker
    const of = { trackerId, subjectId: 'anna' }
    const rows = (process: string) =>
      Array.from({ length: 600 }, (_, i) =>
        eventRow({ ...of, eventId: `${process}${i}`, identifiers: { userId: `${process}${i}` } }),
      )
    await one.ingest.ingest([eventRow({ ...of, eventId: 'first' })], testKeys)
    const release = await lock('subjects WHERE subject_id = $1', ['anna'])
    const adding = [one.ingest.ingest(rows('a'), testKeys), other.ingest.ingest(rows('b'), testKeys)]
    await areWaiting(2)
    await release()
    const results = await Promise.all(adding)
    const refused = [{ trackerId, rows: 200, reason: 'identifiers' }]
    assert.deepEqual(
      results.flatMap((result) => result.refused ?? []),
      refused,
    )
    const subject = await one.subjects.read(tracker, 'anna')
    assert.equal(subject?.identifiers.length, 1_000)
    assert.deepEqual(subject?.counts, { sessions: 1, events: 1_001 })
  })
})
