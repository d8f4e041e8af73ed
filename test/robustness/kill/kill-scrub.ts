import assert from 'node:assert/strict'
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { it } from 'node:test'
import type { CommandLine } from '../../support/command-line.ts'
import { always } from '../../support/rows.ts'
import { seededRandom } from '../../support/seeded-random.ts'
import { eraseIn } from '../../support/test-keyring.ts'
import { assertSound, contentOf, countRows } from './invariants.ts'
import type { KillableStore, Snapshot } from './killable-store.ts'
import { killableSqlite, logSize } from './killable-store.ts'
import { complete, killAgainAndAgain, killDuring, measure, type Plan, type Tally } from './killing.ts'
import { buildShopAt, dayMs, ids, now, shuffled, visits } from './visits.ts'

/** Part of the IDs of erased subjects, and thus of all their sessions and events. */
const forgotten = 'forgotten'

/** Only for the embedded store: PostgreSQL manages the bytes of its own files. */
export function killScrubs({ kills, rows }: Plan, total: Tally): void {
  it('a scrub changes no stored data, and another run leaves no byte of erased data', async (t) => {
    const random = seededRandom()
    const store = await killableSqlite(t)
    const { cli } = store
    const crowd = { sessions: 4, events: 9, from: now - 20 * dayMs, to: now - dayMs }
    const [erased, others] = [ids(forgotten, Math.ceil(rows / 50)), ids('other', Math.ceil(rows / 20))]
    const everything = visits(random, { ...crowd, subjectIds: [...erased, ...others] })
    await buildShopAt(store.work.address, shuffled(random, everything), async ({ subjects }) => {
      const view = { organisationId: 'acme', trackerId: 'shop', since: always }
      for (const id of erased) assert.notEqual(await eraseIn({ subjects }, view, id), null)
    })
    assert.ok(cli.holdsBytes(forgotten), 'there is something to scrub')
    const content = await contentOf(await store.keep())
    // The folder of SQLite's temporary files, which is checked too.
    const env = { SQLITE_TMPDIR: cli.folder }

    // Kills during the whole scrub, and again only while new pages replace the old ones.
    for (const begins of ['maintenance', 'writing'] as const) {
      const victim = { args: ['scrub'], env, begins }
      await store.restore()
      // The start of the replacement is visible only from outside the process.
      const durationMs = await (begins === 'writing' ? measure : complete)(store, victim)
      await assertScrubbed(store)
      await killAgainAndAgain(t, {
        ...{ random, kills, durationMs, total },
        kill: (afterMs) => killDuring(store, victim, afterMs),
        async check() {
          assert.deepEqual(strayFiles(cli), [], 'nothing lies beside the store')
          const isLogFilled = logSize(cli.storePath) > 0
          const isGone = !cli.holdsBytes(forgotten)
          const seen = await store.leftBehind()
          await assertSound(seen, 'not below the stored rows')
          assert.deepEqual(await contentOf(seen), content)
          const isNoted = !(await isScrubDue(seen))
          assert.ok(isGone || !isNoted, 'a scrub is noted only when it has reached its aim')

          assert.equal((await cli.run(['scrub'])).code, 0)
          await assertScrubbed(store)
          await assertSound(store.work, 'not below the stored rows')
          assert.deepEqual(await contentOf(store.work), content)
          return isNoted ? 'all' : isLogFilled || isGone ? 'part' : 'nothing'
        },
      })
    }
  })
}

async function assertScrubbed({ cli, work }: KillableStore): Promise<void> {
  assert.equal(cli.holdsBytes(forgotten), false, 'no file holds a byte of what was erased')
  assert.equal(await isScrubDue(work), false)
}

/** Files beside the store. SQLite's temporary files have no name, so that nobody finds them later. */
function strayFiles({ folder }: CommandLine): string[] {
  return readdirSync(folder).filter(
    (name) => !/^lethe\.(?:db|secret)/.test(name) && statSync(join(folder, name)).size > 0,
  )
}

async function isScrubDue(store: Snapshot): Promise<boolean> {
  return (await countRows(store, 'scrubs', 'deletions <> scrubbed_deletions')) > 0
}
