import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { ActivityKind } from '../../../src/domain/activity.ts'
import { approvalWindowMs } from '../../../src/domain/approval.ts'
import type { PrivacyRequestRef } from '../../../src/domain/privacy-request.ts'
import type { Fixture } from './fixture.ts'

const now = 1_794_000_000_000
const found = { subjects: 1, sessions: 2, events: 3 }
const memberNamed = (id: string) => ({ kind: 'member', id, name: `${id}@acme.example` }) as const
const ada = memberNamed('ada')

export function approvalContract(fixture: Fixture): void {
  const store = () => fixture.store
  const note = (organisationId: string, kind: ActivityKind, actor = ada, at = now) => ({
    ...{ id: fixture.fresh('entry'), organisationId, at, actor, kind, target: null, requestId: 'req' },
  })

  async function organisationWithRule(above: number): Promise<string> {
    const id = await fixture.createOrganisation()
    assert.ok(await store().approvals.saveRule(id, above, note(id, 'organisation.approval-changed')))
    assert.equal(await store().approvals.findRule(id), above)
    return id
  }

  async function addRequest(organisationId: string): Promise<PrivacyRequestRef> {
    const id = fixture.fresh('request')
    const person = { identifiers: [], subjects: [{ trackerId: 'shop', subjectId: id }] }
    const request = {
      ...({ id, organisationId, kind: 'erasure', reference: null, person, found } as const),
      ...{ receivedAt: now, dueAt: now + 30, contentDigest: id, createdAt: now, createdBy: ada },
    }
    await store().privacyRequests.create(request, [], note(organisationId, 'request.created'))
    return { organisationId, id }
  }

  const startAll = (
    refs: readonly PrivacyRequestRef[],
    actor = ada,
    at = now,
    action?: { people: number; started: number },
  ) =>
    store().requestGroups.start(
      refs.map((ref) => ({
        ...{ ref, starter: { startedBy: actor, requestId: 'req', found } },
        note: note(ref.organisationId, 'request.started', actor, at),
      })),
      action,
    )
  const start = (ref: PrivacyRequestRef, actor = ada, at = now) => startAll([ref], actor, at)
  const decide = (verdict: 'approve' | 'decline', ref: PrivacyRequestRef, by: string) => {
    const kind = verdict === 'approve' ? 'request.approved' : 'request.declined'
    const decision = { ref, found, note: note(ref.organisationId, kind, memberNamed(by)) }
    const { approve, decline } = store().approvals
    return verdict === 'approve' ? approve([decision], by) : decline([decision])
  }
  const read = async (ref: PrivacyRequestRef) => {
    const request = await store().privacyRequests.find(ref)
    return { state: request?.state, asker: request?.approval?.askedBy.id ?? null }
  }
  const sumOf = (numbers: readonly number[]) => numbers.reduce((sum, each) => sum + each, 0)

  describe('an erasure above the approval threshold', () => {
    it('is counted once, even if a member starts it many times concurrently, and for a day', async () => {
      const organisationId = await organisationWithRule(2)
      const refs = await Promise.all(Array.from({ length: 6 }, () => addRequest(organisationId)))
      const outcomes = await Promise.all(refs.map((ref) => start(ref)))
      assert.equal(sumOf(outcomes.map(({ started }) => started)), 2)
      assert.equal(sumOf(outcomes.map(({ waiting }) => waiting)), 4)
      const [another, later] = [await addRequest(organisationId), await addRequest(organisationId)]
      assert.equal((await start(another, memberNamed('ben'))).started, 1, 'each member has a count')
      assert.equal((await start(later, ada, now + approvalWindowMs)).started, 1)
    })

    it('counts everyone it erases, even if the action listed fewer people', async () => {
      const organisationId = await organisationWithRule(1)
      const refs = await Promise.all([addRequest(organisationId), addRequest(organisationId)])
      const outcome = await startAll(refs, ada, now, { people: 2, started: 1 })
      assert.deepEqual(outcome, { started: 0, waiting: 2 })
    })

    it('is decided once by concurrent members, and never approved by the member who asked', async () => {
      const organisationId = await organisationWithRule(1)
      await start(await addRequest(organisationId))
      const ref = await addRequest(organisationId)
      assert.equal((await start(ref)).waiting, 1)
      assert.deepEqual(await read(ref), { state: 'open', asker: 'ada' })
      assert.equal(await decide('approve', ref, 'ada'), 0)
      const others = Array.from({ length: 8 }, (_, i) =>
        decide(i % 2 === 0 ? 'approve' : 'decline', ref, `other-${i}`),
      )
      assert.equal(sumOf(await Promise.all(others)), 1)
      assert.equal((await read(ref)).asker, null)
      const { rows } = await store().activity.list(organisationId, {
        limit: 50,
        after: null,
        requestId: null,
      })
      const decisions = rows.filter(({ kind }) => /approved|declined/.test(kind))
      assert.equal(decisions.length, 1)
      const isApproved = decisions[0]?.kind === 'request.approved'
      assert.equal((await read(ref)).state, isApproved ? 'running' : 'open')
    })

    it('is withdrawn by the member who asked, once, and can be asked for again', async () => {
      const organisationId = await organisationWithRule(1)
      await start(await addRequest(organisationId))
      const ref = await addRequest(organisationId)
      await start(ref)
      const outcomes = await Promise.all([1, 2, 3].map(() => decide('decline', ref, 'ada')))
      assert.equal(sumOf(outcomes), 1)
      assert.deepEqual(await read(ref), { state: 'open', asker: null })
      assert.equal(await decide('approve', ref, 'ben'), 0)
      assert.deepEqual(await start(ref), { started: 0, waiting: 1 })
    })

    it('waits only in its own organisation, and only until it is closed', async () => {
      const [organisationId, other] = [await organisationWithRule(1), await organisationWithRule(1)]
      await start(await addRequest(organisationId))
      const ref = await addRequest(organisationId)
      await start(ref)
      assert.equal(await decide('approve', { ...ref, organisationId: other }, 'eve'), 0)
      assert.equal(await store().approvals.findRule(other), 1)
      const closing = { from: ['open'], to: 'cancelled', now, rejectionReason: null } as const
      await store().privacyRequests.close(ref, closing, note(organisationId, 'request.cancelled'))
      assert.equal(await decide('approve', ref, 'ben'), 0)
      assert.ok(
        await store().approvals.saveRule(
          organisationId,
          null,
          note(organisationId, 'organisation.approval-changed'),
        ),
      )
      assert.equal(await store().approvals.findRule(organisationId), null)
    })
  })
}
