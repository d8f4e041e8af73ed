import assert from 'node:assert/strict'
import { it } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { commandLine } from '../../../src/domain/activity.ts'
import type { Store } from '../../../src/domain/store.ts'
import { startRequest } from '../../../src/operations/change-privacy-request.ts'
import { createRequest } from '../../../src/operations/create-privacy-request.ts'
import { systemRandomness } from '../../../src/runtime/randomness.ts'
import { seededRandom } from '../../support/seeded-random.ts'
import { testKeyring } from '../../support/test-keyring.ts'
import { until } from '../../support/until.ts'
import { assertSound, contentOf, countRows, subjectIdsIn } from './invariants.ts'
import type { MakeKillable, Snapshot } from './killable-store.ts'
import { killAgainAndAgain, killed, type Plan, progress, type Tally } from './killing.ts'
import { startNextService, startRoomyServer } from './server.ts'
import { buildShopAt, dayMs, ids, now, visits } from './visits.ts'

const others = ids('other', 20)
const env = { LETHE_BATCH_PACE: '1000000/second' }
/** For longer than a request is leased to a process that has died, as the next one sees it. */
const shiftMs = 10_000

/** Everyone has two data subjects, and a number about which nothing is held. */
const devices = ['phone', 'laptop']
const entriesEach = devices.length + 1

const address = (name: string) => ({ name: 'email', value: `${name}@example.com` })

/** Starts a request for each person. */
async function startRequests(store: Store, people: readonly string[]): Promise<void> {
  const deps = { ...store, keyring: testKeyring, clock: () => now, randomness: systemRandomness }
  const view = { organisationId: 'acme', since: now - 180 * dayMs }
  for (const name of people) {
    const person = { identifiers: [address(name), { name: 'userId', value: `none-${name}` }], subjects: [] }
    const wanted = { kind: 'erasure', person, receivedAt: null, reference: null, requestId: null } as const
    const { id } = await createRequest(deps, view, wanted, commandLine)
    await startRequest(deps, view, id, commandLine)
  }
}

/** Lets a service work on so many requests as the plan has rows, kills it, and lets the next one go on. */
export function killRequests(makeStore: MakeKillable, { kills, rows }: Plan, total: Tally): void {
  it('requests have erased whom they say, once, and each ends as done', async (t) => {
    const random = seededRandom()
    const store = await makeStore(t, random)
    const people = ids('person', rows)
    const doomed = people.flatMap((name) => devices.map((device) => `${name} ${device}`))
    const crowd = { sessions: 1, events: 3, from: now - 20 * dayMs, to: now - dayMs }
    const known = visits(random, { ...crowd, subjectIds: [...doomed, ...others] }).map((row) => ({
      ...row,
      identifiers: { email: address(row.subjectId.split(' ')[0] ?? '').value },
    }))
    await buildShopAt(store.work.address, known, (opened) => startRequests(opened, people))
    await store.keep()

    const count = (table: string, where?: string) => countRows(store.work, table, where)
    const isOver = async (snapshot = store.work) =>
      (await countRows(snapshot, 'privacy_requests', "state = 'running'")) === 0
    const hasBegun = async () => (await count('privacy_request_items', "outcome = 'erased'")) > 0
    // Not more often: each look opens the store, and the requests need the processor.
    const untilStored = (isSo: () => Promise<boolean>) =>
      until(async () => (await isSo()) || delay(5, false), 300_000)

    const undisturbed = await startNextService(t, store, { env })
    await untilStored(hasBegun)
    const begunAt = performance.now()
    await untilStored(() => isOver())
    const durationMs = performance.now() - begunAt
    await undisturbed.stop()
    const complete = [await subjectIdsIn(store.work), await contentOf(store.work)] as const

    /** What is erased is in the ledger, once, and settled; who waits is there. */
    async function assertSettled(seen: Snapshot): Promise<number> {
      await assertSound(seen, 'not below what is stored')
      const left = await subjectIdsIn(seen)
      const gone = doomed.filter((id) => !left.has(id))
      const waiting = await seen.ask(`SELECT subject_id FROM privacy_request_items WHERE outcome = 'waiting'`)
      for (const row of waiting) assert.ok(left.has(String(row.subject_id)), 'those wait who are there')
      assert.equal(await countRows(seen, 'privacy_request_items', "outcome = 'erased'"), gone.length)
      const proven = await countRows(seen, 'privacy_request_items', "outcome = 'nothing-held'")
      assert.equal(proven, await countRows(seen, 'privacy_requests', "state = 'done'"))
      assert.equal(await countRows(seen, 'ledger_entries'), gone.length + proven, 'nothing is proven twice')
      assert.equal(
        await countRows(seen, 'privacy_requests', 'person IS NOT NULL'),
        people.length - proven,
        'who is done is forgotten',
      )
      return gone.length
    }

    await killAgainAndAgain(t, {
      ...{ random, kills, durationMs, total },
      async kill(afterMs) {
        await store.restore()
        const server = await startRoomyServer(store.cli, env)
        await untilStored(hasBegun)
        const startedAt = performance.now()
        await delay(afterMs)
        const wasInTime = (await killed(server)) && !(await isOver(await store.leftBehind()))
        return { wasInTime, ranMs: performance.now() - startedAt }
      },
      async check() {
        const gone = await assertSettled(await store.leftBehind())
        const next = await startNextService(t, store, { env, shiftMs })
        await untilStored(() => isOver())
        await next.stop()
        assert.equal(await assertSettled(store.work), doomed.length)
        assert.equal(await count('privacy_requests', "state = 'done' AND left_subjects = 0"), people.length)
        assert.equal(await count('ledger_entries'), entriesEach * people.length)
        assert.equal(await count('privacy_request_items', 'subject_id IS NOT NULL'), 0)
        assert.deepEqual([await subjectIdsIn(store.work), await contentOf(store.work)], complete)
        return progress(gone, { before: 0, after: doomed.length })
      },
    })
  })
}
