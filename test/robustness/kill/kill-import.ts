import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { it } from 'node:test'
import type { IncomingRow } from '../../../src/domain/ingest.ts'
import { transactionRows } from '../../../src/operations/import.ts'
import { eventRow } from '../../support/rows.ts'
import { type SeededRandom, seededRandom } from '../../support/seeded-random.ts'
import { assertAmong, assertSound, contentOf, rowsOf } from './invariants.ts'
import type { MakeKillable, Snapshot } from './killable-store.ts'
import { complete, killAgainAndAgain, killDuring, type Plan, progress, type Tally } from './killing.ts'
import { buildShopAt, byTime, dayMs, ids, ndjson, now, shuffled, visits } from './visits.ts'

export function killImports(makeStore: MakeKillable, { kills, rows }: Plan, total: Tally): void {
  it('an import loses nothing stored before, and is completed by another run', async (t) => {
    const random = seededRandom()
    const store = await makeStore(t, random)
    const { cli } = store
    const [early, late] = [join(cli.folder, 'early.ndjson'), join(cli.folder, 'late.ndjson')]
    const lines = twoFiles(random, rows)
    writeFileSync(early, ndjson(lines.early))
    await buildShopAt(store.work.address)
    assert.equal((await cli.run(['import', early])).code, 0)
    const stored = await identitiesIn(await store.keep())
    const victim = { args: ['import', late], begins: 'opening' } as const
    const inOrder = byTime(lines.late)
    writeFileSync(late, ndjson(inOrder))
    const durationMs = await complete(store, victim)
    const completed = await contentOf(store.work)
    const events = await rowsOf(store.work, 'events')
    const counts = { before: stored.events.size, after: events.size }

    const arrangements = [ndjson(inOrder), ndjson(shuffled(random, inOrder))]
    for (const disturb of store.disturbances) {
      await killAgainAndAgain(t, {
        ...{ random, kills, durationMs, total },
        kill(afterMs) {
          writeFileSync(late, random.pick(arrangements))
          return killDuring(store, victim, afterMs, disturb)
        },
        async check() {
          const seen = await store.leftBehind()
          await assertSound(seen, 'equal to the stored rows')
          // Sessions and subjects grow with later rows. In a consistent store, they match their events.
          const left = await identitiesIn(seen)
          for (const table of ['events', 'sessions', 'subjects'] as const) {
            assertAmong(stored[table], left[table], table)
          }
          assertAmong(left.events, events, 'nothing else is there')

          await complete(store, victim)
          await assertSound(store.work, 'equal to the stored rows')
          assert.deepEqual(await contentOf(store.work), completed, 'in whatever order the lines come')
          return progress(left.events.size, counts)
        },
      })
    }
  })
}

/** The parts of rows that later lines do not change. */
async function identitiesIn(store: Snapshot) {
  return {
    events: await rowsOf(store, 'events'),
    sessions: await rowsOf(store, 'sessions', { columns: 'subject_key, session_id' }),
    subjects: await rowsOf(store, 'subjects', { columns: 'tracker_id, subject_id' }),
  }
}

/**
 * Lines of two files: the second continues sessions of the first, and adds subjects and sessions. It also
 * repeats one event so often that an import has more than one batch and can be killed between two.
 */
function twoFiles(random: SeededRandom, rows: number): { early: IncomingRow[]; late: IncomingRow[] } {
  const crowd = { sessions: 4, events: 4, from: now - 20 * dayMs, to: now - dayMs }
  const old = visits(random, { ...crowd, subjectIds: ids('old', Math.ceil(rows / 40)) })
  const fresh = visits(random, { ...crowd, subjectIds: ids('fresh', Math.ceil(rows / 40)) })
  const more = visits(random, { ...crowd, subjectIds: ids('old', Math.ceil(rows / 80)), mark: 'more' })
  const early: IncomingRow[] = []
  const halfway = (crowd.from + crowd.to) / 2
  const told = Array.from({ length: 0.9 * transactionRows }, () =>
    eventRow({ subjectId: 'told', eventId: 'again and again', occurredAt: halfway }),
  )
  const late: IncomingRow[] = [...told, ...fresh, ...more]
  for (const row of old) (random.integer(2) === 0 ? early : late).push(row)
  return { early, late }
}
