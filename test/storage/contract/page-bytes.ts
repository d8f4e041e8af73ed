import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { maxPageBytes } from '../../../src/domain/page.ts'
import { at, eventRow, sessionRow } from '../../support/rows.ts'
import type { Fixture } from './fixture.ts'

const start = at('2026-11-01T10:00:00.000Z')
const text = (bytes: number) => 'x'.repeat(bytes)

export function pageBytesContract(fixture: Fixture): void {
  describe('a page', () => {
    it('of events ends before it exceeds a megabyte, and the next one continues', async () => {
      const tracker = await fixture.createTracker()
      const sizes = [300_000, 10, 300_000, 4_096, 300_000, 5_000, 300_000, 10]
      const rows = sizes.map((bytes, number) =>
        eventRow({
          ...{ trackerId: tracker.trackerId, subjectId: 'anna', eventId: `e${number}` },
          ...{ occurredAt: start - number, properties: { text: text(bytes) } },
        }),
      )
      await fixture.ingest(rows)
      for (const sessionId of [null, 'session']) {
        const query = { limit: 200, after: null, sessionId }
        const page = await fixture.store.events.list(tracker, 'anna', query)
        assert.deepEqual(
          page?.rows.map(({ eventId }) => eventId),
          ['e0', 'e1', 'e2', 'e3', 'e4', 'e5'],
        )
        assert.deepEqual(page?.next, { occurredAt: start - 5, eventId: 'e5' })
        const all = await fixture.listEvents(tracker, 'anna', { sessionId })
        assert.deepEqual(
          all.map(({ eventId, properties }) => [eventId, properties]),
          rows.map(({ eventId, properties }) => [eventId, properties]),
        )
      }
    })

    it('has at least one row, however large, and says if it is the last', async () => {
      const tracker = await fixture.createTracker()
      const { trackerId } = tracker
      // The newest event is listed first.
      const textOf = (number: number) => ({ text: text(number === 2 ? maxPageBytes + 1 : 1) })
      await fixture.ingest([
        ...[1, 2].map((number) =>
          eventRow({
            ...{ trackerId, subjectId: 'anna', eventId: `e${number}`, occurredAt: start + number },
            properties: textOf(number),
          }),
        ),
        ...[1, 2].map((number) =>
          sessionRow({
            ...{ trackerId, subjectId: 'ben', sessionId: `s${number}`, startedAt: start + number },
            attributes: textOf(number),
          }),
        ),
      ])
      const query = { limit: 200, after: null }
      const events = await fixture.store.events.list(tracker, 'anna', { ...query, sessionId: null })
      assert.deepEqual(events?.next, { occurredAt: start + 2, eventId: 'e2' })
      const lastEvents = await fixture.store.events.list(tracker, 'anna', {
        ...{ limit: 200, after: events.next, sessionId: null },
      })
      assert.deepEqual([lastEvents?.rows.length, lastEvents?.next], [1, null])
      const sessions = await fixture.store.sessions.list(tracker, 'ben', query)
      assert.deepEqual(sessions?.next, { startedAt: start + 2, sessionId: 's2' })
      const lastSessions = await fixture.store.sessions.list(tracker, 'ben', {
        limit: 200,
        after: sessions.next,
      })
      assert.deepEqual([lastSessions?.rows.length, lastSessions?.next], [1, null])
    })

    it('of sessions counts only the bytes of visible sessions', async () => {
      const tracker = await fixture.createTracker()
      const rows = Array.from({ length: 7 }, (_, number) =>
        sessionRow({
          ...{ trackerId: tracker.trackerId, subjectId: 'anna', sessionId: `s${100 + number}` },
          ...{ startedAt: start - number, endedAt: start - number + (number % 3 === 0 ? 100 : 0) },
          attributes: { text: text(200_000) },
        }),
      )
      await fixture.ingest(rows)
      const all = await fixture.listSessions(tracker, 'anna')
      assert.deepEqual(
        all.map(({ sessionId, attributes }) => [sessionId, attributes]),
        rows.map(({ sessionId, attributes }) => [sessionId, attributes]),
      )
      const whole = await fixture.store.sessions.list(tracker, 'anna', { limit: 200, after: null })
      assert.equal(whole?.rows.length, 5)
      // Of the sessions after the first, only every third has not aged out: the three fit on one page.
      const view = { ...tracker, since: start + 50 }
      const seen = await fixture.store.sessions.list(view, 'anna', { limit: 200, after: null })
      assert.deepEqual(
        seen?.rows.map(({ sessionId }) => sessionId),
        ['s100', 's103', 's106'],
      )
      assert.equal(seen?.next, null)
    })

    it('is measured in bytes, not characters', async () => {
      const tracker = await fixture.createTracker()
      const rows = Array.from({ length: 5 }, (_, number) =>
        eventRow({
          ...{ trackerId: tracker.trackerId, subjectId: 'anna', eventId: `e${number}` },
          ...{ occurredAt: start - number, properties: { text: '東'.repeat(80_000) } },
        }),
      )
      await fixture.ingest(rows)
      const page = await fixture.store.events.list(tracker, 'anna', {
        limit: 200,
        after: null,
        sessionId: null,
      })
      assert.equal(page?.rows.length, 4)
    })
  })
}
