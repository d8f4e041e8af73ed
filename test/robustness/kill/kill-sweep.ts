import assert from 'node:assert/strict'
import { it } from 'node:test'
import type { IncomingRow } from '../../../src/domain/ingest.ts'
import { openSqliteStore } from '../../../src/storage/sqlite/open-sqlite-store.ts'
import { value } from '../../storage/sqlite/database-file.ts'
import { eventRow, sessionRow } from '../../support/rows.ts'
import type { SeededRandom } from '../../support/seeded-random.ts'
import { assertSameTotals, contentOf, rowsOnlyIn } from './contents.ts'
import { killFixture } from './fixture.ts'
import { assertSound } from './invariants.ts'
import { begins, killAgainAndAgain, killDuring, measure, type Plan, progress, type Tally } from './killing.ts'
import { buildShop } from './shop-store.ts'
import { copyStore } from './store-files.ts'
import { dayMs, hourMs, ids, now, shuffled, visits } from './visits.ts'

/** Nothing happened within a day of it, so that what is swept does not depend on when a test comes to it. */
export const edge = now - 30 * dayMs
export const thirtyDays = { LETHE_RETENTION_DAYS: 'free=30' }

export function killSweeps({ kills, rows }: Plan, total: Tally): void {
  it('a sweep deletes nothing but what has aged out, and is completed when it is run again', async (t) => {
    const { random, cli, before, after, seen } = killFixture(t)
    await buildShop(cli.storePath, shuffled(random, someAgedVisits(random, rows)))
    copyStore(cli.storePath, before)
    const victim = { args: ['sweep'], env: thirtyDays, begins: begins.withMaintenance }
    const durationMs = await measure(cli, victim)
    copyStore(cli.storePath, after)
    const complete = contentOf(after)
    const visible = await visibleSubjects(after)
    const aged = { before: countAged(before), after: 0 }
    assert.equal(countAged(after), 0)

    await killAgainAndAgain(t, { random, kills, durationMs, total }, async (afterMs) => {
      copyStore(before, cli.storePath)
      const hit = await killDuring(cli, victim, afterMs)
      copyStore(cli.storePath, seen)
      assertSound(seen, 'not below what is stored')
      assertSameTotals(seen, before)
      const [kept, left] = [{ butNotIn: seen }, { butNotIn: before }]
      const session = 'subject_key, session_id, started_at, ended_at, attributes, attributes_at'
      assert.deepEqual(rowsOnlyIn(before, 'events', { ...kept, where: `occurred_at >= ${edge}` }), [])
      assert.deepEqual(
        rowsOnlyIn(before, 'sessions', { ...kept, columns: session, where: `ended_at >= ${edge}` }),
        [],
      )
      assert.deepEqual(rowsOnlyIn(seen, 'events', left), [])
      assert.deepEqual(rowsOnlyIn(seen, 'sessions', { ...left, columns: session }), [])
      assert.deepEqual(await visibleSubjects(seen), visible, 'nobody sees how far it came')

      assert.equal((await cli.run(['sweep'], { env: thirtyDays })).code, 0)
      assertSound(cli.storePath, 'not below what is stored')
      assert.deepEqual(contentOf(cli.storePath), complete)
      return { ...hit, done: progress(countAged(seen), aged) }
    })
  })
}

/** Subjects of whom everything, something and nothing has aged out; some with sessions that reach over the edge. */
export function someAgedVisits(random: SeededRandom, rows: number): IncomingRow[] {
  const subjects = Math.ceil(rows / 100)
  const [gone, halfGone, staying] = [ids('gone', subjects), ids('half', subjects), ids('staying', 20)]
  const old = { from: edge - 30 * dayMs, to: edge - dayMs }
  const recent = { from: edge + dayMs, to: now - dayMs, mark: 'recent' }
  return [
    ...visits(random, { ...old, subjectIds: gone, sessions: 10, events: 4 }),
    ...visits(random, { ...old, subjectIds: halfGone, sessions: 10, events: 3 }),
    ...visits(random, { ...recent, subjectIds: [...halfGone, ...staying], sessions: 2, events: 3 }),
    // More than a step takes away, and the session that began first ends last.
    ...visits(random, { ...old, subjectIds: ['heavy'], sessions: Math.ceil(rows / 5), events: 1 }),
    sessionRow({ subjectId: 'heavy', sessionId: 'long', startedAt: old.from - hourMs, endedAt: old.to }),
    ...halfGone.filter(() => random.integer(3) === 0).flatMap(acrossEdge),
  ]
}

function acrossEdge(subjectId: string): IncomingRow[] {
  const sessionId = `${subjectId}/across`
  const [startedAt, endedAt] = [edge - 3 * dayMs, edge + 3 * dayMs]
  const instants = [startedAt, startedAt + hourMs, endedAt - hourMs, endedAt]
  return [
    sessionRow({ subjectId, sessionId, startedAt, endedAt }),
    ...instants.map((occurredAt, number) =>
      eventRow({ subjectId, sessionId, eventId: `${sessionId}/${number}`, occurredAt }),
    ),
  ]
}

/** What the API shows of all subjects. */
async function visibleSubjects(path: string) {
  const store = await openSqliteStore(path)
  try {
    const view = { organisationId: 'acme', trackerId: 'shop', since: edge }
    const query = { sort: 'subjectId', limit: 100_000, after: null, subjectIdPrefix: null } as const
    const page = await store.subjects.list(view, { ...query, lastSeenAfter: null, lastSeenBefore: null })
    assert.ok(page)
    return page.rows
  } finally {
    await store.close()
  }
}

function countAged(path: string): number {
  const aged = `SELECT (SELECT count(*) FROM events WHERE occurred_at < ${edge})
    + (SELECT count(*) FROM sessions WHERE ended_at < ${edge})`
  return Number(value(path, aged))
}
