import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { tooBusy } from '../../../src/domain/errors.ts'
import { Connections } from '../../../src/storage/postgres/connections.ts'
import { maxWaitingReads } from '../../../src/storage/postgres/readers.ts'
import { statement } from '../../../src/storage/postgres/statement.ts'
import { maxWaitingWrites } from '../../../src/storage/postgres/transaction-pool.ts'
import { freshDatabase } from '../../support/fresh-database.ts'
import { inReverse } from '../../support/in-reverse.ts'

const planning = statement('SHOW plan_cache_mode')

describe('connections to PostgreSQL', () => {
  for (const [where, isDistributed, mode] of [
    ['on one machine plan a statement once', false, 'force_generic_plan'],
    ['on a cluster leave that to PostgreSQL', true, 'auto'],
  ] as const) {
    it(`${where}, whether they read, write or load`, async (t) => {
      const lifetime = inReverse(t)
      const connections = new Connections(await freshDatabase(lifetime), isDistributed)
      lifetime.after(() => connections.close())
      const modes = await Promise.all([
        connections.read(planning, []),
        connections.transaction(async (run) => (await run(planning)).rows),
        connections.load(async (_, run) => (await run(planning)).rows),
      ])
      assert.deepEqual(modes.flat(), Array(3).fill({ plan_cache_mode: mode }))
    })
  }

  it('refuse immediately what would have to wait behind thousands of others', async (t) => {
    const lifetime = inReverse(t)
    const connections = new Connections(await freshDatabase(lifetime), false)
    lifetime.after(() => connections.close())
    const writers = 10
    const reads = Array.from({ length: maxWaitingReads + 1 }, () => connections.read(planning, []))
    const writes = Array.from({ length: writers + maxWaitingWrites + 1 }, () =>
      connections.transaction((run) => run(planning)),
    )
    const refusals = await Promise.all(
      [reads, writes].map(async (asked) => {
        const results = await Promise.allSettled(asked)
        return results.flatMap((result) => (result.status === 'rejected' ? [result.reason.message] : []))
      }),
    )
    assert.deepEqual(refusals, [[tooBusy().message], [tooBusy().message]])
  })
})
