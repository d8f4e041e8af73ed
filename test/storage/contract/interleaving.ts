import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { IncomingRow } from '../../../src/domain/ingest.ts'
import { maxPlainEvents } from '../../../src/storage/rules/interleaving.ts'
import { at, eventRow, sessionRow } from '../../support/rows.ts'
import { eraseIn } from '../../support/test-keyring.ts'
import { stepBefore } from '../../support/windows.ts'
import type { Fixture } from './fixture.ts'

const start = at('2026-11-01T10:00:00.000Z')
const many = maxPlainEvents + 10

/** Consecutive sessions that do not overlap. */
function visits(trackerId: string, from: number, to: number, perVisit = 200): IncomingRow[] {
  return Array.from({ length: to - from }, (_, index) => {
    const number = from + index
    const sessionId = `visit-${Math.floor(number / perVisit)}`
    const owner = { trackerId, subjectId: 'anna', sessionId }
    return eventRow({ ...owner, eventId: `e${number}`, occurredAt: start + number * 10 })
  })
}

/** Sessions of ten events, each of which overlaps the next three. */
function lightVisits(trackerId: string, from: number, to: number): IncomingRow[] {
  return Array.from({ length: (to - from) * 10 }, (_, index) => {
    const [visit, event] = [from + Math.floor(index / 10), index % 10]
    const owner = { trackerId, subjectId: 'anna', sessionId: `light-${visit}` }
    return eventRow({
      ...owner,
      eventId: `${visit}-${event}`,
      occurredAt: start + visit * 250_000 + event * 90_000,
    })
  })
}

/** A session that spans all others, with events at these positions. */
function longSession(trackerId: string, numbers: readonly number[]): IncomingRow[] {
  const owner = { trackerId, subjectId: 'anna', sessionId: 'long' }
  return [
    sessionRow({ ...owner, startedAt: start, endedAt: start + many * 10 }),
    ...numbers.map((number) =>
      eventRow({ ...owner, eventId: `long-${number}`, occurredAt: start + number * 10 + 5 }),
    ),
  ]
}

/** Ways in which sessions of a subject come to overlap, each as a list of batches. */
const histories: Record<string, (trackerId: string) => IncomingRow[][]> = {
  'all in one batch': (id) => [[...visits(id, 0, many), ...longSession(id, [0, 500, 1000])]],
  'the overlap when there were few events': (id) => [
    longSession(id, [0, 500]),
    visits(id, 0, 200),
    visits(id, 200, many),
    longSession(id, [700, 1000]),
  ],
  'the overlap when there were many': (id) => [
    visits(id, 0, many),
    longSession(id, [500]),
    longSession(id, [0, 1000]),
    visits(id, many, many + 10),
  ],
  'by a session that grew into the one before': (id) => [
    visits(id, 0, many),
    [
      sessionRow({
        ...{ trackerId: id, subjectId: 'anna', sessionId: 'visit-3' },
        ...{ startedAt: start, endedAt: start + 3 * 200 * 10 },
      }),
    ],
    visits(id, many, many + 10),
  ],
  'never: overlapping a few': (id) => [
    lightVisits(id, 60, 100),
    lightVisits(id, 0, 40),
    lightVisits(id, 100, 140),
    lightVisits(id, 40, 60),
  ],
  'by a session over many short ones that overlap a few': (id) => [
    lightVisits(id, 0, 140),
    longSession(id, [0]),
    longSession(id, [3_000_000]),
  ],
  'by one of many that changed among very many': (id) => [
    visits(id, 0, 1_200, 1),
    [...visits(id, 1_200, 1_310, 1), ...longSession(id, [0, 1000])],
    visits(id, 1_310, 1_320, 1),
  ],
  'never: one after the other': (id) => [visits(id, 500, many), visits(id, 0, 500)],
}

export function interleavingContract(fixture: Fixture): void {
  describe('the events of a session among many others', () => {
    for (const [how, history] of Object.entries(histories)) {
      it(`are its own, page by page, ${how}`, async () => {
        const tracker = await fixture.createTracker()
        const batches = history(tracker.trackerId)
        for (const batch of batches) await fixture.ingest(batch)
        const all = await fixture.listEvents(tracker, 'anna')
        const sent = batches.flat().filter((row) => row.type === 'event')
        assert.equal(all.length, sent.length)
        const sessions = await fixture.listSessions(tracker, 'anna')
        assert.equal(sessions.length, new Set(batches.flat().map(({ sessionId }) => sessionId)).size)
        for (const { sessionId, counts } of sessions) {
          const own = all.filter((event) => event.sessionId === sessionId)
          assert.equal(counts.events, own.length)
          assert.deepEqual(await fixture.listEvents(tracker, 'anna', { sessionId, limit: 90 }), own)
        }
        assert.deepEqual(await fixture.listEvents(tracker, 'anna', { sessionId: 'unknown' }), [])
      })
    }

    it('and their counts leave out aged data', async () => {
      const tracker = await fixture.createTracker()
      const { trackerId } = tracker
      await fixture.ingest([...visits(trackerId, 0, many), ...longSession(trackerId, [0, 500, 1000])])
      const view = { ...tracker, since: start + 600 * 10 }
      const sessions = await fixture.listSessions(view, 'anna')
      assert.equal(sessions.find(({ sessionId }) => sessionId === 'long')?.counts.events, 1)
      const events = await fixture.listEvents(view, 'anna', { sessionId: 'long' })
      assert.deepEqual(
        events.map(({ eventId }) => eventId),
        ['long-1000'],
      )
      assert.deepEqual(await fixture.store.retention.sweep(trackerId, stepBefore(view.since, 100_000)), {
        ...{ subjects: 0, sessions: 3, events: 602, isDone: true },
      })
      assert.deepEqual(await fixture.listEvents(view, 'anna', { sessionId: 'long' }), events)
      assert.deepEqual(await eraseIn(fixture.store, tracker, 'anna'), {
        ...{ sessions: sessions.length, events: many - 600 + 1 },
      })
    })
  })
}
