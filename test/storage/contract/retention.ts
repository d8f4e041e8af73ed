import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { DataCounts } from '../../../src/domain/activity.ts'
import type { Instant } from '../../../src/domain/instant.ts'
import type { TrackerView } from '../../../src/domain/tracker.ts'
import { always, at, eventRow, sessionRow } from '../../support/rows.ts'
import { stepBefore } from '../../support/windows.ts'
import type { Fixture } from './fixture.ts'

/** The start of the window. */
const since = at('2026-06-01T00:00:00.000Z')
const day = 86_400_000
const nothing = { subjects: 0, sessions: 0, events: 0 }

export function retentionContract(fixture: Fixture): void {
  /** Sweeps until done. Returns what each step deleted. */
  async function sweep(trackerId: string, from: Instant, maxRows = 1_000): Promise<DataCounts[]> {
    const steps: DataCounts[] = []
    for (let count = 0; count < 10_000; count++) {
      const { isDone, ...swept } = await fixture.store.retention.sweep(trackerId, stepBefore(from, maxRows))
      steps.push(swept)
      if (isDone) return steps
    }
    throw new Error('The sweep has no end.')
  }

  function sum(steps: readonly DataCounts[]): DataCounts {
    return steps.reduce((total, step) => ({
      subjects: total.subjects + step.subjects,
      sessions: total.sessions + step.sessions,
      events: total.events + step.events,
    }))
  }

  /** Adds a subject of each kind: aged out, partly (with a session across the limit), and not at all. */
  async function fill(tracker: TrackerView): Promise<void> {
    const { trackerId } = tracker
    const visit = (subjectId: string, sessionId: string, startedAt: Instant, endedAt: Instant) => [
      sessionRow({ trackerId, subjectId, sessionId, startedAt, endedAt, attributes: { visit: sessionId } }),
      eventRow({ trackerId, subjectId, sessionId, eventId: `${sessionId}-1`, occurredAt: startedAt }),
      eventRow({ trackerId, subjectId, sessionId, eventId: `${sessionId}-2`, occurredAt: endedAt }),
    ]
    await fixture.ingest([
      ...visit('aged', 's1', since - 3 * day, since - 2 * day),
      ...visit('aged', 's2', since - 2 * day, since - 1),
      ...visit('partly', 's1', since - 3 * day, since - 2 * day),
      ...visit('partly', 's2', since - 2 * day, since),
      ...visit('partly', 's3', since + 1, since + day),
      ...visit('young', 's1', since, since + day),
      sessionRow({ trackerId, subjectId: 'silent', sessionId: 's', startedAt: since - day }),
    ])
  }

  /** Fails unless every count equals the number of rows. */
  async function assertCounted(tracker: TrackerView): Promise<void> {
    for (const { record, sessions, events } of await fixture.readAll(tracker)) {
      assert.deepEqual(record.counts, { sessions: sessions.length, events: events.length })
      const bySession = Map.groupBy(events, ({ sessionId }) => sessionId)
      for (const { sessionId, counts } of sessions) {
        assert.equal(counts.events, bySession.get(sessionId)?.length ?? 0, `events of ${sessionId}`)
      }
    }
  }

  describe('a sweep', () => {
    it('returns what it deleted, and changes nothing visible', async () => {
      const tracker = await fixture.createTracker()
      await fill(tracker)
      const before = await fixture.readAll({ ...tracker, since })
      assert.deepEqual(sum(await sweep(tracker.trackerId, since)), { subjects: 2, sessions: 4, events: 7 })
      assert.deepEqual(await fixture.readAll({ ...tracker, since }), before)
      assert.deepEqual(await fixture.readAll({ ...tracker, since: always }), before, 'nothing older is left')
      await assertCounted(tracker)
    })

    it('keeps what is exactly as old as the window', async () => {
      const tracker = await fixture.createTracker()
      const { trackerId } = tracker
      await fixture.ingest([
        eventRow({ trackerId, subjectId: 'anna', sessionId: 's', eventId: 'e1', occurredAt: since - 1 }),
        eventRow({ trackerId, subjectId: 'anna', sessionId: 's', eventId: 'e2', occurredAt: since }),
        sessionRow({ trackerId, subjectId: 'ben', sessionId: 's', startedAt: since - day, endedAt: since }),
        sessionRow({ trackerId, subjectId: 'cleo', sessionId: 's', startedAt: since - 1 }),
      ])
      assert.deepEqual(sum(await sweep(trackerId, since)), { subjects: 1, sessions: 1, events: 1 })
      const [anna, ben, ...others] = await fixture.readAll(tracker)
      assert.deepEqual(others, [])
      // A session that continues into the window only loses its aged events.
      assert.partialDeepStrictEqual(anna?.sessions, [{ startedAt: since - 1, counts: { events: 1 } }])
      assert.deepEqual(
        anna?.events.map(({ eventId }) => eventId),
        ['e2'],
      )
      assert.equal(ben?.record.firstSeenAt, since - day)
    })

    it('deletes nothing the second time, and is done immediately', async () => {
      const tracker = await fixture.createTracker()
      await fill(tracker)
      await sweep(tracker.trackerId, since)
      assert.deepEqual(await fixture.store.retention.sweep(tracker.trackerId, stepBefore(since, 1_000)), {
        ...nothing,
        isDone: true,
      })
    })

    it('deletes nothing in a tracker that is empty or does not exist', async () => {
      const { trackerId } = await fixture.createTracker()
      for (const id of [trackerId, 'no-such-tracker']) {
        assert.deepEqual(await fixture.store.retention.sweep(id, stepBefore(since, 1_000)), {
          ...nothing,
          isDone: true,
        })
      }
    })

    it('leaves every other tracker alone, even of the same organisation', async () => {
      const tracker = await fixture.createTracker()
      const others = [await fixture.createTracker(tracker.organisationId), await fixture.createTracker()]
      for (const one of [tracker, ...others]) await fill(one)
      const readOthers = () => Promise.all(others.map((other) => fixture.readAll(other)))
      const before = await readOthers()
      await sweep(tracker.trackerId, since)
      assert.deepEqual(await readOthers(), before)
      assert.deepEqual(await fixture.listSubjectIds(tracker), ['partly', 'young'])
    })

    it('can be followed by another, as the window moves on', async () => {
      const tracker = await fixture.createTracker()
      await fill(tracker)
      const visible = await fixture.readAll({ ...tracker, since: since + 1 })
      for (const from of [since - 3 * day, since - 2 * day, since - day, since, since + 1]) {
        await sweep(tracker.trackerId, from)
        await assertCounted(tracker)
      }
      assert.deepEqual(await fixture.readAll(tracker), visible)
      assert.deepEqual(sum(await sweep(tracker.trackerId, since + day + 1)), {
        ...{ subjects: 2, sessions: 2, events: 3 },
      })
      assert.deepEqual(await fixture.listSubjectIds(tracker), [])
    })

    it('lets a deleted subject start again', async () => {
      const tracker = await fixture.createTracker()
      const { trackerId } = tracker
      await fill(tracker)
      await sweep(trackerId, since)
      const event = eventRow({
        trackerId,
        subjectId: 'aged',
        sessionId: 's1',
        eventId: 'e',
        occurredAt: since,
      })
      assert.deepEqual(await fixture.ingest([event]), {
        subjects: 1,
        sessions: 1,
        events: 1,
      })
      assert.partialDeepStrictEqual(await fixture.store.subjects.read(tracker, 'aged'), {
        ...{ firstSeenAt: since, lastSeenAt: since, counts: { sessions: 1, events: 1 } },
      })
    })
  })

  describe('a sweep in steps', () => {
    /**
     * Adds 80 aged events in 20 sessions, and a session that crosses the limit with one event on either side.
     */
    async function fillLarge({ trackerId }: TrackerView, subjectId: string): Promise<void> {
      await fixture.ingest([
        ...Array.from({ length: 80 }, (_, i) =>
          eventRow({
            ...{ trackerId, subjectId, sessionId: `s${i % 20}`, eventId: `e${i}` },
            occurredAt: since - day + i,
          }),
        ),
        eventRow({
          trackerId,
          subjectId,
          sessionId: 'over',
          eventId: 'before',
          occurredAt: since - 2 * day,
        }),
        eventRow({ trackerId, subjectId, sessionId: 'over', eventId: 'after', occurredAt: since + day }),
      ])
    }

    it('takes several for a large subject, each within its row limit', async () => {
      const tracker = await fixture.createTracker()
      await fillLarge(tracker, 'anna')
      const before = await fixture.readAll({ ...tracker, since })
      const total = { ...nothing }
      let steps = 0
      for (let isDone = false; !isDone; steps++) {
        const swept = await fixture.store.retention.sweep(tracker.trackerId, stepBefore(since, 20))
        isDone = swept.isDone
        assert.ok(swept.events + swept.sessions <= 20, `${swept.events} and ${swept.sessions} in one step`)
        total.events += swept.events
        total.sessions += swept.sessions
        await assertCounted(tracker)
        assert.deepEqual(await fixture.readAll({ ...tracker, since }), before, 'nobody sees it happen')
      }
      assert.ok(steps >= 5, `${steps} steps for 101 rows`)
      assert.deepEqual(total, { subjects: 0, sessions: 20, events: 81 })
      assert.deepEqual(await fixture.readAll(tracker), before)
    })

    it('counts a completely deleted subject once', async () => {
      const tracker = await fixture.createTracker()
      await fillLarge(tracker, 'anna')
      const steps = await sweep(tracker.trackerId, since + 2 * day, 20)
      assert.ok(steps.length >= 5, `${steps.length} steps`)
      assert.deepEqual(sum(steps), { subjects: 1, sessions: 21, events: 82 })
      assert.equal(await fixture.store.subjects.read(tracker, 'anna'), null)
    })

    it('keeps a subject’s last-seen time right after each step', async () => {
      const tracker = await fixture.createTracker()
      const row = (sessionId: string, startedAt: Instant, endedAt: Instant) =>
        sessionRow({ trackerId: tracker.trackerId, subjectId: 'anna', sessionId, startedAt, endedAt })
      await fixture.ingest([
        row('long', since - 9 * day, since - day),
        row('short', since - 8 * day, since - 7 * day),
        row('shorter', since - 6 * day, since - 5 * day),
      ])
      for (const left of [2, 1]) {
        await fixture.store.retention.sweep(tracker.trackerId, stepBefore(since, 1))
        for (const earlier of [always, since - 20 * day, since - 4 * day]) {
          const view = { ...tracker, since: earlier }
          const sessions = await fixture.listSessions(view, 'anna')
          const record = await fixture.store.subjects.read(view, 'anna')
          assert.equal(record?.lastSeenAt, Math.max(...sessions.map(({ endedAt }) => endedAt)))
          assert.equal(record?.counts.sessions, sessions.length)
          assert.deepEqual(
            (await fixture.listSubjects(view)).map(({ counts }) => counts),
            [record?.counts],
          )
        }
        assert.equal((await fixture.listSessions(tracker, 'anna')).length, left)
      }
      await fixture.store.retention.sweep(tracker.trackerId, stepBefore(since, 1))
      assert.equal(await fixture.store.subjects.read(tracker, 'anna'), null)
    })

    it('keeps counts right when data arrives between steps', async () => {
      const tracker = await fixture.createTracker()
      const { trackerId } = tracker
      const event = (number: number, occurredAt: Instant) =>
        eventRow({ trackerId, subjectId: 'anna', sessionId: 's', eventId: `e${number}`, occurredAt })
      await fixture.ingest([1, 2, 3].map((number) => event(number, since - number)))
      // Room for the events only: their session would be deleted in the next step.
      assert.partialDeepStrictEqual(await fixture.store.retention.sweep(trackerId, stepBefore(since, 3)), {
        events: 3,
      })
      await assertCounted(tracker)
      // An event that arrives late extends that session into the window.
      await fixture.ingest([event(4, since)])
      await sweep(trackerId, since)
      await assertCounted(tracker)
      assert.deepEqual((await fixture.store.subjects.read(tracker, 'anna'))?.counts, {
        sessions: 1,
        events: 1,
      })
    })

    it('takes several small ones for many small subjects, and ends', async () => {
      const tracker = await fixture.createTracker()
      const { trackerId } = tracker
      const [maxRows, count] = [50, 40]
      await fixture.ingest(
        Array.from({ length: count }, (_, i) =>
          eventRow({ trackerId, subjectId: `visitor-${i}`, eventId: 'e', occurredAt: since - 1 - i }),
        ),
      )
      const steps = await sweep(trackerId, since, maxRows)
      assert.ok(steps.length > 1, `${steps.length} steps`)
      for (const step of steps) assert.ok(step.sessions + step.events <= maxRows)
      assert.deepEqual(sum(steps), { subjects: count, sessions: count, events: count })
      assert.deepEqual(await fixture.listSubjectIds(tracker), [])
    })
  })
}
