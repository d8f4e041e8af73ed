import assert from 'node:assert/strict'
import { it } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import type { PostgresServer } from '../../support/postgres.ts'
import { others, someVisits, startWarmServer, toErase } from '../kill/kill-erasure.ts'
import { killAgainAndAgain, killed, type Plan, progress, type Tally } from '../kill/killing.ts'
import { createKey, eraseAgain, eraseAll, startRoomyServer, stopServer } from '../kill/server.ts'
import { shuffled } from '../kill/visits.ts'
import { assertAmong, contentOf, copyDatabase, rowsOf, untilDeserted } from './databases.ts'
import { fillDatabase } from './fleet.ts'
import { assertGone, assertSound, withDatabase } from './invariants.ts'
import { killFixture } from './kill-fixture.ts'

export function killErasures(server: () => PostgresServer, { kills, rows }: Plan, total: Tally): void {
  it('killed at any moment, erasures on PostgreSQL leave each subject whole or gone, and gone if they were answered', async (t) => {
    const postgres = server()
    const { random, cli, names, urls } = killFixture(t, postgres, 'erasure')
    const doomed = random.shuffle(toErase)
    await copyDatabase(postgres, names.work)
    await fillDatabase(urls.work, shuffled(random, someVisits(random, rows)))
    const key = await createKey(cli)
    await copyDatabase(postgres, names.before, names.work)

    /** Asks a server for all erasures concurrently, and watches the time. */
    async function beginErasing() {
      const server = await startWarmServer(cli, key)
      const startedAt = performance.now()
      const answers = eraseAll(server.url, key, doomed)
      return { server, answers, ranMs: answers.then(() => performance.now() - startedAt) }
    }

    const undisturbed = await beginErasing()
    assert.equal((await undisturbed.answers).length, doomed.length)
    await stopServer(undisturbed.server)
    const complete = await contentOf(urls.work)
    const tables = ['subjects', 'sessions', 'events', 'daily_events', 'daily_sessions']
    const before = new Map<string, Set<string>>()
    for (const table of tables) before.set(table, await rowsOf(urls.before, table))

    const rounds = { random, kills, durationMs: await undisturbed.ranMs, total }
    await killAgainAndAgain(t, rounds, async (afterMs) => {
      await copyDatabase(postgres, names.work, names.before)
      const { server, answers, ranMs } = await beginErasing()
      await delay(afterMs)
      await killed(server)
      const answered = await answers
      await untilDeserted(postgres, names.work)
      const left = await withDatabase(urls.work, async (client) => {
        await assertSound(client, 'not below what is stored')
        await assertGone(client, answered)
        const { rows } = await client.query<{ subject_id: string }>('SELECT subject_id FROM subjects')
        return new Set(rows.map(({ subject_id }) => subject_id))
      })
      // A subject whose row is as it was, in a sound store, has all its sessions and events.
      for (const table of tables) {
        assertAmong(await rowsOf(urls.work, table), before.get(table) ?? new Set(), table)
      }
      const gone = doomed.filter((id) => !left.has(id))
      assert.equal(left.size + gone.length, doomed.length + others.length, 'nobody else is gone')

      const restarted = await startRoomyServer(cli)
      await eraseAgain(restarted.url, key, doomed, (id) => left.has(id))
      await stopServer(restarted)
      await withDatabase(urls.work, (client) => assertSound(client, 'not below what is stored'))
      assert.deepEqual(await contentOf(urls.work), complete)
      const done = progress(gone.length, { before: 0, after: doomed.length })
      return { wasInTime: answered.length < doomed.length, ranMs: await ranMs, done }
    })
  })
}
