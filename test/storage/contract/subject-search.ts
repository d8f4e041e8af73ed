import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { FoundSubject, Sought } from '../../../src/domain/subject-search.ts'
import type { TrackerView } from '../../../src/domain/tracker.ts'
import { always, at, eventRow } from '../../support/rows.ts'
import { eraseIn } from '../../support/test-keyring.ts'
import { stepBefore } from '../../support/windows.ts'
import { byCodePoints, type Fixture, walk } from './fixture.ts'

const start = at('2026-11-01T10:00:00.000Z')
const ada: Sought = { identifier: { name: 'email', value: 'ada@example.com' } }

export function subjectSearchContract(fixture: Fixture): void {
  /** Stores one event of a subject, with identifiers. */
  async function see(
    { trackerId }: TrackerView,
    subjectId: string,
    identifiers: Record<string, string>,
    occurredAt = start,
  ): Promise<void> {
    const event = { trackerId, subjectId, eventId: `e${occurredAt}`, occurredAt, identifiers }
    await fixture.ingest([eventRow(event)])
  }

  async function search(
    { organisationId, since = always }: { organisationId: string; since?: number },
    sought: Sought,
    limit = 200,
  ): Promise<FoundSubject[]> {
    return walk<FoundSubject, string>((after) =>
      fixture.store.search.subjects({ organisationId, since }, { sought, limit, after }),
    )
  }

  /** The subjects found, as tracker and subject. */
  async function found(...args: Parameters<typeof search>): Promise<string[]> {
    return (await search(...args))
      .map(({ trackerId, subjectId }) => `${trackerId} ${subjectId}`)
      .sort(byCodePoints)
  }

  describe('the names of identifiers', () => {
    it('are those stored for the organisation’s subjects, until the organisation is deleted', async () => {
      const shop = await fixture.createTracker()
      const blog = await fixture.createTracker(shop.organisationId)
      const rival = await fixture.createTracker()
      await see(shop, 'anna', { email: 'ada@example.com', userId: '42' })
      await see(blog, 'anna', { email: 'ada@example.com' })
      await see(rival, 'anna', { orderId: '42' })
      const derived = { subjectId: 'anna', kind: 'event', sourceId: `e${start}`, broughtAt: start } as const
      await fixture.store.derivation.add(blog, [{ ...derived, name: 'phone', value: '1' }])
      const names = (organisationId: string) => fixture.store.search.identifierNames(organisationId, 100)
      assert.deepEqual(await names(shop.organisationId), ['email', 'phone', 'userId'])
      assert.deepEqual(await fixture.store.search.identifierNames(shop.organisationId, 2), ['email', 'phone'])
      assert.deepEqual(await names(rival.organisationId), ['orderId'])
      assert.deepEqual(await names('nobody'), [])
    })
  })

  describe('a search by an identifier', () => {
    it('finds its subjects in every tracker of the organisation, as in lists', async () => {
      const shop = await fixture.createTracker()
      const blog = await fixture.createTracker(shop.organisationId)
      await see(shop, 'anna', { email: 'ada@example.com' })
      await see(shop, 'berta', { email: 'ada@example.com', userId: '42' })
      await see(shop, 'cleo', { email: 'cleo@example.com' })
      await see(blog, 'anna', { email: 'ada@example.com' })
      const { trackerId } = blog
      const expected = [`${shop.trackerId} anna`, `${shop.trackerId} berta`, `${trackerId} anna`]
      assert.deepEqual(await found(shop, ada), expected.sort(byCodePoints))
      const own = (await search(shop, ada)).find((each) => each.trackerId === trackerId)
      const counts = { sessions: 1, events: 1 }
      assert.deepEqual(own, { trackerId, subjectId: 'anna', firstSeenAt: start, lastSeenAt: start, counts })
    })

    it('compares addresses regardless of case, and everything else exactly', async () => {
      const shop = await fixture.createTracker()
      await see(shop, 'anna', { email: 'ÅDA@Example.com', userId: 'Ab', mail: 'ada@example.com' })
      const by = (name: string, value: string) => found(shop, { identifier: { name, value } })
      assert.equal((await by('email', 'åda@EXAMPLE.com')).length, 1)
      assert.equal((await by('userId', 'Ab')).length, 1)
      assert.deepEqual(await by('userId', 'ab'), [])
      assert.deepEqual(await by('mail', 'Ada@example.com'), [])
      assert.deepEqual(await by('email', 'ada@example.com'), [])
    })

    it('finds an identifier however its accents are encoded, and stores one of two encodings', async () => {
      const shop = await fixture.createTracker()
      const [composed, decomposed] = ['jos\u00e9', 'jose\u0301']
      await see(shop, 'anna', { email: `${decomposed}@example.com`, userId: composed })
      await see(shop, 'berta', { email: `${composed}@example.com` })
      await see(shop, 'berta', { email: `${decomposed.toUpperCase()}@example.com` }, start + 1)
      for (const form of [composed, decomposed]) {
        const people = await found(shop, { identifier: { name: 'email', value: `${form}@example.com` } })
        assert.equal(people.length, 2)
        assert.equal((await found(shop, { identifier: { name: 'userId', value: form } })).length, 1)
      }
      const { identifiers } = (await fixture.store.subjects.read(shop, 'berta')) ?? {}
      assert.deepEqual(identifiers, [{ name: 'email', value: `${decomposed.toUpperCase()}@example.com` }])
      const derived = { subjectId: 'anna', kind: 'event', sourceId: `e${start}`, broughtAt: start } as const
      const again = { ...derived, name: 'email', value: `${composed}@example.com` }
      const { counts } = await fixture.store.derivation.missing(shop, [again])
      assert.deepEqual(counts, { added: 0, renewed: 1 })
    })

    it('finds nobody of another organisation, with the same trackers and addresses', async () => {
      const [ours, theirs] = [await fixture.createTracker(), await fixture.createTracker()]
      await see(ours, 'anna', { email: 'ada@example.com' })
      await see(theirs, 'anna', { email: 'ada@example.com' })
      assert.deepEqual(await found(ours, ada), [`${ours.trackerId} anna`])
      assert.deepEqual(await found({ organisationId: 'nobody' }, ada), [])
    })

    it('finds nobody who was erased, or whose tracker was deleted', async () => {
      const shop = await fixture.createTracker()
      const blog = await fixture.createTracker(shop.organisationId)
      for (const tracker of [shop, blog]) await see(tracker, 'anna', { email: 'ada@example.com' })
      await eraseIn(fixture.store, shop, 'anna')
      assert.deepEqual(await found(shop, ada), [`${blog.trackerId} anna`])
      const actor = { kind: 'command-line' } as const
      const what = { organisationId: shop.organisationId, kind: 'tracker.deleted' } as const
      const note = { ...what, id: fixture.fresh('note'), at: start, actor, target: null, requestId: null }
      await fixture.store.deletions.deleteTracker(blog, blog.trackerId, start, note)
      assert.deepEqual(await found(shop, ada), [])
    })

    it('finds nobody by what has aged out, swept or not, while the subject is still there', async () => {
      const shop = await fixture.createTracker()
      await see(shop, 'anna', { email: 'ada@example.com' })
      await see(shop, 'anna', {}, start + 10)
      const since = start + 1
      assert.deepEqual(await found({ ...shop, since }, ada), [])
      assert.deepEqual(await search({ ...shop, since }, { subjectId: 'anna' }), [
        {
          ...{ trackerId: shop.trackerId, subjectId: 'anna', firstSeenAt: start, lastSeenAt: start + 10 },
          counts: { sessions: 1, events: 1 },
        },
      ])
      await fixture.store.retention.sweep(shop.trackerId, stepBefore(since, 100))
      assert.deepEqual(await found(shop, ada), [])
    })

    it('finds each once with any page size, even after many that have aged out', async () => {
      const shop = await fixture.createTracker()
      const { trackerId } = shop
      const identifiers = { email: 'ada@example.com' }
      const rows = Array.from({ length: 20 }, (_, i) =>
        eventRow({ trackerId, subjectId: `s${i}`, eventId: 'e', occurredAt: start + (i % 4), identifiers }),
      )
      await fixture.ingest(rows)
      const all = await found(shop, ada)
      assert.equal(all.length, 20)
      for (const limit of [1, 7, 20]) assert.deepEqual(await found(shop, ada, limit), all)
      assert.equal((await found({ ...shop, since: start + 3 }, ada, 2)).length, 5)
    })
  })

  describe('a search by a subject’s id', () => {
    it('finds it in every tracker of the organisation that has it, and in no other', async () => {
      const shop = await fixture.createTracker()
      const blog = await fixture.createTracker(shop.organisationId)
      const empty = await fixture.createTracker(shop.organisationId)
      const theirs = await fixture.createTracker()
      for (const tracker of [shop, blog, theirs]) await see(tracker, 'anna', {})
      await see(empty, 'Anna', {})
      const sought = { subjectId: 'anna' }
      const expected = [`${shop.trackerId} anna`, `${blog.trackerId} anna`].sort(byCodePoints)
      for (const limit of [1, 200]) assert.deepEqual(await found(shop, sought, limit), expected)
      assert.deepEqual(await found(shop, { subjectId: 'nobody' }), [])
    })

    it('finds nothing that has aged out', async () => {
      const shop = await fixture.createTracker()
      await see(shop, 'anna', {})
      assert.deepEqual(await found({ ...shop, since: start + 1 }, { subjectId: 'anna' }), [])
    })
  })
}
