import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type {
  ActivityEntry,
  ActivityNote,
  ActivityPosition,
  ActivityQuery,
} from '../../../src/domain/activity.ts'
import type { ApiKey } from '../../../src/domain/api-key.ts'
import { newApiKey } from '../../support/new-api-key.ts'
import { at, eventRow, sessionRow } from '../../support/rows.ts'
import { eraseIn } from '../../support/test-keyring.ts'
import { type Fixture, walk } from './fixture.ts'

const start = at('2026-11-01T10:00:00.000Z')
const hash = '07'.repeat(32)

export function activityContract(fixture: Fixture): void {
  function note(organisationId: string, fields: Partial<ActivityNote> = {}): ActivityNote {
    return {
      id: fixture.fresh('entry'),
      organisationId,
      at: start,
      actor: { kind: 'member', id: 'mem_1', name: 'ada@acme.example' },
      kind: 'key.created',
      target: 'nightly',
      requestId: 'req-1',
      ...fields,
    }
  }

  function key(organisationId: string, fields: Partial<ApiKey> = {}): ApiKey {
    const [id, name] = [fixture.fresh('key'), fixture.fresh('name')]
    return newApiKey({ id, organisationId, name, createdAt: start, ...fields })
  }

  async function listed(
    organisationId: string,
    requestId: string | null = null,
    limit = 200,
    range: Pick<ActivityQuery, 'since' | 'kind' | 'actor'> = {},
  ) {
    return walk<ActivityEntry, ActivityPosition>((after) =>
      fixture.store.activity.list(organisationId, { limit, after, requestId, ...range }),
    )
  }

  describe('activity', () => {
    it('is filtered by kind, actor and request, in any combination, page by page', async () => {
      const organisationId = await fixture.createOrganisation()
      const stranger = await fixture.createOrganisation()
      const actors = [
        { kind: 'member', id: 'mem_1', name: 'ada' },
        { kind: 'key', id: 'key_1', name: 'nightly' },
        { kind: 'command-line' },
      ] as const
      const kinds = ['key.created', 'subject.exported', 'member.signed-in'] as const
      const notes: ActivityNote[] = []
      for (let i = 0; i < 36; i++) {
        const [actor, kind] = [actors[i % 3], kinds[Math.floor(i / 3) % 3]]
        assert.ok(actor && kind)
        notes.push(note(organisationId, { at: start + (i >> 1), actor, kind, requestId: `req-${i % 4}` }))
      }
      for (const each of [...notes, note(stranger)]) await fixture.store.activity.add(each)
      const idOf = (actor: ActivityNote['actor']) =>
        actor.kind === 'command-line' ? 'command-line' : actor.id
      const all = await listed(organisationId)
      assert.equal(all.length, notes.length)
      for (const kind of [null, ...kinds, 'key.revoked'] as const) {
        for (const actor of [null, 'mem_1', 'key_1', 'command-line', 'nobody']) {
          for (const requestId of [null, 'req-1']) {
            const expected = all.filter(
              (entry) =>
                (kind === null || entry.kind === kind) &&
                (actor === null || idOf(entry.actor) === actor) &&
                (requestId === null || entry.requestId === requestId),
            )
            const range = { kind, actor, since: start + 2 }
            const found = await listed(organisationId, requestId, 5, range)
            assert.deepEqual(
              found,
              expected.filter(({ at }) => at >= start + 2),
            )
          }
        }
      }
    })

    it('accepts a note on its own, unless the organisation does not exist', async () => {
      const organisationId = await fixture.createOrganisation()
      const added = note(organisationId, { kind: 'subject.exported', target: 'shop' })
      await fixture.store.activity.add(added)
      assert.deepEqual(await listed(organisationId), [{ ...added, counts: null, ledgerIndex: null }])
      const gone = fixture.fresh('gone')
      await fixture.store.activity.add(note(gone))
      assert.deepEqual(await listed(gone), [])
    })

    it('records the creation of a tracker, once', async () => {
      const organisationId = await fixture.createOrganisation()
      const tracker = { id: fixture.fresh('tracker'), organisationId, name: 'Shop', createdAt: start }
      const created = note(organisationId, { kind: 'tracker.created', target: tracker.id })
      assert.equal(await fixture.store.trackers.create(tracker, created), true)
      assert.equal(await fixture.store.trackers.create(tracker, note(organisationId)), false)
      assert.deepEqual(await listed(organisationId), [{ ...created, counts: null, ledgerIndex: null }])
    })

    it('records the creation of a key with the given note', async () => {
      const organisationId = await fixture.createOrganisation()
      for (const actor of [
        { kind: 'member', id: 'mem_1', name: 'ada@acme.example' },
        { kind: 'key', id: 'K1', name: `"O'Neill" 🦦` },
        { kind: 'command-line' },
      ] as const) {
        const left = note(organisationId, { actor, requestId: null, target: null })
        await fixture.store.apiKeys.create(key(organisationId), hash, left)
        const [newest] = await listed(organisationId)
        assert.deepEqual(newest, { ...left, counts: null, ledgerIndex: null })
        await fixture.store.organisations.setPlan(organisationId, 'pro')
      }
    })

    it('does not record a key whose name is taken', async () => {
      const organisationId = await fixture.createOrganisation()
      const name = fixture.fresh('name')
      await fixture.store.apiKeys.create(key(organisationId, { name }), hash)
      const second = key(organisationId, { name })
      assert.equal(await fixture.store.apiKeys.create(second, hash, note(organisationId)), false)
      assert.deepEqual(await listed(organisationId), [])
    })

    it('records a rotation or revocation only if it takes effect', async () => {
      const organisationId = await fixture.createOrganisation()
      const stored = key(organisationId)
      await fixture.store.apiKeys.create(stored, hash)
      const [rotated, revoked] = [
        note(organisationId, { kind: 'key.rotated', at: start + 1 }),
        note(organisationId, { kind: 'key.revoked', at: start + 2 }),
      ]
      const proof = { hash: 'fe'.repeat(32), lastFour: 'abcd' }
      await fixture.store.apiKeys.rotate(stored.id, proof, start, rotated)
      await fixture.store.apiKeys.revoke(stored.id, start, revoked)
      assert.equal(await fixture.store.apiKeys.rotate(stored.id, proof, start, note(organisationId)), null)
      assert.equal(await fixture.store.apiKeys.revoke(stored.id, start, note(organisationId)), false)
      assert.deepEqual(await listed(organisationId), [
        { ...revoked, counts: null, ledgerIndex: null },
        { ...rotated, counts: null, ledgerIndex: null },
      ])
    })

    it('records an erasure with its counts, even if zero, and without the subject’s ID', async () => {
      const tracker = await fixture.createTracker()
      const { organisationId, trackerId } = tracker
      await fixture.ingest([
        sessionRow({ trackerId, subjectId: 'anna', sessionId: 's1', startedAt: start }),
        ...['e1', 'e2'].map((eventId) =>
          eventRow({ trackerId, subjectId: 'anna', sessionId: 's1', eventId }),
        ),
      ])
      const erased = (at: number) => note(organisationId, { kind: 'subject.erased', target: trackerId, at })
      const [first, second] = [erased(start), erased(start + 1)]
      await eraseIn(fixture.store, tracker, 'anna', first)
      await eraseIn(fixture.store, tracker, 'anna', second)
      const entries = await listed(organisationId)
      assert.deepEqual(entries, [
        { ...second, counts: { sessions: 0, events: 0 }, ledgerIndex: 1 },
        { ...first, counts: { sessions: 1, events: 2 }, ledgerIndex: 0 },
      ])
      assert.equal(JSON.stringify(entries).includes('anna'), false)
    })

    it('does not record an erasure in a tracker that is not visible', async () => {
      const tracker = await fixture.createTracker()
      const organisationId = await fixture.createOrganisation()
      const left = note(organisationId, { kind: 'subject.erased' })
      assert.equal(await eraseIn(fixture.store, { ...tracker, organisationId }, 'anna', left), null)
      assert.deepEqual(await listed(organisationId), [])
      assert.deepEqual(await listed(tracker.organisationId), [])
    })

    it('is listed for one organisation only, newest first, ties by ID', async () => {
      const [mine, theirs] = [await fixture.createOrganisation(), await fixture.createOrganisation()]
      const leave = (organisationId: string, id: string, at: number) =>
        fixture.store.apiKeys.create(key(organisationId), hash, note(organisationId, { id, at }))
      for (const [id, at] of [
        ['b', start],
        ['a', start],
        ['c', start - 1],
        ['d', start + 1],
      ] as const) {
        await leave(mine, id, at)
        await leave(theirs, id, at)
      }
      for (const limit of [1, 2, 3, 200]) {
        const entries = await listed(mine, null, limit)
        assert.deepEqual(
          entries.map(({ id, organisationId }) => [id, organisationId]),
          ['d', 'b', 'a', 'c'].map((id) => [id, mine]),
        )
      }
      assert.deepEqual(await listed('nobody'), [])
    })

    it('can be limited to entries from an instant on, with and without a request ID', async () => {
      const organisationId = await fixture.createOrganisation()
      for (const i of [0, 1, 2, 3]) {
        const left = note(organisationId, { id: `e${i}`, at: start + i, requestId: i === 2 ? 'b' : 'a' })
        await fixture.store.apiKeys.create(key(organisationId), hash, left)
      }
      for (const limit of [1, 200]) {
        const ids = async (requestId: string | null, since: number) =>
          (await listed(organisationId, requestId, limit, { since })).map(({ id }) => id)
        assert.deepEqual(await ids(null, start + 1), ['e3', 'e2', 'e1'])
        assert.deepEqual(await ids('a', start + 1), ['e3', 'e1'])
        assert.deepEqual(await ids(null, start + 4), [])
        assert.deepEqual(await ids(null, start - 1), ['e3', 'e2', 'e1', 'e0'])
      }
    })

    it('is listed by request ID, page by page, within its organisation', async () => {
      const [mine, theirs] = [await fixture.createOrganisation(), await fixture.createOrganisation()]
      for (const [i, requestId] of ['a', 'b', 'a', null, 'A', 'a'].entries()) {
        const left = note(mine, { id: `e${i}`, at: start + i, requestId })
        await fixture.store.apiKeys.create(key(mine), hash, left)
      }
      for (const limit of [1, 2, 200]) {
        assert.deepEqual(
          (await listed(mine, 'a', limit)).map(({ id }) => id),
          ['e5', 'e2', 'e0'],
        )
      }
      assert.deepEqual(await listed(mine, '%'), [])
      assert.deepEqual(await listed(theirs, 'a'), [])
    })
  })
}
