import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { ActivityKind, ActivityNote } from '../../../src/domain/activity.ts'
import type {
  NewPrivacyRequest,
  PrivacyRequest,
  PrivacyRequestPosition,
  PrivacyRequestQuery,
  PrivacyRequestRef,
  RequestClosing,
} from '../../../src/domain/privacy-request.ts'
import { maxExclusions, maxNotes } from '../../../src/domain/request-handling.ts'
import { at } from '../../support/rows.ts'
import { stepBefore } from '../../support/windows.ts'
import { type Fixture, walk } from './fixture.ts'
import { addMember } from './member.ts'

const start = at('2026-11-01T10:00:00.000Z')
const actor = { kind: 'member', id: 'mem_1', name: 'ada@acme.example' } as const
const nothing = { subjects: 0, sessions: 0, events: 0 }
const cancel: RequestClosing = {
  ...{ from: ['open', 'running'], to: 'cancelled', now: start + 5, rejectionReason: null },
}
const digestOf = (byte: number): Uint8Array => new Uint8Array(16).fill(byte)

export function requestHandlingContract(fixture: Fixture): void {
  const requests = () => fixture.store.privacyRequests
  const handling = () => fixture.store.requestHandling

  function note(organisationId: string, kind: ActivityKind, target: string | null = null): ActivityNote {
    const id = fixture.fresh('entry')
    return { id, organisationId, at: start, actor, kind, target, requestId: null }
  }

  async function create(
    organisationId: string,
    fields: Partial<NewPrivacyRequest> = {},
    digests: readonly Uint8Array[] = [],
  ): Promise<PrivacyRequestRef> {
    const request: NewPrivacyRequest = {
      ...{ id: fixture.fresh('request'), organisationId, kind: 'erasure', reference: null, found: nothing },
      ...{ receivedAt: start, dueAt: start + 30, contentDigest: 'it', createdAt: start, createdBy: actor },
      ...{ person: { identifiers: [{ name: 'email', value: 'ada@example.com' }], subjects: [] } },
      ...fields,
    }
    const created = note(organisationId, 'request.created', request.id)
    assert.equal(await requests().create(request, digests, created), 'created')
    return { organisationId, id: request.id }
  }

  async function createMember(organisationId: string): Promise<string> {
    const id = fixture.fresh('member')
    await addMember(fixture, { id, organisationId, createdAt: 1 })
    return id
  }

  const close = (ref: PrivacyRequestRef) =>
    requests().close(ref, cancel, note(ref.organisationId, 'request.cancelled', ref.id))
  const begin = (ref: PrivacyRequestRef) =>
    fixture.store.requestGroups.start([
      {
        ref,
        starter: { startedBy: actor, requestId: null, found: nothing },
        note: note(ref.organisationId, 'request.started', ref.id),
      },
    ])
  const assign = (ref: PrivacyRequestRef, memberId: string | null) =>
    handling().assign(ref, memberId, note(ref.organisationId, 'request.assigned', ref.id))
  const write = (ref: PrivacyRequestRef, text: string, at = start) =>
    handling().addNote(
      ref,
      { id: fixture.fresh('note'), at, by: actor, text },
      note(ref.organisationId, 'request.note-added', ref.id),
    )
  const exclude = (ref: PrivacyRequestRef, digests: readonly [Uint8Array, ...Uint8Array[]], at = start) =>
    handling().exclude(
      ref,
      { trackerId: 'shop', reason: 'Another Ada', at, by: actor },
      digests,
      note(ref.organisationId, 'request.record-excluded', ref.id),
    )
  const include = (ref: PrivacyRequestRef, digests: readonly Uint8Array[]) =>
    handling().include(ref, digests, note(ref.organisationId, 'request.record-included', ref.id))
  const storyOf = async (ref: PrivacyRequestRef, limit = 100) =>
    (await fixture.store.activity.ofPrivacyRequest(ref, limit)).map(({ kind }) => kind.slice(8)).sort()
  const assigneeOf = async (ref: PrivacyRequestRef) => (await requests().find(ref))?.assigneeId

  describe('the assignee of a privacy request', () => {
    it('is a member of its organisation, or nobody', async () => {
      const organisationId = await fixture.createOrganisation()
      const ref = await create(organisationId)
      const [member, stranger] = [
        await createMember(organisationId),
        await createMember(await fixture.createOrganisation()),
      ]
      assert.equal(await assigneeOf(ref), null)
      assert.equal(await assign(ref, member), 'assigned')
      assert.equal(await assign(ref, stranger), 'no-member')
      assert.equal(await assign(ref, 'nobody'), 'no-member')
      assert.equal(await assigneeOf(ref), member)
      assert.equal(await assign(ref, null), 'assigned')
      assert.equal(await assigneeOf(ref), null)
      const foreign = { ...ref, organisationId: await fixture.createOrganisation() }
      assert.equal(await assign(foreign, null), 'closed')
      assert.deepEqual(await storyOf(ref), ['assigned', 'assigned', 'created'])
    })

    it('does not change once the request is closed', async () => {
      const organisationId = await fixture.createOrganisation()
      const ref = await create(organisationId)
      const member = await createMember(organisationId)
      await assign(ref, member)
      await close(ref)
      assert.equal(await assign(ref, null), 'closed')
      assert.equal(await assigneeOf(ref), member)
    })

    it('is nobody after the member is removed', async () => {
      const organisationId = await fixture.createOrganisation()
      const member = await createMember(organisationId)
      const other = await createMember(organisationId)
      const [open, running, others] = [
        await create(organisationId),
        await create(organisationId),
        await create(organisationId),
      ]
      for (const ref of [open, running]) await assign(ref, member)
      await assign(others, other)
      await begin(running)
      const removed = note(organisationId, 'member.removed')
      assert.equal(await fixture.store.members.remove(organisationId, member, removed), 'removed')
      assert.deepEqual(await Promise.all([open, running, others].map((ref) => assigneeOf(ref))), [
        null,
        null,
        other,
      ])
      assert.equal(await assign(open, member), 'no-member')
    })
  })

  describe('the notes of a privacy request', () => {
    it('are read oldest first, and deleted one by one, only by its organisation', async () => {
      const ref = await create(await fixture.createOrganisation())
      assert.equal(await write(ref, 'Second', start + 2), 'added')
      assert.equal(await write(ref, 'First\nof two', start + 1), 'added')
      const [first, second] = await handling().notes(ref)
      assert.ok(first && second)
      assert.deepEqual([first.text, first.at, first.by], ['First\nof two', start + 1, actor])
      const foreign = { ...ref, organisationId: await fixture.createOrganisation() }
      const remove = (of: PrivacyRequestRef, id: string) =>
        handling().deleteNote(of, id, note(of.organisationId, 'request.note-deleted', of.id))
      assert.deepEqual(await handling().notes(foreign), [])
      assert.equal(await write(foreign, 'Not theirs'), 'closed')
      assert.equal(await remove(foreign, first.id), false)
      assert.deepEqual([await remove(ref, first.id), await remove(ref, first.id)], [true, false])
      assert.deepEqual(
        (await handling().notes(ref)).map(({ text }) => text),
        ['Second'],
      )
      assert.deepEqual(await storyOf(ref), ['created', 'note-added', 'note-added', 'note-deleted'])
    })

    it('are deleted when it is closed from any state, so that a scrub is due', async () => {
      for (const isRunning of [false, true]) {
        const ref = await create(await fixture.createOrganisation())
        if (isRunning) await begin(ref)
        assert.equal(await write(ref, 'Ada called'), 'added')
        assert.ok(await close(ref))
        assert.deepEqual(await handling().notes(ref), [])
        assert.equal(await write(ref, 'too late'), 'closed')
        assert.equal((await fixture.store.maintenance.scrubState()).isDue, true)
      }
    })

    it('are limited to what a member can read', async () => {
      const ref = await create(await fixture.createOrganisation())
      for (let i = 0; i < maxNotes; i++) assert.equal(await write(ref, 'again'), 'added')
      assert.equal(await write(ref, 'one more'), 'too-many')
    })
  })

  describe('the exclusions of a privacy request', () => {
    it('are recognised by any digest of the subject, once, only by its organisation', async () => {
      const ref = await create(await fixture.createOrganisation())
      const foreign = { ...ref, organisationId: await fixture.createOrganisation() }
      assert.equal(await exclude(foreign, [digestOf(1)]), 'not-open')
      assert.equal(await exclude(ref, [digestOf(2)], start + 2), 'excluded')
      assert.equal(await exclude(ref, [digestOf(1), digestOf(9)], start + 1), 'excluded')
      // After a rotation of the secret, the digest from before is second.
      assert.equal(await exclude(ref, [digestOf(3), digestOf(1)]), 'already')
      const list = await handling().exclusions(ref)
      assert.deepEqual(
        list.map(({ digest, ...rest }) => [digest[0], rest]),
        [1, 2].map((i) => [i, { trackerId: 'shop', reason: 'Another Ada', at: start + i, by: actor }]),
      )
      assert.deepEqual(await handling().exclusions(foreign), [])
      assert.equal(await include(foreign, [digestOf(1)]), 'not-open')
      assert.equal(await include(ref, [digestOf(7)]), 'absent')
      assert.equal(await include(ref, [digestOf(3), digestOf(1)]), 'included')
      assert.equal(await include(ref, [digestOf(3), digestOf(1)]), 'absent')
      assert.equal((await handling().exclusions(ref)).length, 1)
      const expected = ['created', 'record-excluded', 'record-excluded', 'record-included']
      assert.deepEqual(await storyOf(ref), expected)
    })

    it('change only while it is open, and remain with their reasons', async () => {
      const changes = { start: begin, close } as const
      for (const [name, change] of Object.entries(changes)) {
        const ref = await create(await fixture.createOrganisation())
        await exclude(ref, [digestOf(1)])
        assert.ok(await change(ref))
        assert.equal(await exclude(ref, [digestOf(2)]), 'not-open', name)
        assert.equal(await include(ref, [digestOf(1)]), 'not-open', name)
        assert.equal((await handling().exclusions(ref))[0]?.reason, 'Another Ada', name)
      }
    })

    it('are limited to what a search can leave out', async () => {
      const ref = await create(await fixture.createOrganisation())
      for (let i = 0; i < maxExclusions; i++) {
        const digest = Buffer.alloc(16)
        digest.writeUInt32BE(i)
        assert.equal(await exclude(ref, [digest]), 'excluded')
      }
      assert.equal(await exclude(ref, [digestOf(255)]), 'too-many')
    })

    it('are removed with it', async () => {
      const ref = await create(await fixture.createOrganisation())
      await exclude(ref, [digestOf(1)])
      await requests().close(ref, { ...cancel, now: -9 }, note(ref.organisationId, 'request.cancelled'))
      const swept = await requests().sweep(ref.organisationId, stepBefore(-8, 10))
      assert.equal(swept.requests, 1)
      assert.equal(await requests().find(ref), null)
      assert.deepEqual(await handling().exclusions(ref), [])
    })
  })

  describe('the list of privacy requests', () => {
    const all: Omit<PrivacyRequestQuery, 'after'> = { limit: 3, state: null, kind: null, dueBefore: null }

    it('can be filtered by assignee or none, in either order, with every other filter', async () => {
      const organisationId = await fixture.createOrganisation()
      const members = [await createMember(organisationId), await createMember(organisationId), null]
      const created: { id: string; kind: string; dueAt: number; assigneeId: string | null; state: string }[] =
        []
      for (let i = 0; i < 24; i++) {
        const kind = i % 2 === 0 ? 'access' : 'erasure'
        const dueAt = start + ((i * 7) % 11)
        const ref = await create(organisationId, { kind, dueAt })
        const assigneeId = members[i % 3] ?? null
        await assign(ref, assigneeId)
        const state = i % 5 === 0 ? 'cancelled' : i % 5 === 1 ? 'running' : 'open'
        if (state === 'cancelled') await close(ref)
        if (state === 'running') await begin(ref)
        created.push({ id: ref.id, kind, dueAt, assigneeId, state })
      }
      created.sort((a, b) => a.dueAt - b.dueAt || (a.id < b.id ? -1 : 1))
      for (const state of [null, 'pending', 'open', 'cancelled', 'done'] as const) {
        for (const kind of [null, 'access', 'erasure'] as const) {
          for (const assigneeId of [undefined, members[0], null, 'a stranger']) {
            for (const dueBefore of [null, start + 4]) {
              const expected = created.filter(
                (each) =>
                  (state === null ||
                    state === each.state ||
                    (state === 'pending' && each.state !== 'cancelled')) &&
                  (kind === null || kind === each.kind) &&
                  (assigneeId === undefined || assigneeId === each.assigneeId) &&
                  (dueBefore === null || each.dueAt < dueBefore),
              )
              const assigned = assigneeId === undefined ? {} : { assigneeId }
              for (const isLatestFirst of [false, true]) {
                const query = { ...all, ...{ state, kind, dueBefore, isLatestFirst }, ...assigned }
                const listed = await walk<PrivacyRequest, PrivacyRequestPosition>((after) =>
                  requests().list(organisationId, { ...query, after }),
                )
                const ids = expected.map(({ id }) => id)
                const inOrder = isLatestFirst ? ids.toReversed() : ids
                assert.deepEqual(
                  listed.map(({ id }) => id),
                  inOrder,
                  JSON.stringify(query),
                )
              }
            }
          }
        }
      }
    })

    it('counts open ones: all, due soon, overdue, and of a member', async () => {
      const organisationId = await fixture.createOrganisation()
      const member = await createMember(organisationId)
      for (const dueAt of [start - 1, start, start + 9, start + 10, start + 11])
        await create(organisationId, { dueAt })
      const [running, closed] = [await create(organisationId), await create(organisationId)]
      for (const ref of [running, closed]) await assign(ref, member)
      await begin(running)
      await close(closed)
      const count = (of: string) => handling().countOpen(of, member, start, start + 10)
      assert.deepEqual(await count(organisationId), { open: 6, dueSoon: 2, overdue: 1, mine: 1 })
      const empty = { open: 0, dueSoon: 0, overdue: 0, mine: 0 }
      assert.deepEqual(await count(await fixture.createOrganisation()), empty)
    })
  })

  describe('the story of a privacy request', () => {
    it('is its newest activity, and not that of anything with the same name', async () => {
      const organisationId = await fixture.createOrganisation()
      const ref = await create(organisationId)
      const other = await create(organisationId)
      const same = await create(await fixture.createOrganisation(), { id: ref.id })
      await fixture.store.activity.add(note(organisationId, 'tracker.deleted', ref.id))
      await fixture.store.activity.add({ ...note(organisationId, 'request.exported', ref.id), at: start + 9 })
      await close(other)
      assert.deepEqual(await storyOf(ref), ['created', 'exported'])
      assert.deepEqual(await storyOf(ref, 1), ['exported'])
      assert.deepEqual(await storyOf(same), ['created'])
    })

    it('includes the digests of its person', async () => {
      const ref = await create(await fixture.createOrganisation(), {}, [digestOf(1), digestOf(2)])
      const bytesOf = async () => (await handling().personDigests(ref)).map(([byte]) => byte).sort()
      assert.deepEqual(await bytesOf(), [1, 2])
      await close(ref)
      assert.deepEqual(await bytesOf(), [1, 2])
    })
  })
}
