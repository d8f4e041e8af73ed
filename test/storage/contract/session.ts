import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { at, eventRow, sessionRow } from '../../support/rows.ts'
import { byCodePoints, type Fixture } from './fixture.ts'

const start = at('2026-11-01T10:00:00.000Z')

export function sessionContract(fixture: Fixture): void {
  describe('the sessions of a subject', () => {
    it('are listed by start, newest first, ties by ID', async () => {
      const tracker = await fixture.createTracker()
      const ids = ['a', 'B', 'b', '\uffff', '🦦', 'é', '10', '9', '%', "'"]
      const rows = ids.flatMap((id, i) => [
        sessionRow({ trackerId: tracker.trackerId, subjectId: 'anna', sessionId: id, startedAt: start }),
        sessionRow({
          trackerId: tracker.trackerId,
          subjectId: 'anna',
          sessionId: `later ${id}`,
          startedAt: start + 1 + (i % 3),
        }),
      ])
      await fixture.ingest(rows)
      const expected = rows
        .sort((a, b) => b.startedAt - a.startedAt || byCodePoints(b.sessionId, a.sessionId))
        .map(({ sessionId }) => sessionId)
      for (const limit of [1, 3, 7, 20, 200]) {
        const listed = await fixture.listSessions(tracker, 'anna', limit)
        assert.deepEqual(
          listed.map(({ sessionId }) => sessionId),
          expected,
          `pages of ${limit}`,
        )
      }
    })

    it('have their span, number of events and attributes', async () => {
      const tracker = await fixture.createTracker()
      const { trackerId } = tracker
      await fixture.ingest([
        sessionRow({
          trackerId,
          subjectId: 'anna',
          sessionId: 's1',
          startedAt: start,
          endedAt: start + 60,
          attributes: { country: 'DE', nested: { list: [1, null] } },
        }),
        eventRow({ trackerId, subjectId: 'anna', sessionId: 's1', eventId: 'e1', occurredAt: start + 30 }),
        eventRow({ trackerId, subjectId: 'anna', sessionId: 's2', eventId: 'e2', occurredAt: start + 40 }),
      ])
      assert.deepEqual(await fixture.store.sessions.list(tracker, 'anna', { limit: 2, after: null }), {
        rows: [
          {
            sessionId: 's2',
            startedAt: start + 40,
            endedAt: start + 40,
            counts: { events: 1 },
            attributes: {},
          },
          {
            sessionId: 's1',
            startedAt: start,
            endedAt: start + 60,
            counts: { events: 1 },
            attributes: { country: 'DE', nested: { list: [1, null] } },
          },
        ],
        next: null,
      })
    })

    it('are only those of this subject', async () => {
      const tracker = await fixture.createTracker()
      await fixture.ingest(
        ['anna', 'ben'].flatMap((subjectId) => [
          sessionRow({ trackerId: tracker.trackerId, subjectId, sessionId: 'shared' }),
          sessionRow({ trackerId: tracker.trackerId, subjectId, sessionId: `of ${subjectId}` }),
        ]),
      )
      const listed = await fixture.listSessions(tracker, 'ben')
      assert.deepEqual(
        listed.map(({ sessionId }) => sessionId),
        ['shared', 'of ben'],
      )
    })

    it('are null if the subject or tracker does not exist or is not visible', async () => {
      const tracker = await fixture.createTracker()
      await fixture.ingest([sessionRow({ trackerId: tracker.trackerId, subjectId: 'anna', sessionId: 's' })])
      const organisationId = await fixture.createOrganisation()
      for (const after of [null, { startedAt: start + 1, sessionId: 'x' }]) {
        const query = { limit: 10, after }
        assert.equal((await fixture.store.sessions.list(tracker, 'anna', query))?.rows.length, 1)
        assert.equal(await fixture.store.sessions.list(tracker, 'ben', query), null)
        assert.equal(await fixture.store.sessions.list({ ...tracker, organisationId }, 'anna', query), null)
        assert.equal(
          await fixture.store.sessions.list({ ...tracker, trackerId: 'nothing' }, 'anna', query),
          null,
        )
      }
    })

    it('are an empty page, not null, after the end', async () => {
      const tracker = await fixture.createTracker()
      await fixture.ingest([sessionRow({ trackerId: tracker.trackerId, subjectId: 'anna', sessionId: 's' })])
      const after = { startedAt: start - 1, sessionId: 's' }
      assert.deepEqual(await fixture.store.sessions.list(tracker, 'anna', { limit: 10, after }), {
        rows: [],
        next: null,
      })
    })
  })
}
