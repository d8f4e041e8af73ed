import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { TrackerView } from '../../../src/domain/tracker.ts'
import { at, eventRow, sessionRow } from '../../support/rows.ts'
import { eraseIn, testKeyring, testMark } from '../../support/test-keyring.ts'
import { everySubject, type Fixture } from './fixture.ts'

const start = at('2026-11-01T10:00:00.000Z')
const later = start + 86_400_000
const nothing = { sessions: 0, events: 0 }

export function erasureContract(fixture: Fixture): void {
  /** Adds a subject with three events and two sessions, one of them without events. */
  async function addSubject({ trackerId }: TrackerView, subjectId: string): Promise<void> {
    await fixture.ingest([
      sessionRow({
        trackerId,
        subjectId,
        sessionId: 's1',
        startedAt: start,
        attributes: { country: 'DE' },
      }),
      ...['e1', 'e2', 'e3'].map((eventId) => eventRow({ trackerId, subjectId, sessionId: 's2', eventId })),
    ])
  }

  describe('erasing a subject', () => {
    it('returns what it deleted, and leaves nothing to find', async () => {
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

    it('returns zeros the second time, and for a subject never seen', async () => {
      const tracker = await fixture.createTracker()
      await addSubject(tracker, 'anna')
      await eraseIn(fixture.store, tracker, 'anna')
      assert.deepEqual(await eraseIn(fixture.store, tracker, 'anna'), nothing)
      assert.deepEqual(await eraseIn(fixture.store, tracker, 'nobody'), nothing)
    })

    it('deletes a subject that has only sessions', async () => {
      const tracker = await fixture.createTracker()
      await fixture.ingest([sessionRow({ trackerId: tracker.trackerId, subjectId: 'anna', sessionId: 's' })])
      assert.deepEqual(await eraseIn(fixture.store, tracker, 'anna'), { sessions: 1, events: 0 })
      assert.equal(await fixture.store.subjects.read(tracker, 'anna'), null)
    })

    it('leaves every other subject unchanged', async () => {
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

    it('returns null and deletes nothing if the tracker is not visible', async () => {
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

    it('is reported once if requested many times concurrently', async () => {
      const tracker = await fixture.createTracker()
      await addSubject(tracker, 'anna')
      const counts = await Promise.all(
        Array.from({ length: 20 }, () => eraseIn(fixture.store, tracker, 'anna')),
      )
      const reports = counts.filter((count) => count?.sessions !== 0 || count?.events !== 0)
      assert.deepEqual(reports, [{ sessions: 2, events: 3 }])
    })

    it('reports all data ingested at the same time, except what it refuses', async () => {
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
          fixture.ingest([event]),
          eraseIn(fixture.store, tracker, 'anna'),
        ])
        assert.equal(added.events + (added.ofErased ?? 0), 1)
        return (erased?.events ?? 0) + (added.ofErased ?? 0)
      })
      const erased = (await Promise.all(work)).reduce((sum, events) => sum + events, 0)
      const left = (await fixture.store.subjects.read(tracker, 'anna'))?.counts.events ?? 0
      assert.equal(erased + left, 3 + 20)
    })

    it('handles each of many concurrent erasures separately', async () => {
      const tracker = { ...(await fixture.createTracker()), since: start - 3_600_000 }
      const sibling = { ...(await fixture.createTracker(tracker.organisationId)), since: tracker.since }
      const other = await fixture.createTracker()
      const hidden = { ...tracker, organisationId: other.organisationId }
      const { trackerId } = tracker
      const event = (subjectId: string, eventId: string, occurredAt = start) =>
        eventRow({ trackerId, subjectId, eventId, occurredAt })
      for (const subjectId of ['anna', 'ben', 'cleo', 'stays']) await addSubject(tracker, subjectId)
      for (const each of [sibling, other]) await addSubject(each, 'anna')
      const large = Array.from({ length: 1_001 }, (_, number) => event('large', `e${number}`))
      const unusual = [
        event('aged', 'old', tracker.since - 1),
        event('aged', 'new'),
        event('ahead', 'e', later),
      ]
      await fixture.ingest([...large, ...unusual])
      const whole = { sessions: 2, events: 3 }
      const asked: [view: TrackerView, subjectId: string, counts: typeof whole | null][] = [
        [tracker, 'ben', whole],
        [sibling, 'anna', whole],
        [hidden, 'cleo', null],
        [tracker, 'large', { sessions: 1, events: 1_001 }],
        [tracker, 'nobody', nothing],
        [tracker, 'aged', { sessions: 1, events: 1 }],
        [other, 'anna', whole],
        [tracker, 'ahead', { sessions: 1, events: 1 }],
        [tracker, 'cleo', whole],
      ]
      const erase = (view: TrackerView, subjectId: string) =>
        fixture.store.subjects.erase(view, subjectId, testMark(view, subjectId, later - 1))
      const [twice, ...erased] = await Promise.all([
        Promise.all(['anna', 'anna'].map((subjectId) => erase(tracker, subjectId))),
        ...asked.map(([view, subjectId]) => erase(view, subjectId)),
      ])
      assert.deepEqual(
        erased.map((one) => one?.counts ?? null),
        asked.map(([, , counts]) => counts),
      )
      assert.deepEqual(twice.map((one) => one?.counts.events).toSorted(), [0, 3])
      assert.deepEqual(await fixture.listSubjectIds(tracker), ['stays'])
      assert.equal((await fixture.store.ledger.head(tracker.organisationId))?.frontier.size, 9)
      assert.equal((await fixture.store.ledger.head(other.organisationId))?.frontier.size, 1)
      for (const [index, one] of erased.entries()) {
        const [view, subjectId] = asked[index] ?? assert.fail()
        const digests = testKeyring.tombstoneDigests(view.trackerId, subjectId)
        const found = await fixture.store.tombstones.find(view, digests, { limit: 9, before: null })
        const until = subjectId === 'ahead' ? later : later - 1
        const expected = one ? [[one.proof.index, until]] : []
        assert.deepEqual(
          found.map(({ ledgerIndex, refusedUntil }) => [ledgerIndex, refusedUntil]),
          expected,
        )
        assert.equal(one?.refusedUntil ?? until, until)
      }
    })

    it('lets the subject start again, without earlier data', async () => {
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
      assert.deepEqual(await fixture.ingest([event]), {
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
