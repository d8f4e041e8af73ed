import assert from 'node:assert/strict'
import { after, before, it } from 'node:test'
import { type PostgresServer, startPostgres } from '../../support/postgres.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { type Plan, Tally } from '../kill/killing.ts'
import { killErasures } from './kill-erasure.ts'
import { killImports } from './kill-import.ts'
import { killSweeps } from './kill-sweep.ts'

/** Kills processes at work on a PostgreSQL, or that under them. `leastInTime` is the share of kills that must come in time. */
export function killTests(
  plans: Record<'imports' | 'erasures' | 'sweeps', Plan>,
  { leastInTime }: { leastInTime: number },
): void {
  const total = new Tally()
  let postgres: PostgresServer
  // There are many processes to start, and they start in half the time with what one before them has compiled.
  process.env.NODE_COMPILE_CACHE ??= temporaryFolder({ after })
  before(async () => {
    postgres = await startPostgres({})
  })
  after(() => postgres.remove())
  const server = () => postgres

  killImports(server, plans.imports, total)
  killErasures(server, plans.erasures, total)
  killSweeps(server, plans.sweeps, total)
  it('processes were at work when they were killed', (t) => {
    t.diagnostic(`in all ${total}`)
    assert.ok(total.inTime >= total.kills * leastInTime)
  })
}
