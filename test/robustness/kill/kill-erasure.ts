import assert from 'node:assert/strict'
import { it } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import type { IncomingRow } from '../../../src/domain/ingest.ts'
import type { CommandLine } from '../../support/command-line.ts'
import type { SeededRandom } from '../../support/seeded-random.ts'
import { assertSameTotals, contentOf, notedErasures, rowsOnlyIn, subjectIdsIn } from './contents.ts'
import { killFixture } from './fixture.ts'
import { assertSound } from './invariants.ts'
import { killAgainAndAgain, killed, type Plan, progress, type Tally } from './killing.ts'
import { createKey, eraseAgain, eraseAll, startRoomyServer, stopServer } from './server.ts'
import { buildShop } from './shop-store.ts'
import { copyStore } from './store-files.ts'
import { dayMs, ids, now, shuffled, visits } from './visits.ts'

const large = ids('large', 4)
const small = ids('small', 8)
export const toErase: readonly string[] = [...large, ...small]
export const others = ids('other', 50)

export function killErasures({ kills, rows }: Plan, total: Tally): void {
  it('erasures leave each subject whole or gone, and gone if they were answered', async (t) => {
    const { random, cli, before, after, seen } = killFixture(t)
    const doomed = random.shuffle(toErase)
    await buildShop(cli.storePath, shuffled(random, someVisits(random, rows)))
    const key = await createKey(cli)
    copyStore(cli.storePath, before)

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
    copyStore(cli.storePath, after)
    const complete = contentOf(after)

    const rounds = { random, kills, durationMs: await undisturbed.ranMs, total }
    await killAgainAndAgain(t, rounds, async (afterMs) => {
      copyStore(before, cli.storePath)
      const { server, answers, ranMs } = await beginErasing()
      await delay(afterMs)
      await killed(server)
      const answered = await answers
      copyStore(cli.storePath, seen)
      assertSound(seen, 'not below what is stored')
      assertSameTotals(seen, before)
      // A subject whose row is as it was, in a sound store, has all its sessions and events.
      for (const table of ['subjects', 'sessions', 'events']) {
        assert.deepEqual(rowsOnlyIn(seen, table, { butNotIn: before }), [], table)
      }
      const left = subjectIdsIn(seen)
      const gone = doomed.filter((id) => !left.has(id))
      assert.ok(
        answered.every((id) => !left.has(id)),
        'what was answered is gone',
      )
      assert.equal(notedErasures(seen), gone.length, 'each erasure has left its note, and no other has')
      assert.equal(left.size + gone.length, doomed.length + others.length, 'nobody else is gone')

      const restarted = await startRoomyServer(cli)
      await eraseAgain(restarted.url, key, doomed, (id) => left.has(id))
      await stopServer(restarted)
      assertSound(cli.storePath, 'not below what is stored')
      assert.deepEqual(contentOf(cli.storePath), complete)
      const done = progress(gone.length, { before: 0, after: doomed.length })
      return { wasInTime: answered.length < doomed.length, ranMs: await ranMs, done }
    })
  })
}

export function someVisits(random: SeededRandom, rows: number): IncomingRow[] {
  const crowd = { events: 9, from: now - 20 * dayMs, to: now - dayMs }
  return [
    ...visits(random, { ...crowd, subjectIds: large, sessions: Math.ceil(rows / 50) }),
    ...visits(random, { ...crowd, subjectIds: small, sessions: Math.ceil(rows / 400) }),
    ...visits(random, { ...crowd, subjectIds: others, sessions: 2 }),
  ]
}

/** A server whose writer has started, so that an erasure begins the moment it comes. */
export async function startWarmServer(cli: CommandLine, key: string) {
  const server = await startRoomyServer(cli)
  assert.deepEqual(await eraseAll(server.url, key, ['nobody']), ['nobody'])
  return server
}
