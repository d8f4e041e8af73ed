import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { always, at, eventRow, sessionRow } from '../../support/rows.ts'
import type { Fixture } from './fixture.ts'

const start = at('2026-11-01T10:00:00.000Z')

export function subjectContract(fixture: Fixture): void {
  describe('reading a subject', () => {
    it('returns when it was seen, its counts and its attributes', async () => {
      const tracker = await fixture.createTracker()
      const { trackerId } = tracker
      const attributes = { country: 'DE', browser: 'Firefox' }
      await fixture.ingest([
        sessionRow({
          trackerId,
          subjectId: 'anna',
          sessionId: 's',
          startedAt: start,
          endedAt: start + 9,
          attributes,
        }),
        eventRow({ trackerId, subjectId: 'anna', sessionId: 's', eventId: 'e1', occurredAt: start + 1 }),
        eventRow({ trackerId, subjectId: 'anna', sessionId: 's', eventId: 'e2', occurredAt: start + 2 }),
      ])
      assert.deepEqual(await fixture.store.subjects.read(tracker, 'anna'), {
        subjectId: 'anna',
        firstSeenAt: start,
        lastSeenAt: start + 9,
        counts: { sessions: 1, events: 2 },
        identifiers: [],
        attributes,
      })
    })

    it('has the attributes of the session that started last, in any order of ingest', async () => {
      const tracker = await fixture.createTracker()
      const session = (sessionId: string, startedAt: number, endedAt: number) =>
        sessionRow({
          trackerId: tracker.trackerId,
          subjectId: 'anna',
          sessionId,
          startedAt,
          endedAt,
          attributes: { from: sessionId },
        })
      await fixture.ingest([session('newest', start + 50, start + 51)])
      await fixture.ingest([session('older', start, start + 100)])
      const record = await fixture.store.subjects.read(tracker, 'anna')
      assert.deepEqual(record?.attributes, { from: 'newest' })
      assert.equal(record?.lastSeenAt, start + 100)
    })

    it('uses the first in the session list, of sessions that started at the same time', async () => {
      const tracker = await fixture.createTracker()
      await fixture.ingest(
        ['a', '\uffff', '🦦', 'z'].map((sessionId) =>
          sessionRow({
            trackerId: tracker.trackerId,
            subjectId: 'anna',
            sessionId,
            attributes: { from: sessionId },
          }),
        ),
      )
      const [first] = await fixture.listSessions(tracker, 'anna')
      assert.equal(first?.sessionId, '🦦')
      assert.deepEqual((await fixture.store.subjects.read(tracker, 'anna'))?.attributes, { from: '🦦' })
    })

    it('answers each of many concurrent reads with its own subject', async () => {
      const [mine, theirs] = [await fixture.createTracker(), await fixture.createTracker()]
      const names = Array.from({ length: 20 }, (_, number) => `visitor-${number}`)
      await fixture.ingest(
        [mine, theirs].flatMap(({ trackerId }) =>
          names.flatMap((subjectId, number) => [
            sessionRow({
              trackerId,
              subjectId,
              sessionId: 's',
              startedAt: start + number,
              endedAt: start + number,
              attributes: { of: trackerId },
            }),
            eventRow({ trackerId, subjectId, sessionId: 's', eventId: 'e', occurredAt: start + number }),
          ]),
        ),
      )
      const later = { ...mine, since: start + 10 }
      const foreign = { ...mine, organisationId: theirs.organisationId }
      const asked = [...names, 'nobody'].flatMap((subjectId) =>
        [mine, later, foreign, theirs].map((view) => ({ view, subjectId })),
      )
      const told = await Promise.all(
        asked.map(({ view, subjectId }) => fixture.store.subjects.read(view, subjectId)),
      )
      for (const [place, { view, subjectId }] of asked.entries()) {
        assert.deepEqual(told[place], await fixture.store.subjects.read(view, subjectId))
        const number = names.indexOf(subjectId)
        const isThere = number >= 0 && view !== foreign && (view !== later || number >= 10)
        assert.equal(told[place]?.subjectId, isThere ? subjectId : undefined)
        if (isThere) assert.deepEqual(told[place]?.attributes, { of: view.trackerId })
      }
    })

    it('is null if the subject or tracker does not exist or is not visible', async () => {
      const tracker = await fixture.createTracker()
      const empty = await fixture.createTracker(tracker.organisationId)
      const organisationId = await fixture.createOrganisation()
      await fixture.ingest([eventRow({ trackerId: tracker.trackerId, subjectId: 'anna', eventId: 'e' })])
      assert.ok(await fixture.store.subjects.read(tracker, 'anna'))
      for (const subjectId of ['ann', 'annaa', 'Anna', 'anna ', '%', 'anna%', '']) {
        assert.equal(await fixture.store.subjects.read(tracker, subjectId), null, subjectId)
      }
      assert.equal(await fixture.store.subjects.read(empty, 'anna'), null)
      assert.equal(await fixture.store.subjects.read({ ...tracker, organisationId }, 'anna'), null)
      assert.equal(await fixture.store.subjects.read({ ...tracker, trackerId: 'nothing' }, 'anna'), null)
    })

    it('distinguishes the same ID in two trackers', async () => {
      const trackers = [await fixture.createTracker(), await fixture.createTracker()]
      for (const [i, { trackerId }] of trackers.entries()) {
        const events = Array.from({ length: i + 1 }, (_, n) =>
          eventRow({ trackerId, subjectId: 'anna', sessionId: `s${n}`, eventId: `e${n}` }),
        )
        await fixture.ingest(events)
      }
      for (const [i, tracker] of trackers.entries()) {
        const record = await fixture.store.subjects.read(tracker, 'anna')
        assert.deepEqual(record?.counts, { sessions: i + 1, events: i + 1 })
        assert.equal((await fixture.listEvents(tracker, 'anna')).length, i + 1)
        assert.equal((await fixture.listSessions(tracker, 'anna')).length, i + 1)
      }
    })

    it('distinguishes IDs that are equal when concatenated', async () => {
      const organisationId = await fixture.createOrganisation()
      const id = fixture.fresh('x')
      const pairs = [
        [id, 'yz'],
        [`${id}y`, 'z'],
      ] as const
      for (const [trackerId, subjectId] of pairs) {
        await fixture.store.trackers.create({ id: trackerId, organisationId, name: 'Shop', createdAt: 1 })
        await fixture.ingest([eventRow({ trackerId, subjectId, eventId: `of ${trackerId}` })])
      }
      for (const [trackerId, subjectId] of pairs) {
        const events = await fixture.listEvents({ organisationId, trackerId, since: always }, subjectId)
        assert.deepEqual(
          events.map(({ eventId }) => eventId),
          [`of ${trackerId}`],
        )
      }
    })
  })
  describe('counting subjects', () => {
    it('counts what is visible, up to the given limit', async () => {
      const tracker = await fixture.createTracker()
      const { trackerId } = tracker
      assert.equal(await fixture.store.subjects.count(tracker, 10), 0)
      await fixture.ingest(
        ['a', 'b', 'c'].map((subjectId, i) =>
          sessionRow({ trackerId, subjectId, sessionId: 's', startedAt: start + i, endedAt: start + i }),
        ),
      )
      assert.equal(await fixture.store.subjects.count(tracker, 10), 3)
      assert.equal(await fixture.store.subjects.count(tracker, 2), 2)
      assert.equal(await fixture.store.subjects.count({ ...tracker, since: start + 1 }, 10), 2)
      assert.equal(await fixture.store.subjects.count({ ...tracker, since: start + 3 }, 10), 0)
    })

    it('is null if the tracker is not visible', async () => {
      const tracker = await fixture.createTracker()
      const organisationId = await fixture.createOrganisation()
      assert.equal(await fixture.store.subjects.count({ ...tracker, organisationId }, 10), null)
      assert.equal(await fixture.store.subjects.count({ ...tracker, trackerId: 'nothing' }, 10), null)
    })
  })
}
