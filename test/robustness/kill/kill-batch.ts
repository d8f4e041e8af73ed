import assert from 'node:assert/strict'
import { it } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { seededRandom } from '../../support/seeded-random.ts'
import { until } from '../../support/until.ts'
import { assertSound, contentOf, countRows, subjectIdsIn } from './invariants.ts'
import type { MakeKillable } from './killable-store.ts'
import { killAgainAndAgain, killed, type Plan, progress, type Tally } from './killing.ts'
import { startNextService, startRoomyServer } from './server.ts'
import { buildShopAt, dayMs, ids, now, visits } from './visits.ts'

const others = ids('other', 20)
const env = { LETHE_BATCH_PACE: '1000000/second' }
/** For longer than a batch is lent to one that has died, as the next one sees it. */
const shiftMs = 10_000

/** Lets a service work on a batch of so many subjects as the plan has rows, kills it, and lets the next one go on. */
export function killBatches(makeStore: MakeKillable, { kills, rows }: Plan, total: Tally): void {
  it('a batch has erased whom it says, and goes on where it was', async (t) => {
    const random = seededRandom()
    const store = await makeStore(t, random)
    const doomed = ids('listed', rows)
    const crowd = { sessions: 2, events: 5, from: now - 20 * dayMs, to: now - dayMs }
    await buildShopAt(
      store.work.address,
      visits(random, { ...crowd, subjectIds: [...doomed, ...others] }),
      async ({ erasureBatches }) => {
        const actor = { kind: 'member', id: 'mem_1', name: 'ada@acme.example' } as const
        const batch = {
          ...{ id: 'batch', organisationId: 'acme', startedBy: actor, requestId: null, createdAt: now },
          ...{
            lines: doomed.length,
            nothing: 0,
            invalid: 0,
            repeated: 0,
            empty: 0,
            other: 0,
            subjects: doomed.length,
          },
        }
        const items = doomed.map((subjectId, i) => ({
          ...{ line: i + 1, outcome: 'waiting' as const, trackerId: 'shop', subjectId },
        }))
        const what = { organisationId: 'acme', kind: 'batch.started', target: 'batch' } as const
        await erasureBatches.create(batch, items, { id: 'note', at: now, actor, requestId: null, ...what })
      },
    )
    await store.keep()

    const isOver = async (snapshot = store.work) =>
      (await countRows(snapshot, 'erasure_batches', "state = 'done'")) === 1
    const hasBegun = async () =>
      (await countRows(store.work, 'erasure_batch_items', "outcome = 'waiting'")) < doomed.length
    // Not more often: each look opens the store, and the batch needs the processor.
    const untilStored = (isSo: () => Promise<boolean>) => until(async () => (await isSo()) || delay(5, false))

    const undisturbed = await startNextService(t, store, { env })
    await untilStored(hasBegun)
    const begunAt = performance.now()
    await untilStored(() => isOver())
    const durationMs = performance.now() - begunAt
    await undisturbed.stop()
    const complete = [await subjectIdsIn(store.work), await contentOf(store.work)] as const

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
        const seen = await store.leftBehind()
        await assertSound(seen, 'not below what is stored')
        const left = await subjectIdsIn(seen)
        const gone = doomed.filter((id) => !left.has(id))
        const waiting = await seen.ask(`SELECT subject_id FROM erasure_batch_items WHERE outcome = 'waiting'`)
        assert.deepEqual(
          new Set(waiting.map((row) => row.subject_id)),
          new Set(doomed.filter((id) => left.has(id))),
          'those wait who are there, and no other',
        )
        assert.equal(await countRows(seen, 'erasure_batch_items', "outcome = 'erased'"), gone.length)
        assert.equal(await countRows(seen, 'ledger_entries'), gone.length, 'none was erased twice')

        const next = await startNextService(t, store, { env, shiftMs })
        await untilStored(() => isOver())
        await next.stop()
        await assertSound(store.work, 'not below what is stored')
        assert.equal(await countRows(store.work, 'ledger_entries'), doomed.length)
        assert.equal(await countRows(store.work, 'erasure_batch_items', 'subject_id IS NOT NULL'), 0)
        assert.deepEqual([await subjectIdsIn(store.work), await contentOf(store.work)], complete)
        return progress(gone.length, { before: 0, after: doomed.length })
      },
    })
  })
}
