import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { TrackerView } from '../../../src/domain/tracker.ts'
import { at, eventRow, sessionRow } from '../../support/rows.ts'
import { eraseIn, testKeys } from '../../support/test-keyring.ts'
import { everySubject, type Fixture } from './fixture.ts'

const start = at('2026-11-01T10:00:00.000Z')
const later = start + 86_400_000
const nothing = { sessions: 0, events: 0 }

export function erasureContract(fixture: Fixture): void {
  /** A subject of two sessions, one of them without events, and three events. */
  async function addSubject({ trackerId }: TrackerView, subjectId: string): Promise<void> {
    await fixture.store.ingest.ingest(
      [
        sessionRow({
          trackerId,
          subjectId,
          sessionId: 's1',
          startedAt: start,
          attributes: { country: 'DE' },
        }),
        ...['e1', 'e2', 'e3'].map((eventId) => eventRow({ trackerId, subjectId, sessionId: 's2', eventId })),
      ],
      testKeys,
    )
  }

  describe('erasing a subject', () => {
    it('tells what it deleted, and leaves nothing to be found', async () => {
      const tracker = await fixture.createTracker()
      await addSubject(tracker, 'anna')
      assert.deepEqual(await eraseIn(fixture.store, tracker, 'anna'), { sessions: 2, events: 3 })
      assert.equal(await fixture.store.subjects.read(tracker, 'anna'), null)
      assert.equal(await fixture.store.sessions.list(tracker, 'anna', { limit: 10, after: null }), null)
      const query = { limit: 10, after: null, sessionId: null }
      assert.equal(await fixture.store.events.list(tracker, 'anna', query), null)
      assert.equal(await fixture.store.events.list(tracker, 'anna', { ...query, sessionId: 's2' }), null)
      for (const sort of ['subjectId', 'lastSeenAt', '-lastSeenAt'] as const) {
        const page = await fixture.store.subjects.list(tracker, { ...everySubject, sort })
        assert.deepEqual(page, { rows: [], next: null })
      }
    })

    it('tells zeros the second time, and for one that was never seen', async () => {
      const tracker = await fixture.createTracker()
      await addSubject(tracker, 'anna')
      await eraseIn(fixture.store, tracker, 'anna')
      assert.deepEqual(await eraseIn(fixture.store, tracker, 'anna'), nothing)
      assert.deepEqual(await eraseIn(fixture.store, tracker, 'nobody'), nothing)
    })

    it('reaches one that has sessions alone', async () => {
      const tracker = await fixture.createTracker()
      await fixture.store.ingest.ingest(
        [sessionRow({ trackerId: tracker.trackerId, subjectId: 'anna', sessionId: 's' })],
        testKeys,
      )
      assert.deepEqual(await eraseIn(fixture.store, tracker, 'anna'), { sessions: 1, events: 0 })
      assert.equal(await fixture.store.subjects.read(tracker, 'anna'), null)
    })

    it('leaves every other subject as it was', async () => {
      const tracker = await fixture.createTracker()
      const sibling = await fixture.createTracker(tracker.organisationId)
      const others = ['ann', 'annaa', 'Anna', 'anna ', '%', 'ann_', 'änna', '🦦']
      for (const subjectId of ['anna', ...others]) await addSubject(tracker, subjectId)
      await addSubject(sibling, 'anna')
      const before = [await fixture.readAll(tracker), await fixture.readAll(sibling)]
      await eraseIn(fixture.store, tracker, 'anna')
      const expected = [before[0]?.filter(({ record }) => record.subjectId !== 'anna'), before[1]]
      assert.deepEqual([await fixture.readAll(tracker), await fixture.readAll(sibling)], expected)
      assert.deepEqual(await eraseIn(fixture.store, tracker, '%'), { sessions: 2, events: 3 })
      assert.equal((await fixture.listSubjectIds(tracker)).length, others.length - 1)
    })

    it('is null, with nothing deleted, when the tracker is not visible', async () => {
      const tracker = await fixture.createTracker()
      await addSubject(tracker, 'anna')
      const organisationId = await fixture.createOrganisation()
      assert.equal(await eraseIn(fixture.store, { ...tracker, organisationId }, 'anna'), null)
      assert.equal(await eraseIn(fixture.store, { ...tracker, organisationId: 'nobody' }, 'anna'), null)
      assert.equal(await eraseIn(fixture.store, { ...tracker, trackerId: 'nothing' }, 'anna'), null)
      const [anna] = await fixture.readAll(tracker)
      assert.deepEqual(anna?.record.counts, { sessions: 2, events: 3 })
      assert.equal(anna?.events.length, 3)
    })

    it('is reported once when many ask concurrently', async () => {
      const tracker = await fixture.createTracker()
      await addSubject(tracker, 'anna')
      const counts = await Promise.all(
        Array.from({ length: 20 }, () => eraseIn(fixture.store, tracker, 'anna')),
      )
      const reports = counts.filter((count) => count?.sessions !== 0 || count?.events !== 0)
      assert.deepEqual(reports, [{ sessions: 2, events: 3 }])
    })

    it('reports all of it when data comes in at the same time, but for what it keeps out', async () => {
      const tracker = await fixture.createTracker()
      await addSubject(tracker, 'anna')
      const work = Array.from({ length: 20 }, async (_, i) => {
        const event = eventRow({
          trackerId: tracker.trackerId,
          subjectId: 'anna',
          sessionId: 's2',
          eventId: `late${i}`,
          occurredAt: start + i,
        })
        const [added, erased] = await Promise.all([
          fixture.store.ingest.ingest([event], testKeys),
          eraseIn(fixture.store, tracker, 'anna'),
        ])
        assert.equal(added.events + (added.ofErased ?? 0), 1)
        return (erased?.events ?? 0) + (added.ofErased ?? 0)
      })
      const erased = (await Promise.all(work)).reduce((sum, events) => sum + events, 0)
      const left = (await fixture.store.subjects.read(tracker, 'anna'))?.counts.events ?? 0
      assert.equal(erased + left, 3 + 20)
    })

    it('lets the subject begin anew, with nothing of before', async () => {
      const tracker = await fixture.createTracker()
      const { trackerId } = tracker
      await addSubject(tracker, 'anna')
      await eraseIn(fixture.store, tracker, 'anna')
      const event = eventRow({
        trackerId,
        subjectId: 'anna',
        sessionId: 's1',
        eventId: 'e9',
        occurredAt: later,
      })
      assert.deepEqual(await fixture.store.ingest.ingest([event], testKeys), {
        subjects: 1,
        sessions: 1,
        events: 1,
      })
      assert.deepEqual(await fixture.store.subjects.read(tracker, 'anna'), {
        subjectId: 'anna',
        firstSeenAt: later,
        lastSeenAt: later,
        counts: { sessions: 1, events: 1 },
        identifiers: [],
        attributes: {},
      })
    })
  })
}
