import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import type { Origin } from '../../src/domain/activity.ts'
import { requestsPerTransaction } from '../../src/domain/request-group.ts'
import { FairQueue } from '../../src/domain/semaphore.ts'
import { decideGroup, saveApprovalRule } from '../../src/operations/approval.ts'
import { startErasures } from '../../src/operations/change-privacy-request.ts'
import { newRequest } from '../../src/operations/create-privacy-request.ts'
import { cancelGroup, startGroup } from '../../src/operations/request-group.ts'
import { addTracker, type Deps, failure, openDeps } from './fixture.ts'

const { deps, fresh } = openDeps()
const reference = 'List'
const memberNamed = (id: string): Origin => ({
  ...{ actor: { kind: 'member', id, name: `${id}@acme.example` } as const, requestId: 'req-1' },
  organisationId: null,
})
const [ada, ben] = [memberNamed('ada'), memberNamed('ben')]

/** Stores open erasure requests with the reference. */
async function add(organisationId: string, count: number) {
  const found = { subjects: 1, sessions: 1, events: 1 }
  const creations = Array.from({ length: count }, () => {
    const person = { identifiers: [], subjects: [{ trackerId: 'shop', subjectId: fresh('subject') }] }
    const requestId = deps().randomness.uuid()
    const wanted = { kind: 'erasure', person, receivedAt: null, reference, requestId, found } as const
    return newRequest(deps(), organisationId, wanted, deps().clock(), ada)
  })
  assert.ok(await deps().requestGroups.create(organisationId, creations))
  return creations.map(({ request: { id } }) => ({ organisationId, id, found }))
}

/** The same, waiting for approval. */
async function addWaiting(organisationId: string, count: number): Promise<void> {
  const requests = await add(organisationId, count)
  const { waiting } = await startErasures(deps(), requests, ada, { people: 1_000, started: 0 })
  assert.equal(waiting, count)
}

async function newOrganisation(): Promise<string> {
  const { organisationId } = await addTracker(deps(), fresh('shop'))
  await saveApprovalRule(deps(), organisationId, 900, ada)
  return organisationId
}

/** A queue whose jobs start after something else has happened. */
function waitingQueue(t: TestContext, happens: () => Promise<unknown>): FairQueue {
  const jobs = new FairQueue({ permits: 1, maxWaitingEach: 1, waitTimeoutMs: 60_000 })
  const run = jobs.run.bind(jobs)
  t.mock.method(jobs, 'run', async (...args: Parameters<typeof run>) => {
    await happens()
    return run(...args)
  })
  return jobs
}

interface Action {
  add(organisationId: string, count: number): Promise<unknown>
  run(deps: Deps, organisationId: string, typed: number): Promise<unknown>
  /** Calls `happens` after each of its transactions. */
  interrupted(happens: () => Promise<unknown>): Partial<Deps>
  /** The states of the requests before and after the action. */
  states: [before: 'startable' | 'waiting' | 'open', after: 'startable' | 'running' | 'cancelled']
}

function after<Args extends unknown[], Result>(
  work: (...args: Args) => Promise<Result>,
  happens: () => Promise<unknown>,
): (...args: Args) => Promise<Result> {
  return async (...args) => {
    const result = await work(...args)
    await happens()
    return result
  }
}

const decideAll =
  (verdict: 'approve' | 'decline') => (deps: Deps, organisationId: string, requests: number) =>
    decideGroup(deps, organisationId, { reference, requests }, verdict, ben)

const actions: Record<string, Action> = {
  started: {
    add,
    run: (deps, organisationId, typed) => startGroup(deps, organisationId, reference, typed, ada),
    interrupted: (happens) => ({
      requestGroups: { ...deps().requestGroups, start: after(deps().requestGroups.start, happens) },
    }),
    states: ['startable', 'running'],
  },
  cancelled: {
    add,
    run: (deps, organisationId, typed) => cancelGroup(deps, organisationId, reference, typed, ada),
    interrupted: (happens) => ({
      requestGroups: { ...deps().requestGroups, close: after(deps().requestGroups.close, happens) },
    }),
    states: ['open', 'cancelled'],
  },
  approved: {
    add: addWaiting,
    run: decideAll('approve'),
    interrupted: (happens) => ({
      approvals: { ...deps().approvals, approve: after(deps().approvals.approve, happens) },
    }),
    states: ['waiting', 'running'],
  },
  declined: {
    add: addWaiting,
    run: decideAll('decline'),
    interrupted: (happens) => ({
      approvals: { ...deps().approvals, decline: after(deps().approvals.decline, happens) },
    }),
    states: ['waiting', 'startable'],
  },
}

async function numberIn(organisationId: string, state: Action['states'][number]): Promise<number> {
  const group = await deps().requestGroups.find(organisationId, reference)
  assert.ok(group)
  return state === 'startable' || state === 'waiting' ? group[state] : group.counts[state]
}

describe('requests with one reference', () => {
  for (const [done, action] of Object.entries(actions)) {
    const [before, changed] = action.states

    it(`are not ${done} if requests were added while the action was queued`, async (t) => {
      const organisationId = await newOrganisation()
      await action.add(organisationId, 2)
      const jobs = waitingQueue(t, () => action.add(organisationId, 3))
      const refused = await failure('validation_error', action.run({ ...deps(), jobs }, organisationId, 2))
      assert.match(refused.fields.requests ?? '', / is 5 now, not 2; nothing was /)
      assert.equal(await numberIn(organisationId, before), 5)
    })

    it(`are ${done} without requests added during the action`, async () => {
      const organisationId = await newOrganisation()
      const count = requestsPerTransaction + 1
      await action.add(organisationId, count)
      let added = 0
      const interrupted = action.interrupted(async () => {
        await action.add(organisationId, 1)
        added += 1
      })
      await action.run({ ...deps(), ...interrupted }, organisationId, count)
      assert.equal(added, 2, 'the number of transactions')
      assert.equal(await numberIn(organisationId, before), added)
      assert.equal(await numberIn(organisationId, changed), count)
    })
  }
})
