import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { it } from 'node:test'
import type { IncomingRow } from '../../../src/domain/ingest.ts'
import { value } from '../../storage/sqlite/database-file.ts'
import type { SeededRandom } from '../../support/seeded-random.ts'
import { contentOf, rowsOnlyIn } from './contents.ts'
import { killFixture } from './fixture.ts'
import { assertSound } from './invariants.ts'
import { begins, killAgainAndAgain, killDuring, measure, type Plan, progress, type Tally } from './killing.ts'
import { buildShop } from './shop-store.ts'
import { copyStore } from './store-files.ts'
import { byTime, dayMs, ids, ndjson, now, shuffled, visits } from './visits.ts'

export function killImports({ kills, rows }: Plan, total: Tally): void {
  it('an import loses nothing that was stored before, and is completed when it is run again', async (t) => {
    const { random, cli, folder, before, after, seen } = killFixture(t)
    const [early, late] = [join(folder, 'early.ndjson'), join(folder, 'late.ndjson')]
    const lines = twoFiles(random, rows)
    writeFileSync(early, ndjson(lines.early))
    await buildShop(cli.storePath, [])
    assert.equal((await cli.run(['import', early])).code, 0)
    copyStore(cli.storePath, before)
    const victim = { args: ['import', late], begins: begins.withOpening }
    let complete: Record<string, string> | null = null

    for (const arrange of [byTime, (rows: readonly IncomingRow[]) => shuffled(random, rows)]) {
      writeFileSync(late, ndjson(arrange(lines.late)))
      copyStore(before, cli.storePath)
      const durationMs = await measure(cli, victim)
      copyStore(cli.storePath, after)
      const content = contentOf(after)
      complete ??= content
      assert.deepEqual(content, complete, 'in whatever order the lines come')
      const events = { before: countEvents(before), after: countEvents(after) }

      await killAgainAndAgain(t, { random, kills, durationMs, total }, async (afterMs) => {
        copyStore(before, cli.storePath)
        const hit = await killDuring(cli, victim, afterMs)
        copyStore(cli.storePath, seen)
        assertSound(seen, 'equal to what is stored')
        // Sessions and subjects grow with what comes later; being sound, they are as large as their events say.
        const [session, subject] = ['subject_key, session_id', 'tracker_id, subject_id']
        assert.deepEqual(rowsOnlyIn(before, 'events', { butNotIn: seen }), [])
        assert.deepEqual(rowsOnlyIn(before, 'sessions', { butNotIn: seen, columns: session }), [])
        assert.deepEqual(rowsOnlyIn(before, 'subjects', { butNotIn: seen, columns: subject }), [])
        assert.deepEqual(rowsOnlyIn(seen, 'events', { butNotIn: after }), [])

        assert.equal((await cli.run(['import', late])).code, 0)
        assertSound(cli.storePath, 'equal to what is stored')
        assert.deepEqual(contentOf(cli.storePath), complete)
        return { ...hit, done: progress(countEvents(seen), events) }
      })
    }
  })
}

/** Lines of two files: the second goes on with sessions of the first, and brings subjects and sessions of its own. */
export function twoFiles(random: SeededRandom, rows: number): { early: IncomingRow[]; late: IncomingRow[] } {
  const crowd = { sessions: 4, events: 4, from: now - 20 * dayMs, to: now - dayMs }
  const old = visits(random, { ...crowd, subjectIds: ids('old', Math.ceil(rows / 40)) })
  const fresh = visits(random, { ...crowd, subjectIds: ids('fresh', Math.ceil(rows / 40)) })
  const more = visits(random, { ...crowd, subjectIds: ids('old', Math.ceil(rows / 80)), mark: 'more' })
  const early: IncomingRow[] = []
  const late: IncomingRow[] = [...fresh, ...more]
  for (const row of old) (random.integer(2) === 0 ? early : late).push(row)
  return { early, late }
}

function countEvents(path: string): number {
  return Number(value(path, 'SELECT count(*) FROM events'))
}
