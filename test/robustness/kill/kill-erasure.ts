import assert from 'node:assert/strict'
import { it } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import type { IncomingRow } from '../../../src/domain/ingest.ts'
import { type SeededRandom, seededRandom } from '../../support/seeded-random.ts'
import {
  assertAmong,
  assertSound,
  contentOf,
  countRows,
  rowsOf,
  subjectIdsIn,
  totalsOf,
} from './invariants.ts'
import type { MakeKillable } from './killable-store.ts'
import { killAgainAndAgain, killProgram, type Plan, progress, type Tally } from './killing.ts'
import { createKey, eraseAgain, eraseAll, startNextService, startRoomyServer } from './server.ts'
import { buildShopAt, dayMs, ids, now, shuffled, visits } from './visits.ts'

const large = ids('large', 4)
const small = ids('small', 8)
const others = ids('other', 50)
const tables = ['subjects', 'sessions', 'events'] as const

export function killErasures(makeStore: MakeKillable, plan: Plan, total: Tally): void {
  const { kills, rows, minInTime = 0 } = plan
  it('erasures leave each subject intact or erased, and erased if they were answered', async (t) => {
    const random = seededRandom()
    const store = await makeStore(t, random)
    const { cli } = store
    const doomed = random.shuffle([...large, ...small])
    await buildShopAt(store.work.address, shuffled(random, someVisits(random, rows)))
    const key = await createKey(cli)
    const before = await store.keep()
    const totals = await totalsOf(before)
    const stored = new Map<string, Set<string>>()
    for (const table of tables) stored.set(table, await rowsOf(before, table))

    /** Sends all erasures to a server concurrently, and measures the time. */
    async function beginErasing<Server extends { url: string }>(server: Server) {
      // Once its writer has started, an erasure begins immediately.
      assert.deepEqual(await eraseAll(server.url, key, ['nobody']), ['nobody'])
      const startedAt = performance.now()
      const answers = eraseAll(server.url, key, doomed)
      return { server, answers, ranMs: answers.then(() => performance.now() - startedAt) }
    }

    const undisturbed = await beginErasing(await startNextService(t, store))
    assert.equal((await undisturbed.answers).length, doomed.length)
    await undisturbed.server.stop()
    const complete = await contentOf(store.work)

    const tally = await killAgainAndAgain(t, {
      ...{ random, kills, durationMs: await undisturbed.ranMs, total },
      async kill(afterMs) {
        await store.restore()
        const { server, answers, ranMs } = await beginErasing(await startRoomyServer(cli))
        await delay(afterMs)
        await killProgram(server)
        const answered = await answers
        return { wasInTime: answered.length < doomed.length, ranMs: await ranMs, answered }
      },
      async check({ answered }) {
        const seen = await store.leftBehind()
        await assertSound(seen, 'not below the stored rows')
        assert.deepEqual(await totalsOf(seen), totals)
        // In a consistent store, a subject whose row is unchanged has all its sessions and events.
        for (const table of tables) {
          assertAmong(await rowsOf(seen, table), stored.get(table) ?? new Set(), table)
        }
        const left = await subjectIdsIn(seen)
        const gone = doomed.filter((id) => !left.has(id))
        assert.ok(
          answered.every((id) => !left.has(id)),
          'what was answered is gone',
        )
        const noted = await countRows(seen, 'activity', "kind = 'subject.erased' AND sessions > 0")
        assert.equal(noted, gone.length, 'each erasure has left its note, and no other has')
        assert.equal(left.size + gone.length, doomed.length + others.length, 'nobody else is gone')

        const next = await startNextService(t, store)
        await eraseAgain(next.url, key, doomed, (id) => left.has(id))
        await next.stop()
        await assertSound(store.work, 'not below the stored rows')
        assert.deepEqual(await contentOf(store.work), complete)
        return progress(gone.length, { before: 0, after: doomed.length })
      },
    })
    assert.ok(tally.inTime >= minInTime, `${tally.inTime} kills came in time`)
  })
}

function someVisits(random: SeededRandom, rows: number): IncomingRow[] {
  const crowd = { events: 9, from: now - 20 * dayMs, to: now - dayMs }
  return [
    ...visits(random, { ...crowd, subjectIds: large, sessions: Math.ceil(rows / 50) }),
    ...visits(random, { ...crowd, subjectIds: small, sessions: Math.ceil(rows / 400) }),
    ...visits(random, { ...crowd, subjectIds: others, sessions: 2 }),
  ]
}
