import assert from 'node:assert/strict'
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { it } from 'node:test'
import { ask } from '../../storage/sqlite/database-file.ts'
import type { CommandLine } from '../../support/command-line.ts'
import { always } from '../../support/rows.ts'
import { contentOf } from './contents.ts'
import { killFixture } from './fixture.ts'
import { assertSound } from './invariants.ts'
import { begins, killAgainAndAgain, killDuring, logSize, measure, type Plan, type Tally } from './killing.ts'
import { buildShop } from './shop-store.ts'
import { copyStore } from './store-files.ts'
import { dayMs, ids, now, shuffled, visits } from './visits.ts'

/** Stands at both ends of the ids of erased subjects, which are in all their sessions and events. */
const forgotten = 'forgotten'

export function killScrubs({ kills, rows }: Plan, total: Tally): void {
  it('a scrub changes nothing that is stored, and leaves no byte of what was erased when it is run again', async (t) => {
    const { random, cli, before, seen } = killFixture(t)
    const crowd = { sessions: 4, events: 9, from: now - 20 * dayMs, to: now - dayMs }
    const [erased, others] = [ids(forgotten, Math.ceil(rows / 50)), ids('other', Math.ceil(rows / 20))]
    const everything = visits(random, { ...crowd, subjectIds: [...erased, ...others] })
    await buildShop(cli.storePath, shuffled(random, everything), async ({ subjects }) => {
      const view = { organisationId: 'acme', trackerId: 'shop', since: always }
      for (const id of erased) assert.notEqual(await subjects.erase(view, id), null)
    })
    assert.ok(cli.holdsBytes(forgotten), 'there is something to scrub')
    copyStore(cli.storePath, before)
    const content = contentOf(before)
    // Where SQLite builds the new file: what it leaves there is looked at too.
    const env = { SQLITE_TMPDIR: cli.folder }

    // The whole of it, and once more only the time from which on the new pages take the place of the old.
    for (const beginning of [begins.withMaintenance, begins.withWriting]) {
      const victim = { args: ['scrub'], env, begins: beginning }
      copyStore(before, cli.storePath)
      const durationMs = await measure(cli, victim)
      assertScrubbed(cli)
      await killAgainAndAgain(t, { random, kills, durationMs, total }, async (afterMs) => {
        copyStore(before, cli.storePath)
        const hit = await killDuring(cli, victim, afterMs)
        assert.deepEqual(strayFiles(cli), [], 'nothing lies beside the store')
        const isLogFilled = logSize(cli.storePath) > 0
        const isGone = !cli.holdsBytes(forgotten)
        copyStore(cli.storePath, seen)
        assertSound(seen, 'not below what is stored')
        assert.deepEqual(contentOf(seen), content)
        const isNoted = !isScrubDue(seen)
        assert.ok(isGone || !isNoted, 'a scrub is noted only when it has reached its aim')

        assert.equal((await cli.run(['scrub'])).code, 0)
        assertScrubbed(cli)
        assertSound(cli.storePath, 'not below what is stored')
        assert.deepEqual(contentOf(cli.storePath), content)
        return { ...hit, done: isNoted ? 'all' : isLogFilled || isGone ? 'part' : 'nothing' }
      })
    }
  })
}

function assertScrubbed(cli: CommandLine): void {
  assert.equal(cli.holdsBytes(forgotten), false, 'no file holds a byte of what was erased')
  assert.equal(isScrubDue(cli.storePath), false)
}

/** What SQLite keeps beside the store while it rewrites it has no name, so that nobody finds it later. */
function strayFiles({ folder }: CommandLine): string[] {
  return readdirSync(folder).filter(
    (name) => !name.startsWith('lethe.db') && statSync(join(folder, name)).size > 0,
  )
}

function isScrubDue(path: string): boolean {
  return ask(path, 'SELECT 1 FROM scrubs WHERE deletions <> scrubbed_deletions').length > 0
}
