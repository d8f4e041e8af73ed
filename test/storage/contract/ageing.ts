import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { IncomingRow } from '../../../src/domain/ingest.ts'
import type { SubjectQuery } from '../../../src/domain/subject.ts'
import type { TrackerView } from '../../../src/domain/tracker.ts'
import { always, at, eventRow, sessionRow } from '../../support/rows.ts'
import { eraseIn } from '../../support/test-keyring.ts'
import { stepBefore } from '../../support/windows.ts'
import { everySubject, type Fixture, walk } from './fixture.ts'

/** The start of the window. */
const since = at('2026-06-01T00:00:00.000Z')
const day = 86_400_000

/** A session from three days before the start of the window to a day after, an older one and a newer one. */
function visitsOf(trackerId: string, subjectId: string): IncomingRow[] {
  const session = (sessionId: string, startedAt: number, endedAt: number) =>
    sessionRow({ trackerId, subjectId, sessionId, startedAt, endedAt, attributes: { visit: sessionId } })
  const event = (sessionId: string, eventId: string, occurredAt: number) =>
    eventRow({ trackerId, subjectId, sessionId, eventId, occurredAt })
  return [
    session('old', since - 9 * day, since - 8 * day),
    event('old', 'e1', since - 9 * day),
    session('over', since - 3 * day, since + day),
    event('over', 'e2', since - 2 * day),
    event('over', 'e3', since - 1),
    event('over', 'e4', since),
    event('over', 'e5', since + day),
    session('young', since + 2 * day, since + 3 * day),
    event('young', 'e6', since + 2 * day),
  ]
}

export function ageingContract(fixture: Fixture): void {
  async function fill(...rows: ((trackerId: string) => IncomingRow[])[]): Promise<TrackerView> {
    const tracker = await fixture.createTracker()
    await fixture.ingest(rows.flatMap((make) => make(tracker.trackerId)))
    return tracker
  }
  const anna = (trackerId: string) => visitsOf(trackerId, 'anna')
  /** A single event at an instant. */
  const once = (subjectId: string, occurredAt: number) => (trackerId: string) => [
    eventRow({ trackerId, subjectId, eventId: 'e', occurredAt }),
  ]

  describe('data that has aged out, before a sweep,', () => {
    it('is not in a subject’s record, sessions or events', async () => {
      const tracker = await fill(anna)
      const [whole] = await fixture.readAll({ ...tracker, since })
      assert.deepEqual(whole?.record, {
        subjectId: 'anna',
        firstSeenAt: since - 3 * day,
        lastSeenAt: since + 3 * day,
        counts: { sessions: 2, events: 3 },
        identifiers: [],
        attributes: { visit: 'young' },
      })
      assert.deepEqual(
        whole?.sessions.map(({ sessionId, startedAt, counts }) => [sessionId, startedAt, counts.events]),
        [
          ['young', since + 2 * day, 1],
          ['over', since - 3 * day, 2],
        ],
      )
      assert.deepEqual(
        whole?.events.map(({ eventId }) => eventId),
        ['e6', 'e5', 'e4'],
      )
    })

    it('is not in the list of a session’s events', async () => {
      const tracker = { ...(await fill(anna)), since }
      const eventIds = async (sessionId: string, limit?: number) =>
        (await fixture.listEvents(tracker, 'anna', { sessionId, ...(limit && { limit }) })).map(
          ({ eventId }) => eventId,
        )
      assert.deepEqual(await eventIds('over'), ['e5', 'e4'])
      assert.deepEqual(await eventIds('over', 1), ['e5', 'e4'])
      assert.deepEqual(await eventIds('young'), ['e6'])
      assert.deepEqual(await eventIds('old'), [])
    })

    it('is not listed after a cursor from before it aged out', async () => {
      const tracker = { ...(await fill(anna)), since }
      const events = await fixture.store.events.list(tracker, 'anna', {
        ...{ limit: 10, sessionId: null },
        after: { occurredAt: since - 1, eventId: 'e3' },
      })
      assert.deepEqual(events, { rows: [], next: null })
      const sessions = await fixture.store.sessions.list(tracker, 'anna', {
        limit: 10,
        after: { startedAt: since - 3 * day, sessionId: 'over' },
      })
      assert.deepEqual(sessions, { rows: [], next: null })
    })

    it('is hidden one millisecond before the window, and visible at its start', async () => {
      const tracker = await fill(anna)
      const counts = async (from: number) =>
        (await fixture.store.subjects.read({ ...tracker, since: from }, 'anna'))?.counts
      assert.deepEqual(await counts(since - 8 * day), { sessions: 3, events: 5 }, 'the old session ends here')
      assert.deepEqual(await counts(since - 8 * day + 1), { sessions: 2, events: 5 })
      assert.deepEqual(await counts(since - 1), { sessions: 2, events: 4 })
      assert.deepEqual(await counts(since + day), { sessions: 2, events: 2 })
      assert.deepEqual(await counts(since + day + 1), { sessions: 1, events: 1 })
      assert.deepEqual(await counts(since + 3 * day), { sessions: 1, events: 0 })
      assert.equal(await counts(since + 3 * day + 1), undefined)
    })

    it('does not determine a subject’s attributes, even if that session started last', async () => {
      const tracker = await fill((trackerId) => [
        ...[
          { sessionId: 'long', startedAt: since - 9 * day, endedAt: since + day },
          { sessionId: 'short', startedAt: since - 2 * day, endedAt: since - day },
        ].map((span) =>
          sessionRow({ trackerId, subjectId: 'anna', ...span, attributes: { visit: span.sessionId } }),
        ),
      ])
      const read = (from: number) => fixture.store.subjects.read({ ...tracker, since: from }, 'anna')
      assert.deepEqual((await read(since - day))?.attributes, { visit: 'short' })
      assert.deepEqual((await read(since))?.attributes, { visit: 'long' })
      assert.equal((await read(since))?.firstSeenAt, since - 9 * day)
    })

    it('is visible again if the window becomes longer', async () => {
      const tracker = await fill(anna)
      const before = await fixture.readAll(tracker)
      assert.notDeepEqual(await fixture.readAll({ ...tracker, since }), before)
      assert.deepEqual(await fixture.readAll({ ...tracker, since: since + 4 * day }), [])
      assert.deepEqual(await fixture.readAll({ ...tracker, since: since - 9 * day }), before)
    })
  })

  describe('a subject whose data has all aged out, before a sweep,', () => {
    it('does not exist', async () => {
      const tracker = { ...(await fill(once('anna', since - 1), once('ben', since))), since }
      assert.equal(await fixture.store.subjects.read(tracker, 'anna'), null)
      assert.equal(await fixture.store.sessions.list(tracker, 'anna', { limit: 9, after: null }), null)
      for (const sessionId of [null, 'session']) {
        const query = { limit: 9, after: null, sessionId }
        assert.equal(await fixture.store.events.list(tracker, 'anna', query), null)
      }
      assert.ok(await fixture.store.subjects.read(tracker, 'ben'))
    })

    it('is in no list of subjects, for any sort, filter and page size', async () => {
      const young = ['b', 'd', 'dd', 'g']
      const tracker = await fill(
        ...['a', 'c', 'da', 'e', 'f', 'h'].map((id, i) => once(id, since - 1 - i * day)),
        ...young.map((id, i) => once(id, since + i * day)),
        // Partly aged out, so its counts must be computed.
        (trackerId) => visitsOf(trackerId, 'dc'),
      )
      const ids = (query: Partial<SubjectQuery>) => fixture.listSubjectIds({ ...tracker, since }, query)
      for (const limit of [1, 2, 3, 200]) {
        assert.deepEqual(await ids({ limit }), ['b', 'd', 'dc', 'dd', 'g'])
        assert.deepEqual(await ids({ limit, subjectIdPrefix: 'd' }), ['d', 'dc', 'dd'])
        assert.deepEqual(await ids({ limit, subjectIdPrefix: 'da' }), [])
        assert.deepEqual(await ids({ limit, sort: 'lastSeenAt' }), ['b', 'd', 'dd', 'dc', 'g'])
        assert.deepEqual(await ids({ limit, sort: '-lastSeenAt' }), ['g', 'dc', 'dd', 'd', 'b'])
        for (const lastSeenAfter of [always, since - 9 * day, since - 1]) {
          const query = { limit, lastSeenAfter, lastSeenBefore: since + day }
          assert.deepEqual(await ids({ ...query, sort: 'lastSeenAt' }), ['b'])
          assert.deepEqual(await ids({ ...query, sort: '-lastSeenAt' }), ['b'])
        }
        const late = { limit, lastSeenAfter: since + day, lastSeenBefore: null }
        assert.deepEqual(await ids({ ...late, sort: 'lastSeenAt' }), ['d', 'dd', 'dc', 'g'])
        assert.deepEqual(await ids({ ...late, sort: '-lastSeenAt' }), ['g', 'dc', 'dd', 'd'])
        const past = { limit, lastSeenBefore: since }
        for (const sort of ['lastSeenAt', '-lastSeenAt'] as const)
          assert.deepEqual(await ids({ ...past, sort }), [])
      }
    })

    it('drops out of a traversal in progress, without ending it early', async () => {
      const tracker = await fill(...['a', 'b', 'c', 'd', 'e'].map((id, i) => once(id, since + i)))
      for (const [sort, expected] of [
        ['subjectId', ['a', 'c', 'e']],
        ['lastSeenAt', ['a', 'c', 'e']],
        ['-lastSeenAt', ['e', 'd']],
      ] as const) {
        let from = since
        const seen = await walk((after: SubjectQuery['after']) => {
          const view = { ...tracker, since: from }
          // Two more age out before the next page.
          from += 2
          return fixture.store.subjects.list(view, { ...everySubject, sort, limit: 1, after })
        })
        assert.deepEqual(
          seen.map(({ subjectId }) => subjectId),
          expected,
          sort,
        )
      }
    })

    it('is skipped in any number, page by page, and swept in steps', async () => {
      const tracker = await fill(
        ...Array.from({ length: 1_210 }, (_, i) => once(`a${String(i).padStart(4, '0')}`, since - 1)),
        once('a1200-', since),
        once('b', since),
      )
      for (const limit of [1, 200]) {
        assert.deepEqual(await fixture.listSubjectIds({ ...tracker, since }, { limit }), ['a1200-', 'b'])
      }
      const sweep = () => fixture.store.retention.sweep(tracker.trackerId, stepBefore(since, 100_000))
      const swept = [await sweep()]
      while (swept.at(-1)?.isDone === false) swept.push(await sweep())
      assert.ok(swept.length > 1, 'more than a step takes')
      assert.equal(
        swept.reduce((sum, { subjects }) => sum + subjects, 0),
        1_210,
      )
      assert.deepEqual(await fixture.listSubjectIds(tracker), ['a1200-', 'b'])
    })
  })

  describe('a subject of which very much has aged out, before a sweep,', () => {
    it('lists the few sessions that have not, page by page', async () => {
      const tracker = await fill((trackerId) =>
        Array.from({ length: 1_210 }, (_, i) =>
          sessionRow({
            ...{ trackerId, subjectId: 'anna', sessionId: `s${i}`, startedAt: since - 9 * day + i },
            // Every six-hundredth continues into the window.
            endedAt: i % 600 === 0 ? since + i : since - day,
          }),
        ),
      )
      for (const limit of [1, 200]) {
        const sessions = await fixture.listSessions({ ...tracker, since }, 'anna', limit)
        assert.deepEqual(
          sessions.map(({ sessionId }) => sessionId),
          ['s1200', 's600', 's0'],
        )
      }
      const record = await fixture.store.subjects.read({ ...tracker, since }, 'anna')
      assert.deepEqual(record?.counts, { sessions: 3, events: 0 })
      assert.equal(record?.firstSeenAt, since - 9 * day)
    })
  })

  describe('a subject of which a part has aged out', () => {
    // The number of sessions decides which of two queries is used.
    for (const sessions of [40, 60]) {
      it(`is the same before and after a sweep, with ${sessions} sessions`, async () => {
        const spread = (trackerId: string) =>
          Array.from({ length: sessions }, (_, number) => {
            const owner = { trackerId, subjectId: 'anna', sessionId: `s${number}` }
            const startedAt = since + (number - sessions / 2) * day
            return [
              sessionRow({ ...owner, startedAt, endedAt: startedAt + 1.5 * day }),
              eventRow({ ...owner, eventId: `first-${number}`, occurredAt: startedAt }),
              eventRow({ ...owner, eventId: `last-${number}`, occurredAt: startedAt + 1.5 * day }),
            ]
          }).flat()
        const tracker = await fill(spread)
        const hidden = await fixture.readAll({ ...tracker, since })
        // The session that starts a day before the window keeps one event.
        const left = { sessions: sessions / 2 + 1, events: sessions + 1 }
        assert.deepEqual(hidden[0]?.record.counts, left)
        const swept = await fixture.store.retention.sweep(tracker.trackerId, stepBefore(since, 10_000))
        assert.deepEqual(swept, {
          ...{ subjects: 0, sessions: sessions / 2 - 1, events: sessions - 1, isDone: true },
        })
        assert.deepEqual(await fixture.readAll({ ...tracker, since }), hidden)
        assert.deepEqual(await fixture.readAll(tracker), hidden)
        assert.equal(
          (await fixture.store.retention.sweep(tracker.trackerId, stepBefore(since, 10_000))).events,
          0,
        )
      })
    }
  })

  describe('erasing a subject that has not been swept yet', () => {
    it('of which a part has aged out returns the visible counts, and deletes everything', async () => {
      const tracker = await fill(anna, once('ben', since))
      const erased = await eraseIn(fixture.store, { ...tracker, since }, 'anna')
      assert.deepEqual(erased, { sessions: 2, events: 3 })
      assert.equal(await fixture.store.subjects.read(tracker, 'anna'), null)
      assert.deepEqual(await fixture.listSubjectIds(tracker), ['ben'])
      await assertStartsAgain(tracker)
    })

    it('of which everything has aged out returns zeros, and deletes everything', async () => {
      const tracker = await fill(anna, once('ben', since))
      const erased = await eraseIn(fixture.store, { ...tracker, since: since + 4 * day }, 'anna')
      assert.deepEqual(erased, { sessions: 0, events: 0 })
      assert.deepEqual(await fixture.listSubjectIds(tracker), ['ben'])
      await assertStartsAgain(tracker)
    })

    /** Fails if any of Anna's sessions or events were kept: they would become visible again. */
    async function assertStartsAgain(tracker: TrackerView): Promise<void> {
      const { trackerId } = tracker
      await fixture.ingest([
        eventRow({
          trackerId,
          subjectId: 'anna',
          sessionId: 'new',
          eventId: 'new',
          occurredAt: since + 9 * day,
        }),
      ])
      const [whole] = await fixture.readAll(tracker)
      assert.deepEqual(whole?.record.counts, { sessions: 1, events: 1 })
      assert.equal(whole?.sessions.length, 1)
      assert.equal(whole?.events.length, 1)
      assert.deepEqual(await fixture.listEvents(tracker, 'anna', { sessionId: 'over' }), [])
    }
  })
}
