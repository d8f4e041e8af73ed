import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { it } from 'node:test'
import type { RunningProgram } from '../../support/command-line.ts'
import type { PostgresServer } from '../../support/postgres.ts'
import { twoFiles } from '../kill/kill-import.ts'
import { killAgainAndAgain, killed, type Plan, progress, type Tally } from '../kill/killing.ts'
import { ndjson, shuffled } from '../kill/visits.ts'
import { assertAmong, contentOf, copyDatabase, rowsOf, untilDeserted } from './databases.ts'
import { fillDatabase } from './fleet.ts'
import { assertSound, withDatabase } from './invariants.ts'
import { disturb, killFixture, measure } from './kill-fixture.ts'

export function killImports(server: () => PostgresServer, { kills, rows }: Plan, total: Tally): void {
  it('killed at any moment, an import on PostgreSQL, or PostgreSQL under it, loses nothing that was stored, and an import run again completes it', async (t) => {
    const postgres = server()
    const fixture = killFixture(t, postgres, 'import')
    const { random, cli, names, urls } = fixture
    const [early, late] = [join(cli.folder, 'early.ndjson'), join(cli.folder, 'late.ndjson')]
    const lines = twoFiles(random, rows)
    writeFileSync(early, ndjson(lines.early))
    writeFileSync(late, ndjson(shuffled(random, lines.late)))
    await copyDatabase(postgres, names.work)
    await fillDatabase(urls.work)
    assert.equal((await cli.run(['import', early])).code, 0)
    await copyDatabase(postgres, names.before, names.work)
    const victim = { args: ['import', late] }
    const durationMs = await measure(fixture, victim)
    const complete = await contentOf(urls.work)
    const [before, after] = [await rowsOf(urls.before, 'events'), await rowsOf(urls.work, 'events')]

    /** Whether the import had to do without PostgreSQL. It then says so in one line, which holds no secret. */
    async function restartUnder(program: RunningProgram): Promise<boolean> {
      await postgres.stop(random.pick(['fast', 'immediate', 'killed']))
      await postgres.start()
      const { code, stderr } = await program.ended
      assert.ok(!stderr.includes(new URL(postgres.url).password))
      if (code !== 0) assert.match(stderr, /^error: [^\n]+\n$/m)
      return code !== 0
    }

    for (const disturbance of [killed, restartUnder]) {
      await killAgainAndAgain(t, { random, kills, durationMs, total }, async (afterMs) => {
        await copyDatabase(postgres, names.work, names.before)
        const hit = await disturb(fixture, victim, afterMs, disturbance)
        await untilDeserted(postgres, names.work)
        await withDatabase(urls.work, (client) => assertSound(client, 'equal to what is stored'))
        const seen = await rowsOf(urls.work, 'events')
        assertAmong(before, seen, 'what was stored is there')
        assertAmong(seen, after, 'nothing else is there')

        const again = await cli.run(['import', late])
        assert.equal(again.code, 0, again.stderr)
        await withDatabase(urls.work, (client) => assertSound(client, 'equal to what is stored'))
        assert.deepEqual(await contentOf(urls.work), complete)
        return { ...hit, done: progress(seen.size, { before: before.size, after: after.size }) }
      })
    }
  })
}
