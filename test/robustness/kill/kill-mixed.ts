import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { it } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import type { Outcome } from '../../support/command-line.ts'
import { seededRandom } from '../../support/seeded-random.ts'
import { assertAmong, assertSound, contentOf, rowsOf, subjectIdsIn } from './invariants.ts'
import { edge, someAgedVisits, thirtyDays } from './kill-sweep.ts'
import type { MakeKillable } from './killable-store.ts'
import { killAgainAndAgain, killProgram, type Plan, type Tally } from './killing.ts'
import { createKey, eraseAgain, eraseAll, startNextService, startRoomyServer, stopServer } from './server.ts'
import { buildShopAt, byTime, dayMs, ids, ndjson, now, shuffled, visits } from './visits.ts'

const victims = ['both', 'the server', 'the import'] as const
const env = { ...thirtyDays, LETHE_SCRUB_HOUR: 'off' }
const ofDoomed = "subject_id LIKE 'doomed%'"
const toStay = `occurred_at >= ${edge} AND event_id NOT LIKE 'doomed%'`
const ofImport = "event_id LIKE 'imported%'"

export function killMixedWork(makeStore: MakeKillable, { kills, rows }: Plan, total: Tally): void {
  it('a server that erases and sweeps, a concurrent import, or both, lose nothing that was answered', async (t) => {
    const random = seededRandom()
    const store = await makeStore(t, random)
    const { cli } = store
    const crowd = { sessions: 5, events: 9, from: edge + dayMs, to: now - dayMs }
    const doomed = ids('doomed', 30)
    const imported = visits(random, { ...crowd, subjectIds: ids('imported', Math.ceil(rows / 50)) })
    const file = join(cli.folder, 'imported.ndjson')
    writeFileSync(file, ndjson(byTime(imported)))
    await buildShopAt(
      store.work.address,
      shuffled(random, [
        ...someAgedVisits(random, rows),
        ...visits(random, { ...crowd, subjectIds: doomed, sessions: Math.ceil(rows / 600) }),
      ]),
    )
    const key = await createKey(cli)
    const before = await store.keep()
    const subjects = await rowsOf(before, 'subjects', { where: ofDoomed })
    const staying = await rowsOf(before, 'events', { where: toStay })

    /** Sends erasures to a server during an import. The server also sweeps when it starts. */
    function beginErasing(url: string, imported: Promise<Outcome>) {
      const startedAt = performance.now()
      const answers = eraseAll(url, key, doomed)
      return { answers, ranMs: Promise.all([answers, imported]).then(() => performance.now() - startedAt) }
    }

    /** Repeats everything that may be incomplete. */
    async function complete(isLeft: (id: string) => boolean): Promise<void> {
      const next = await startNextService(t, store, { env })
      await eraseAgain(next.url, key, doomed, isLeft)
      await next.stop()
      assert.equal((await cli.run(['import', file], { env: thirtyDays })).code, 0)
      assert.equal((await cli.run(['sweep'], { env: thirtyDays })).code, 0)
      await assertSound(store.work, 'not below the stored rows')
    }

    const first = await startNextService(t, store, { env })
    const importedFirst = cli.run(['import', file], { env: thirtyDays })
    const undisturbed = beginErasing(first.url, importedFirst)
    assert.equal((await undisturbed.answers).length, doomed.length)
    assert.equal((await importedFirst).code, 0)
    await first.stop()
    assert.equal((await cli.run(['sweep'], { env: thirtyDays })).code, 0)
    const content = await contentOf(store.work)
    const importedEvents = await rowsOf(store.work, 'events', { where: ofImport })

    let round = 0
    await killAgainAndAgain(t, {
      ...{ random, kills, durationMs: await undisturbed.ranMs, total },
      async kill(afterMs) {
        await store.restore()
        const importing = cli.startProgram(['import', file], thirtyDays)
        const server = await startRoomyServer(cli, env)
        const { answers, ranMs } = beginErasing(server.url, importing.ended)
        const victim = victims[round++ % victims.length]
        await delay(afterMs)
        const deaths = [
          ...(victim === 'the import' ? [] : [killProgram(server)]),
          ...(victim === 'the server' ? [] : [killProgram(importing)]),
        ]
        const wasInTime = (await Promise.all(deaths)).some(Boolean)
        const { code } = await importing.ended
        const answered = await answers
        if (victim === 'the import') {
          assert.equal(answered.length, doomed.length, 'the server goes on')
          await stopServer(server)
        }
        if (victim === 'the server') assert.equal(code, 0, 'the import goes on')
        return { wasInTime, ranMs: await ranMs, answered, isImported: code === 0 }
      },
      async check({ answered, isImported }) {
        const seen = await store.leftBehind()
        await assertSound(seen, 'not below the stored rows')
        const left = await subjectIdsIn(seen)
        assert.ok(
          answered.every((id) => !left.has(id)),
          'what was answered is gone',
        )
        assertAmong(await rowsOf(seen, 'subjects', { where: ofDoomed }), subjects, 'whole or gone')
        const events = await rowsOf(seen, 'events')
        assertAmong(staying, events, 'what was stored is there')
        if (isImported) assertAmong(importedEvents, events, 'what was imported is there')
        const isDone = (await contentOf(seen)).events === content.events

        await complete((id) => left.has(id))
        assert.deepEqual(await contentOf(store.work), content)
        return isDone ? 'all' : 'part'
      },
    })
  })
}
