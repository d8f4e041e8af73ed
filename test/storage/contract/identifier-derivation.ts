import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { DerivedIdentifier, SourceQuery, SourceRow } from '../../../src/domain/identifier-derivation.ts'
import type { Page } from '../../../src/domain/page.ts'
import type { SubjectIdentifier } from '../../../src/domain/subject-identifier.ts'
import type { TrackerView } from '../../../src/domain/tracker.ts'
import { at, eventRow, sessionRow } from '../../support/rows.ts'
import { eraseIn } from '../../support/test-keyring.ts'
import { stepBefore } from '../../support/windows.ts'
import type { Fixture } from './fixture.ts'

const start = at('2026-11-01T10:00:00.000Z')
const subjectId = 'anna'

export function identifierDerivationContract(fixture: Fixture): void {
  async function identifiersOf(view: TrackerView): Promise<SubjectIdentifier[] | undefined> {
    return (await fixture.store.subjects.read(view, subjectId))?.identifiers
  }

  /** All rows that can hold an identifier, read page by page. */
  async function rowsOf(
    view: TrackerView,
    query: Pick<SourceQuery, 'kind' | 'fields'>,
  ): Promise<SourceRow[]> {
    const all: SourceRow[] = []
    for (let after: SourceRow | null = null; ; ) {
      const page: Page<SourceRow, SourceRow> = await fixture.store.derivation.rows(view, {
        ...{ subjectId, ...query, after },
      })
      all.push(...page.rows)
      after = page.next
      if (after === null) return all
    }
  }

  /** A tracker with one event and one session, and the identifiers derived from them. */
  async function withVisit() {
    const tracker = await fixture.createTracker()
    const of = { trackerId: tracker.trackerId, subjectId, sessionId: 's' }
    await fixture.ingest([
      sessionRow({ ...of, startedAt: start, endedAt: start + 20, attributes: { mail: 'ada@example.com' } }),
      eventRow({ ...of, eventId: 'e', occurredAt: start + 10, properties: { user_id: 42 } }),
    ])
    const ofSession = { subjectId, kind: 'session', sourceId: 's', broughtAt: start + 20 } as const
    const ofEvent = { subjectId, kind: 'event', sourceId: 'e', broughtAt: start + 10 } as const
    const email: DerivedIdentifier = { ...ofSession, name: 'email', value: 'ada@example.com' }
    const userId: DerivedIdentifier = { ...ofEvent, name: 'userId', value: '42' }
    return { tracker, of, email, userId }
  }

  it('a subject gets no more identifiers than the limit, and its existing ones can be renewed', async () => {
    const { tracker, of, email, userId } = await withVisit()
    const identifiers = Array.from({ length: 998 }, (_, i) => ({ userId: `${i + 42}` }))
    const rows = identifiers.map((identifiers, i) =>
      eventRow({ ...of, eventId: `more-${i}`, occurredAt: start + 1, identifiers }),
    )
    await fixture.ingest(rows)
    const [first, second] = ['first@example.com', 'second@example.com'].map((value) => ({ ...email, value }))
    assert.ok(first && second)
    const derived = [userId, email, first, second]
    const found = await fixture.store.derivation.missing(tracker, derived)
    const counts = { added: 2, renewed: 1, refused: 1 }
    assert.deepEqual(found, { missing: [userId, email, first], counts })
    assert.deepEqual(await fixture.store.derivation.add(tracker, derived), counts)
    assert.equal((await identifiersOf(tracker))?.length, 1_000)
    assert.deepEqual(await fixture.store.derivation.add(tracker, derived), {
      ...{ added: 0, renewed: 0, refused: 1 },
    })
  })

  describe('what identifiers are derived from', () => {
    it('are a subject’s rows in order, with the collected data that may hold a field', async () => {
      const { tracker, of } = await withVisit()
      await fixture.ingest([
        eventRow({ ...of, eventId: 'other', occurredAt: start + 11, properties: { user: 1 } }),
      ])
      assert.deepEqual(await rowsOf(tracker, { kind: 'event', fields: ['user_id', 'more'] }), [
        { id: 'e', at: start + 10, facts: { user_id: 42 } },
        { id: 'other', at: start + 11, facts: null },
      ])
      const sessions = await rowsOf(tracker, { kind: 'session', fields: ['mail'] })
      assert.deepEqual(sessions, [{ id: 's', at: start + 20, facts: { mail: 'ada@example.com' } }])
    })

    it('are found for any field name', async () => {
      const tracker = await fixture.createTracker()
      const names = ['e-mail', '"quoted"', 'back\\slash', 'größe', '%_', 'a\nb']
      const rows = names.map((name, i) =>
        eventRow({ trackerId: tracker.trackerId, subjectId, eventId: `e${i}`, properties: { [name]: 'x' } }),
      )
      await fixture.ingest(rows)
      for (const name of names) {
        const found = await rowsOf(tracker, { kind: 'event', fields: [name] })
        const facts = found.flatMap(({ facts }) => (facts === null ? [] : [facts]))
        assert.deepEqual(facts, [{ [name]: 'x' }])
      }
    })

    it('do not include rows that have aged out, or older data of a session', async () => {
      const { tracker, of } = await withVisit()
      await fixture.ingest([eventRow({ ...of, eventId: 'later', occurredAt: start + 30 })])
      const view = { ...tracker, since: start + 25 }
      assert.deepEqual(await rowsOf(view, { kind: 'event', fields: ['user_id'] }), [
        { id: 'later', at: start + 30, facts: null },
      ])
      const [session] = await rowsOf(view, { kind: 'session', fields: ['mail'] })
      assert.equal(session?.facts, null)
    })

    it('are read in pages, each row once, regardless of number and size', async () => {
      const tracker = await fixture.createTracker()
      const of = { trackerId: tracker.trackerId, subjectId }
      const many = Array.from({ length: 1_010 }, (_, i) =>
        eventRow({
          ...of,
          eventId: `e${i}`,
          sessionId: `s${i}`,
          occurredAt: start + (i % 7),
          properties: { n: i },
        }),
      )
      const large = Array.from({ length: 5 }, (_, i) =>
        eventRow({ ...of, eventId: `large${i}`, properties: { n: i, text: 'x'.repeat(500_000) } }),
      )
      await fixture.ingest(many)
      await fixture.ingest(large)
      const events = await rowsOf(tracker, { kind: 'event', fields: ['n'] })
      assert.deepEqual(
        events.map(({ id }) => id).sort(),
        [...many, ...large].map(({ eventId }) => eventId).sort(),
      )
      const sessions = await rowsOf(tracker, { kind: 'session', fields: ['n'] })
      assert.equal(new Set(sessions.map(({ id }) => id)).size, many.length + 1)
      const query = { subjectId, kind: 'event', fields: ['text'], after: null } as const
      const page = await fixture.store.derivation.rows(tracker, query)
      assert.ok(page.next !== null)
      assert.ok(page.rows.filter(({ facts }) => facts !== null).length < large.length, 'a page has an end')
    })
  })

  describe('an identifier that is derived', () => {
    it('is missing until it is added, then belongs to its subject and finds it', async () => {
      const { tracker, email, userId } = await withVisit()
      const { derivation, search } = fixture.store
      const both = { missing: [email, userId], counts: { added: 2, renewed: 0 } }
      assert.deepEqual(await derivation.missing(tracker, [email, userId]), both)
      assert.deepEqual(await identifiersOf(tracker), [])
      assert.deepEqual(await derivation.add(tracker, [email, userId]), { added: 2, renewed: 0 })
      const none = { missing: [], counts: { added: 0, renewed: 0 } }
      assert.deepEqual(await derivation.missing(tracker, [email, userId]), none)
      assert.deepEqual(await derivation.add(tracker, [email, userId]), none.counts)
      assert.deepEqual(await identifiersOf(tracker), [
        { name: 'email', value: 'ada@example.com' },
        { name: 'userId', value: '42' },
      ])
      const identifier = { name: 'email', value: 'ADA@example.com' }
      const { rows } = await search.subjects(tracker, { sought: { identifier }, limit: 10, after: null })
      assert.deepEqual(
        rows.map((found) => found.subjectId),
        [subjectId],
      )
    })

    it('equals an imported one, and is kept longer if its row is newer', async () => {
      const { tracker, of, userId } = await withVisit()
      const { derivation } = fixture.store
      await fixture.ingest([eventRow({ ...of, eventId: 'old', identifiers: { userId: '42' } })])
      assert.deepEqual((await derivation.missing(tracker, [userId])).counts, { added: 0, renewed: 1 })
      assert.deepEqual(await derivation.add(tracker, [userId]), { added: 0, renewed: 1 })
      assert.deepEqual(await identifiersOf({ ...tracker, since: start + 10 }), [
        { name: 'userId', value: '42' },
      ])
      await fixture.ingest([
        eventRow({ ...of, eventId: 'new', occurredAt: start + 15, identifiers: { userId: '42' } }),
      ])
      assert.deepEqual(await derivation.add(tracker, [userId]), { added: 0, renewed: 0 })
    })

    it('ages out with its row, swept or not', async () => {
      const { tracker, of, email, userId } = await withVisit()
      const { derivation, retention } = fixture.store
      await fixture.ingest([eventRow({ ...of, eventId: 'later', occurredAt: start + 40 })])
      // Everything that remains of the subject is then newer than the session's attributes.
      await retention.sweep(tracker.trackerId, stepBefore(start + 15, 100))
      assert.deepEqual(await derivation.add(tracker, [email, userId]), { added: 1, renewed: 0 })
      assert.deepEqual(await identifiersOf({ ...tracker, since: start + 21 }), [])
      await retention.sweep(tracker.trackerId, stepBefore(start + 21, 100))
      assert.deepEqual(await identifiersOf(tracker), [])
    })

    it('is not added if its row was erased, even if the subject came back', async () => {
      const { tracker, of, email, userId } = await withVisit()
      const { derivation } = fixture.store
      await eraseIn(fixture.store, tracker, subjectId)
      assert.deepEqual(await derivation.add(tracker, [email, userId]), { added: 0, renewed: 0 })
      const later = { startedAt: start + 100, endedAt: start + 120, attributes: { mail: 'b@example.com' } }
      await fixture.ingest([sessionRow({ ...of, ...later })])
      assert.deepEqual(await derivation.add(tracker, [email, userId]), { added: 0, renewed: 0 })
      assert.deepEqual(await identifiersOf(tracker), [])
    })

    it('does not survive a concurrent erasure of its subject, in either order', async () => {
      for (let round = 0; round < 2; round++) {
        const { tracker, of, email, userId } = await withVisit()
        const add = () => fixture.store.derivation.add(tracker, [email, userId])
        const erase = () => eraseIn(fixture.store, tracker, subjectId)
        await Promise.all(round % 2 === 0 ? [add(), erase()] : [erase(), add()])
        await fixture.ingest([eventRow({ ...of, eventId: 'later', occurredAt: start + 100 })])
        assert.deepEqual(await identifiersOf(tracker), [])
        const identifier = { name: 'email', value: 'ada@example.com' }
        const query = { sought: { identifier }, limit: 10, after: null }
        assert.deepEqual((await fixture.store.search.subjects(tracker, query)).rows, [])
      }
    })

    it('is not added to a tracker that is not visible', async () => {
      const { tracker, email } = await withVisit()
      const stranger = { ...tracker, organisationId: await fixture.createOrganisation() }
      const { derivation } = fixture.store
      assert.deepEqual(await derivation.add(stranger, [email]), { added: 0, renewed: 0 })
      assert.deepEqual(await identifiersOf(tracker), [])
    })
  })
}
