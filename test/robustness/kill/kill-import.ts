import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { it } from 'node:test'
import type { IncomingRow } from '../../../src/domain/ingest.ts'
import { type SeededRandom, seededRandom } from '../../support/seeded-random.ts'
import { assertAmong, contentOf, rowsOf } from './contents.ts'
import { assertSound } from './invariants.ts'
import type { MakeKillable } from './killable-store.ts'
import { killAgainAndAgain, killDuring, measure, type Plan, progress, type Tally } from './killing.ts'
import { buildShopAt } from './shop-store.ts'
import { byTime, dayMs, ids, ndjson, now, shuffled, visits } from './visits.ts'

/** What a later line does not change. */
const identities = [
  ['events', '*'],
  ['sessions', 'subject_key, session_id'],
  ['subjects', 'tracker_id, subject_id'],
] as const

export function killImports(makeStore: MakeKillable, { kills, rows }: Plan, total: Tally): void {
  it('an import loses nothing that was stored before, and is completed when it is run again', async (t) => {
    const random = seededRandom()
    const store = await makeStore(t, random)
    const { cli } = store
    const [early, late] = [join(cli.folder, 'early.ndjson'), join(cli.folder, 'late.ndjson')]
    const lines = twoFiles(random, rows)
    writeFileSync(early, ndjson(lines.early))
    await buildShopAt(store.work.address)
    assert.equal((await cli.run(['import', early])).code, 0)
    const before = await store.keep()
    const stored = new Map<string, Set<string>>()
    for (const [table, columns] of identities) stored.set(table, await rowsOf(before, table, { columns }))
    const victim = { args: ['import', late], begins: 'opening' } as const
    let complete: Record<string, string> | null = null

    for (const arrange of [byTime, (rows: readonly IncomingRow[]) => shuffled(random, rows)]) {
      writeFileSync(late, ndjson(arrange(lines.late)))
      await store.restore()
      const durationMs = await measure(store, victim)
      const content = await contentOf(store.work)
      complete ??= content
      assert.deepEqual(content, complete, 'in whatever order the lines come')
      const events = await rowsOf(store.work, 'events')
      const counts = { before: stored.get('events')?.size ?? 0, after: events.size }

      for (const disturb of store.disturbances) {
        await killAgainAndAgain(t, {
          ...{ random, kills, durationMs, total },
          kill: (afterMs) => killDuring(store, victim, afterMs, disturb),
          async check() {
            const seen = await store.leftBehind()
            await assertSound(seen, 'equal to what is stored')
            // Sessions and subjects grow with what comes later; being sound, they are as large as their events say.
            for (const [table, columns] of identities) {
              assertAmong(stored.get(table) ?? new Set(), await rowsOf(seen, table, { columns }), table)
            }
            const seenEvents = await rowsOf(seen, 'events')
            assertAmong(seenEvents, events, 'nothing else is there')

            const again = await cli.run(['import', late])
            assert.equal(again.code, 0, again.stderr)
            await assertSound(store.work, 'equal to what is stored')
            assert.deepEqual(await contentOf(store.work), complete)
            return progress(seenEvents.size, counts)
          },
        })
      }
    }
  })
}

/** Lines of two files: the second goes on with sessions of the first, and brings subjects and sessions of its own. */
function twoFiles(random: SeededRandom, rows: number): { early: IncomingRow[]; late: IncomingRow[] } {
  const crowd = { sessions: 4, events: 4, from: now - 20 * dayMs, to: now - dayMs }
  const old = visits(random, { ...crowd, subjectIds: ids('old', Math.ceil(rows / 40)) })
  const fresh = visits(random, { ...crowd, subjectIds: ids('fresh', Math.ceil(rows / 40)) })
  const more = visits(random, { ...crowd, subjectIds: ids('old', Math.ceil(rows / 80)), mark: 'more' })
  const early: IncomingRow[] = []
  const late: IncomingRow[] = [...fresh, ...more]
  for (const row of old) (random.integer(2) === 0 ? early : late).push(row)
  return { early, late }
}
