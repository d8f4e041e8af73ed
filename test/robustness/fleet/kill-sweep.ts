import assert from 'node:assert/strict'
import { it } from 'node:test'
import type { PostgresServer } from '../../support/postgres.ts'
import { edge, someAgedVisits, thirtyDays } from '../kill/kill-sweep.ts'
import { killAgainAndAgain, killed, type Plan, progress, type Tally } from '../kill/killing.ts'
import { shuffled } from '../kill/visits.ts'
import { assertAmong, contentOf, copyDatabase, rowsOf, untilDeserted } from './databases.ts'
import { fillDatabase } from './fleet.ts'
import { assertSound, withDatabase } from './invariants.ts'
import { disturb, killFixture, measure } from './kill-fixture.ts'

/** A session's count falls with its events. */
const without = ['event_count']

export function killSweeps(server: () => PostgresServer, { kills, rows }: Plan, total: Tally): void {
  it('killed at any moment, a sweep on PostgreSQL deletes nothing but what has aged out, and is completed when it is run again', async (t) => {
    const postgres = server()
    const fixture = killFixture(t, postgres, 'sweep')
    const { random, cli, names, urls } = fixture
    await copyDatabase(postgres, names.work)
    await fillDatabase(urls.work, shuffled(random, someAgedVisits(random, rows)))
    await copyDatabase(postgres, names.before, names.work)
    const victim = { args: ['sweep'], env: thirtyDays }
    const durationMs = await measure(fixture, victim)
    const complete = await contentOf(urls.work)
    const aged = { before: await countAged(urls.before), after: 0 }
    assert.equal(await countAged(urls.work), 0)
    const events = await rowsOf(urls.before, 'events')
    const sessions = await rowsOf(urls.before, 'sessions', { without })
    const keptEvents = await rowsOf(urls.before, 'events', { where: `occurred_at >= ${edge}` })
    const keptSessions = await rowsOf(urls.before, 'sessions', { where: `ended_at >= ${edge}`, without })
    const totals = await rowsOf(urls.before, 'daily_events')

    await killAgainAndAgain(t, { random, kills, durationMs, total }, async (afterMs) => {
      await copyDatabase(postgres, names.work, names.before)
      const hit = await disturb(fixture, victim, afterMs, killed)
      await untilDeserted(postgres, names.work)
      await withDatabase(urls.work, (client) => assertSound(client, 'not below what is stored'))
      const left = await rowsOf(urls.work, 'events')
      const leftSessions = await rowsOf(urls.work, 'sessions', { without })
      assertAmong(keptEvents, left, 'events within the window stay')
      assertAmong(left, events, 'no event is new')
      assertAmong(keptSessions, leftSessions, 'sessions within the window stay')
      assertAmong(leftSessions, sessions, 'no session is new')
      assert.deepEqual(await rowsOf(urls.work, 'daily_events'), totals)
      const agedLeft = await countAged(urls.work)

      assert.equal((await cli.run(['sweep'], { env: thirtyDays })).code, 0)
      await withDatabase(urls.work, (client) => assertSound(client, 'not below what is stored'))
      assert.deepEqual(await contentOf(urls.work), complete)
      return { ...hit, done: progress(agedLeft, aged) }
    })
  })
}

function countAged(url: string): Promise<number> {
  return withDatabase(url, async (client) => {
    const { rows } = await client.query<{ count: string }>(
      `SELECT (SELECT count(*) FROM events WHERE occurred_at < ${edge})
         + (SELECT count(*) FROM sessions WHERE ended_at < ${edge}) AS count`,
    )
    return Number(rows[0]?.count)
  })
}
