import assert from 'node:assert/strict'
import { it } from 'node:test'
import type { IncomingRow } from '../../../src/domain/ingest.ts'
import { openStoreAt } from '../../support/empty-store.ts'
import { eventRow, sessionRow } from '../../support/rows.ts'
import { type SeededRandom, seededRandom } from '../../support/seeded-random.ts'
import { assertAmong, assertSound, contentOf, countRows, rowsOf, totalsOf } from './invariants.ts'
import type { MakeKillable, Snapshot } from './killable-store.ts'
import { complete, killAgainAndAgain, killDuring, type Plan, progress, type Tally } from './killing.ts'
import { buildShopAt, dayMs, hourMs, ids, now, shuffled, visits } from './visits.ts'

/** No data lies within a day of it, so that the result of a sweep does not depend on when the test runs. */
export const edge = now - 30 * dayMs
export const thirtyDays = { LETHE_RETENTION_DAYS: 'free=30' }

/** The rows that are kept, without the columns that change: a session's count falls with its events. */
const parts = [
  { table: 'events', where: `occurred_at >= ${edge}`, without: [] },
  { table: 'sessions', where: `ended_at >= ${edge}`, without: ['event_count'] },
] as const

export function killSweeps(makeStore: MakeKillable, { kills, rows }: Plan, total: Tally): void {
  it('a sweep deletes only what has aged out, and is completed by another run', async (t) => {
    const random = seededRandom()
    const store = await makeStore(t, random)
    await buildShopAt(store.work.address, shuffled(random, someAgedVisits(random, rows)))
    const before = await store.keep()
    const totals = await totalsOf(before)
    const stored = await Promise.all(
      parts.map(async ({ table, where, without }) => ({
        table,
        without,
        all: await rowsOf(before, table, { without }),
        kept: await rowsOf(before, table, { where, without }),
      })),
    )
    const victim = { args: ['sweep'], env: thirtyDays, begins: 'maintenance' } as const
    const durationMs = await complete(store, victim)
    const completed = await contentOf(store.work)
    const visible = await visibleSubjects(store.work)
    const aged = { before: await countAged(before), after: 0 }
    assert.equal(await countAged(store.work), 0)

    await killAgainAndAgain(t, {
      ...{ random, kills, durationMs, total },
      kill: (afterMs) => killDuring(store, victim, afterMs),
      async check() {
        const seen = await store.leftBehind()
        await assertSound(seen, 'not below the stored rows')
        assert.deepEqual(await totalsOf(seen), totals)
        for (const { table, without, all, kept } of stored) {
          const left = await rowsOf(seen, table, { without })
          assertAmong(kept, left, `${table} within the window stay`)
          assertAmong(left, all, `no row of ${table} is new`)
        }
        assert.deepEqual(await visibleSubjects(seen), visible, 'nobody sees how far it came')
        const agedLeft = await countAged(seen)

        await complete(store, victim)
        await assertSound(store.work, 'not below the stored rows')
        assert.deepEqual(await contentOf(store.work), completed)
        return progress(agedLeft, aged)
      },
    })
  })
}

/** Subjects who have aged out completely, partly or not at all; some have sessions that cross the limit. */
export function someAgedVisits(random: SeededRandom, rows: number): IncomingRow[] {
  const subjects = Math.ceil(rows / 100)
  const [gone, halfGone, staying] = [ids('gone', subjects), ids('half', subjects), ids('staying', 20)]
  const old = { from: edge - 30 * dayMs, to: edge - dayMs }
  const recent = { from: edge + dayMs, to: now - dayMs, mark: 'recent' }
  return [
    ...visits(random, { ...old, subjectIds: gone, sessions: 10, events: 4 }),
    ...visits(random, { ...old, subjectIds: halfGone, sessions: 10, events: 3 }),
    ...visits(random, { ...recent, subjectIds: [...halfGone, ...staying], sessions: 2, events: 3 }),
    // More than one step deletes; the session that starts first ends last.
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
async function visibleSubjects({ address }: Snapshot) {
  const store = await openStoreAt(address, { writesHere: true })
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

async function countAged(store: Snapshot): Promise<number> {
  const events = await countRows(store, 'events', `occurred_at < ${edge}`)
  return events + (await countRows(store, 'sessions', `ended_at < ${edge}`))
}
