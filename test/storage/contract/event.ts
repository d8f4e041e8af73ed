import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { at, eventRow, sessionRow } from '../../support/rows.ts'
import { byCodePoints, type Fixture } from './fixture.ts'

const start = at('2026-11-01T10:00:00.000Z')

export function eventContract(fixture: Fixture): void {
  describe('the events of a subject', () => {
    it('are listed newest first, ties by ID', async () => {
      const tracker = await fixture.createTracker()
      const ids = ['a', 'B', 'b', '\uffff', '🦦', 'é', '10', '9', '%', "'"]
      const rows = ids.flatMap((eventId, i) =>
        [start, start + 1 + (i % 3)].map((occurredAt) =>
          eventRow({ trackerId: tracker.trackerId, subjectId: 'anna', eventId, occurredAt }),
        ),
      )
      await fixture.ingest(rows)
      const expected = rows
        .sort((a, b) => b.occurredAt - a.occurredAt || byCodePoints(b.eventId, a.eventId))
        .map(({ eventId, occurredAt }) => ({ eventId, occurredAt }))
      for (const sessionId of [null, 'session']) {
        for (const limit of [1, 7, 20]) {
          const listed = await fixture.listEvents(tracker, 'anna', { sessionId, limit })
          const seen = listed.map(({ eventId, occurredAt }) => ({ eventId, occurredAt }))
          assert.deepEqual(seen, expected, `pages of ${limit}`)
        }
      }
    })

    it('have everything that was collected', async () => {
      const tracker = await fixture.createTracker()
      const event = eventRow({
        trackerId: tracker.trackerId,
        subjectId: 'anna',
        sessionId: 's1',
        eventId: 'e1',
        name: 'add to cart 🛒',
        properties: { product: 'lamp', price: 12.5 },
      })
      await fixture.ingest([event])
      const { type: _type, trackerId: _trackerId, subjectId: _subjectId, ...stored } = event
      const query = { limit: 1, after: null, sessionId: null }
      assert.deepEqual(await fixture.store.events.list(tracker, 'anna', query), {
        rows: [stored],
        next: null,
      })
    })

    it('are only those of this subject', async () => {
      const tracker = await fixture.createTracker()
      const { trackerId } = tracker
      await fixture.ingest(
        ['anna', 'ben'].flatMap((subjectId) => [
          eventRow({ trackerId, subjectId, eventId: 'shared', name: subjectId }),
          eventRow({ trackerId, subjectId, eventId: `of ${subjectId}`, name: subjectId }),
        ]),
      )
      for (const sessionId of [null, 'session']) {
        const listed = await fixture.listEvents(tracker, 'ben', { sessionId })
        assert.deepEqual(
          listed.map(({ eventId, name }) => [eventId, name]),
          [
            ['shared', 'ben'],
            ['of ben', 'ben'],
          ],
        )
      }
    })

    it('are null if the subject or tracker does not exist or is not visible', async () => {
      const tracker = await fixture.createTracker()
      await fixture.ingest([eventRow({ trackerId: tracker.trackerId, subjectId: 'anna', eventId: 'e' })])
      const organisationId = await fixture.createOrganisation()
      for (const sessionId of [null, 'session']) {
        for (const after of [null, { occurredAt: start + 1, eventId: 'x' }]) {
          const query = { limit: 10, after, sessionId }
          assert.equal((await fixture.store.events.list(tracker, 'anna', query))?.rows.length, 1)
          assert.equal(await fixture.store.events.list(tracker, 'ben', query), null)
          assert.equal(await fixture.store.events.list({ ...tracker, organisationId }, 'anna', query), null)
          assert.equal(
            await fixture.store.events.list({ ...tracker, trackerId: 'nothing' }, 'anna', query),
            null,
          )
        }
      }
    })

    it('are an empty page if the subject has only sessions', async () => {
      const tracker = await fixture.createTracker()
      await fixture.ingest([sessionRow({ trackerId: tracker.trackerId, subjectId: 'anna', sessionId: 's' })])
      assert.deepEqual(await fixture.listEvents(tracker, 'anna'), [])
      assert.deepEqual(await fixture.listEvents(tracker, 'anna', { sessionId: 's' }), [])
    })

    it('are an empty page, not null, after the end', async () => {
      const tracker = await fixture.createTracker()
      await fixture.ingest([eventRow({ trackerId: tracker.trackerId, subjectId: 'anna', eventId: 'e' })])
      for (const sessionId of [null, 'session']) {
        const query = { limit: 10, after: { occurredAt: start, eventId: 'e' }, sessionId }
        assert.deepEqual(await fixture.store.events.list(tracker, 'anna', query), { rows: [], next: null })
      }
    })
  })

  describe('the events of a session', () => {
    it('are only its own, even if other sessions overlap', async () => {
      const tracker = await fixture.createTracker()
      const sessionIds = ['phone', 'laptop', 'tablet']
      const rows = Array.from({ length: 45 }, (_, i) =>
        eventRow({
          trackerId: tracker.trackerId,
          subjectId: 'anna',
          sessionId: sessionIds[(i * 7) % 3] ?? '',
          eventId: `e${String(i).padStart(2, '0')}`,
          // Events of different sessions share an instant.
          occurredAt: start + Math.floor(i / 4),
        }),
      )
      await fixture.ingest(rows)
      for (const sessionId of sessionIds) {
        const expected = rows
          .filter((row) => row.sessionId === sessionId)
          .map(({ eventId }) => eventId)
          .reverse()
        assert.equal(expected.length, 15)
        for (const limit of [1, 7, 15]) {
          const listed = await fixture.listEvents(tracker, 'anna', { sessionId, limit })
          assert.deepEqual(
            listed.map(({ eventId }) => eventId),
            expected,
            `${sessionId}, pages of ${limit}`,
          )
        }
      }
    })

    it('are all found, at its start, at its end and outside its row’s span', async () => {
      const tracker = await fixture.createTracker()
      const { trackerId } = tracker
      const instants = [start - 100, start, start + 5, start + 10, start + 100]
      await fixture.ingest([
        sessionRow({ trackerId, subjectId: 'anna', sessionId: 's', startedAt: start, endedAt: start + 10 }),
        ...instants.map((occurredAt) =>
          eventRow({ trackerId, subjectId: 'anna', sessionId: 's', eventId: 'e', occurredAt }),
        ),
      ])
      for (const limit of [1, 200]) {
        const listed = await fixture.listEvents(tracker, 'anna', { sessionId: 's', limit })
        assert.deepEqual(
          listed.map(({ occurredAt }) => occurredAt),
          [...instants].reverse(),
        )
      }
    })

    it('are none if the session is unknown', async () => {
      const tracker = await fixture.createTracker()
      await fixture.ingest([
        eventRow({ trackerId: tracker.trackerId, subjectId: 'anna', sessionId: 's', eventId: 'e' }),
        eventRow({ trackerId: tracker.trackerId, subjectId: 'ben', sessionId: 'of ben', eventId: 'e' }),
      ])
      for (const sessionId of ['', 'S', 's ', '%', 'of ben']) {
        const query = { limit: 10, after: null, sessionId }
        assert.deepEqual(await fixture.store.events.list(tracker, 'anna', query), { rows: [], next: null })
      }
    })
  })
}
