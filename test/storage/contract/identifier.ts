import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { SubjectIdentifier } from '../../../src/domain/subject-identifier.ts'
import type { TrackerView } from '../../../src/domain/tracker.ts'
import { at, eventRow, sessionRow } from '../../support/rows.ts'
import { eraseIn, testKeys, testMark } from '../../support/test-keyring.ts'
import { stepBefore } from '../../support/windows.ts'
import type { Fixture } from './fixture.ts'

const start = at('2026-11-01T10:00:00.000Z')
const subjectId = 'anna'

export function identifierContract(fixture: Fixture): void {
  async function identifiersOf(view: TrackerView): Promise<SubjectIdentifier[] | undefined> {
    return (await fixture.store.subjects.read(view, subjectId))?.identifiers
  }

  describe('a subject’s identifiers', () => {
    it('are all those of its sessions and events, each once, by name and value', async () => {
      const tracker = await fixture.createTracker()
      const of = { trackerId: tracker.trackerId, subjectId }
      await fixture.ingest([
        sessionRow({ ...of, sessionId: 's', identifiers: { userId: '42', email: 'ada@example.com' } }),
        eventRow({ ...of, eventId: 'e1', identifiers: { userId: '42' } }),
        eventRow({ ...of, eventId: 'e2', identifiers: { email: 'ada@work.example' } }),
      ])
      assert.deepEqual(await identifiersOf(tracker), [
        { name: 'email', value: 'ada@example.com' },
        { name: 'email', value: 'ada@work.example' },
        { name: 'userId', value: '42' },
      ])
    })

    it('are empty if no row has any', async () => {
      const tracker = await fixture.createTracker()
      await fixture.ingest([eventRow({ trackerId: tracker.trackerId, subjectId, eventId: 'e' })])
      assert.deepEqual(await identifiersOf(tracker), [])
    })

    it('include an address once regardless of case, as the newest row wrote it; others exactly', async () => {
      const tracker = await fixture.createTracker()
      const of = { trackerId: tracker.trackerId, subjectId }
      const written = ['Ada@Example.com', 'ADA@example.com', 'ada@example.com']
      for (const [i, email] of written.entries()) {
        const identifiers = { email, userId: email }
        await fixture.ingest([eventRow({ ...of, eventId: `e${i}`, occurredAt: start - i, identifiers })])
      }
      assert.deepEqual(await identifiersOf(tracker), [
        { name: 'email', value: 'Ada@Example.com' },
        { name: 'userId', value: 'ADA@example.com' },
        { name: 'userId', value: 'Ada@Example.com' },
        { name: 'userId', value: 'ada@example.com' },
      ])
    })

    it('grow if a stored row is ingested again with more, without adding a row', async () => {
      const tracker = await fixture.createTracker()
      const event = eventRow({ trackerId: tracker.trackerId, subjectId, eventId: 'e' })
      await fixture.ingest([event])
      const before = await fixture.store.subjects.read(tracker, subjectId)
      const added = await fixture.ingest([{ ...event, identifiers: { userId: '42' } }])
      assert.deepEqual(added, { subjects: 0, sessions: 0, events: 0, unchanged: 1 })
      const identifiers = [{ name: 'userId', value: '42' }]
      assert.deepEqual(await fixture.store.subjects.read(tracker, subjectId), { ...before, identifiers })
    })

    it('are deleted with their subject', async () => {
      const tracker = await fixture.createTracker()
      const of = { trackerId: tracker.trackerId, subjectId }
      await fixture.ingest([eventRow({ ...of, eventId: 'e', identifiers: { userId: '42' } })])
      assert.deepEqual(await eraseIn(fixture.store, tracker, subjectId), { sessions: 1, events: 1 })
      await fixture.ingest([eventRow({ ...of, eventId: 'later', occurredAt: start + 1 })])
      assert.deepEqual(await identifiersOf(tracker), [])
    })

    it('do not include those of a refused row', async () => {
      const tracker = await fixture.createTracker()
      const of = { trackerId: tracker.trackerId, subjectId }
      await fixture.store.subjects.erase(tracker, subjectId, testMark(tracker, subjectId, start))
      await fixture.ingest([
        eventRow({ ...of, eventId: 'old', occurredAt: start, identifiers: { userId: '1' } }),
        eventRow({ ...of, eventId: 'new', occurredAt: start + 1, identifiers: { userId: '2' } }),
      ])
      assert.deepEqual(await identifiersOf(tracker), [{ name: 'userId', value: '2' }])
    })

    it('age out with the newest row that has them, swept or not', async () => {
      const tracker = await fixture.createTracker()
      const of = { trackerId: tracker.trackerId, subjectId, sessionId: 's' }
      const lasting = { occurredAt: start + 10, identifiers: { email: 'ada@example.com' } }
      await fixture.ingest([
        eventRow({ ...of, eventId: 'e1', identifiers: { userId: '42', email: 'ADA@example.com' } }),
        eventRow({ ...of, eventId: 'e2', ...lasting }),
      ])
      const left = [{ name: 'email', value: 'ada@example.com' }]
      assert.deepEqual(await identifiersOf({ ...tracker, since: start + 1 }), left)
      await fixture.store.retention.sweep(tracker.trackerId, stepBefore(start + 1, 100))
      assert.deepEqual(await identifiersOf(tracker), left)
    })

    it('age out with the row of a session, even if later rows extend the session', async () => {
      const tracker = await fixture.createTracker()
      const session = sessionRow({ trackerId: tracker.trackerId, subjectId, sessionId: 's' })
      await fixture.ingest([{ ...session, endedAt: start + 10 }])
      await fixture.ingest([{ ...session, identifiers: { userId: '42' } }])
      assert.deepEqual(await identifiersOf({ ...tracker, since: start + 1 }), [])
      const swept = await fixture.store.retention.sweep(tracker.trackerId, stepBefore(start + 1, 100))
      assert.deepEqual(swept, { subjects: 0, sessions: 0, events: 0, isDone: true })
      assert.deepEqual(await identifiersOf(tracker), [])
      assert.equal((await fixture.store.maintenance.scrubState()).isDue, true)
    })

    it('are limited to a thousand: rows with more are refused, and others stored', async () => {
      const tracker = await fixture.createTracker()
      const { trackerId } = tracker
      const row = (number: number, identifiers: Record<string, string>) =>
        eventRow({ trackerId, subjectId, eventId: `e${number}`, occurredAt: start + number, identifiers })
      const many = (from: number, count: number) =>
        Array.from({ length: count }, (_, i) =>
          row(from + i, { userId: `${from + i}`, email: `a@${from + i}.example` }),
        )
      assert.equal((await fixture.ingest(many(0, 499))).refused, undefined)
      const full = await fixture.ingest([
        ...many(499, 2),
        row(501, { userId: '7' }),
        row(502, { userId: 'last' }),
      ])
      const refused = [{ trackerId, rows: 2, reason: 'identifiers' }]
      assert.deepEqual(full, { subjects: 0, sessions: 0, events: 2, refused })
      assert.equal((await identifiersOf(tracker))?.length, 1_000)
      const again = await fixture.ingest([row(503, { email: 'A@8.example' }), row(504, { userId: 'more' })])
      assert.deepEqual(again, {
        ...full,
        events: 1,
        refused: [{ trackerId, rows: 1, reason: 'identifiers' }],
      })
      const before = await fixture.store.subjects.read(tracker, subjectId)
      assert.deepEqual(await fixture.ingest([row(9_000, { userId: 'more' })]), {
        ...again,
        events: 0,
      })
      assert.deepEqual(await fixture.store.subjects.read(tracker, subjectId), before)
      const bob = eventRow({ trackerId, subjectId: 'bob', eventId: 'b', identifiers: { userId: 'more' } })
      assert.equal((await fixture.ingest([bob])).events, 1)
    })

    it('lose those that a tombstone refuses after a restore', async () => {
      const tracker = await fixture.createTracker()
      const { trackerId } = tracker
      const mark = testMark(tracker, subjectId, start + 5)
      await fixture.store.subjects.erase(tracker, subjectId, mark)
      await restoreRows(tracker)
      await fixture.store.replay.removeRefused(trackerId, [subjectId], testKeys)
      assert.deepEqual(await identifiersOf(tracker), [{ name: 'userId', value: 'after' }])
    })
  })

  /** Stores rows that a tombstone refuses, as a restored backup does: without keys, no tombstone matches. */
  async function restoreRows({ trackerId }: TrackerView): Promise<void> {
    const of = { trackerId, subjectId }
    const session = { sessionId: 'over', startedAt: start, endedAt: start + 20 }
    const rows = [
      eventRow({ ...of, eventId: 'e1', occurredAt: start + 5, identifiers: { userId: 'before' } }),
      sessionRow({ ...of, ...session, identifiers: { userId: 'of the session' } }),
      eventRow({ ...of, eventId: 'e2', occurredAt: start + 30, identifiers: { userId: 'after' } }),
    ]
    await fixture.store.ingest.ingest(rows, [])
  }
}
