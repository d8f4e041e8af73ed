import assert from 'node:assert/strict'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { it } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { dataOf } from '../../support/answers.ts'
import { onlyJson, textOf } from '../../support/command-line.ts'
import { password, visitor } from '../../support/console.ts'
import { seededRandom } from '../../support/seeded-random.ts'
import { visit } from '../../support/shop.ts'
import { until } from '../../support/until.ts'
import { assertSound, countRows, rowsOf } from './invariants.ts'
import type { MakeKillable, Snapshot } from './killable-store.ts'
import { killProgram, type Plan, Tally } from './killing.ts'
import { startNextService, startRoomyServer } from './server.ts'
import { buildShopAt, ids } from './visits.ts'

const reference = 'Closed accounts'
const email = 'ada@acme.example'
/** Longer than the lease of a request, which a dead process keeps. */
const shiftMs = 10_000

/**
 * Kills a service while a list of this many people is submitted, and submits it again until it is answered.
 */
export function killLists(makeStore: MakeKillable, { kills, rows }: Plan, total: Tally): void {
  it('a list that is submitted until it is answered erases everyone on it once', async (t) => {
    const random = seededRandom()
    const store = await makeStore(t, random)
    const { cli } = store
    const journal = join(cli.folder, 'lethe.journal')
    const env = { LETHE_BATCH_PACE: '1000000/second', LETHE_JOURNAL: journal }
    const [listed, others] = [ids('listed', rows), ids('other', 20)]
    await buildShopAt(
      store.work.address,
      [...listed, ...others].flatMap((id) => visit(id)),
    )
    const invited = onlyJson(
      await cli.run(['members', 'create', '--org', 'acme', '--email', email, '--json']),
    )
    const token = textOf(invited, 'link').split('#')[1]
    const first = await startNextService(t, store, { env })
    const accept = { method: 'POST', body: { token, password } }
    assert.equal((await visitor(first).ask('/invitation/accept', accept)).status, 200)
    await first.stop()
    const kept = await rowsOf(await store.keep(), 'subjects')

    const list = { text: listed.join('\n'), format: 'lines', by: 'subjectId', trackerIds: [], reference }
    /** Whether the list was answered; a killed service does not answer. */
    async function submit(url: string, onBegin = () => {}): Promise<boolean> {
      const browser = visitor({ url })
      try {
        dataOf(await browser.ask('/sign-in', { method: 'POST', body: { email, password } }))
        onBegin()
        dataOf(await browser.ask('/erasure-lists', { method: 'POST', body: { ...list, subjects: rows } }))
        return true
      } catch (error) {
        if (!(error instanceof TypeError)) throw error
        return false
      } finally {
        onBegin()
      }
    }

    /**
     * Submits the list if it was not answered, waits for its erasures, and compares the result with the list.
     */
    async function complete(isAnswered: boolean): Promise<number> {
      const next = await startNextService(t, store, { env, shiftMs })
      const startedAt = performance.now()
      if (!isAnswered) assert.ok(await submit(next.url))
      const tookMs = performance.now() - startedAt
      await until(async () => {
        const left = await countRows(store.work, 'privacy_requests', "state <> 'done'")
        return left === 0 || delay(50, false)
      }, 600_000)
      await next.stop()
      await assertSound(store.work, 'not below the stored rows')
      assert.equal(await countRows(store.work, 'privacy_requests'), rows, 'nobody has two requests')
      assert.equal(await countRows(store.work, 'ledger_entries'), rows, 'nobody is in the ledger twice')
      const left = await rowsOf(store.work, 'subjects')
      assert.equal(left.size, others.length, 'nobody is left, and nobody else is gone')
      assert.ok([...left].every((row) => kept.has(row)))
      return tookMs
    }

    const durationMs = await complete(false)
    const tally = new Tally()
    let rounds = 0
    let expectedMs = durationMs
    while (tally.kills < kills) {
      rounds += 1
      await store.restore()
      rmSync(journal, { force: true })
      let isAnswered = false
      while (tally.kills < kills && !isAnswered) {
        const server = await startRoomyServer(cli, env)
        const begun = Promise.withResolvers<void>()
        const answer = submit(server.url, begun.resolve)
        await begun.promise
        const afterMs = random.integer(Math.ceil(expectedMs))
        await delay(afterMs)
        await killProgram(server)
        isAnswered = await answer
        // Load on the machine makes it faster or slower than measured.
        if (isAnswered) expectedMs = Math.max(20, afterMs)
        else if (afterMs > 0.9 * expectedMs) expectedMs *= 1.2
        tally.hits.push({ wasInTime: !isAnswered, ranMs: afterMs, done: 'part' })
        const seen = await store.leftBehind()
        await assertSound(seen, 'not below the stored rows')
        await assertAllOrNone(seen, rows, isAnswered)
      }
      await complete(isAnswered)
    }
    total.hits.push(...tally.hits)
    t.diagnostic(
      `LETHE_TEST_SEED=${random.seed}: ${tally.kills} kills under a list of ${rows}, ${tally.inTime} before the answer, in ${rounds} rounds; undisturbed ${Math.round(durationMs)} ms`,
    )
  })
}

/** No erasure starts before all requests are stored, and none is open after the answer. */
async function assertAllOrNone(seen: Snapshot, rows: number, isAnswered: boolean): Promise<void> {
  const open = await countRows(seen, 'privacy_requests', "state = 'open'")
  const begun = await countRows(seen, 'privacy_requests', "state <> 'open'")
  if (begun > 0) assert.equal(open + begun, rows, 'all are stored before one begins')
  if (isAnswered) assert.deepEqual([open, begun], [0, rows])
}
