import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import { tooBusy } from '../../../src/domain/errors.ts'
import { postgresOnly } from '../../../src/storage/nouns/statement.ts'
import { Connections } from '../../../src/storage/postgres/connections.ts'
import { maxWaitingReads } from '../../../src/storage/postgres/readers.ts'
import { maxWaitingWrites } from '../../../src/storage/postgres/transaction.ts'
import { heapUsed } from '../../support/collect-garbage.ts'
import { freshDatabase } from '../../support/fresh-database.ts'
import { inReverse } from '../../support/in-reverse.ts'

const planning = postgresOnly('SHOW plan_cache_mode')

const database = await freshDatabase({ after })

describe('connections to PostgreSQL', () => {
  for (const [where, shards, mode] of [
    ['on one machine plan a statement once', [], 'force_generic_plan'],
    ['on a cluster leave that to PostgreSQL', [-2_147_483_648], 'auto'],
  ] as const) {
    it(`${where}, whether they read, write or load`, async (t) => {
      const lifetime = inReverse(t)
      const connections = new Connections(database, shards)
      lifetime.after(() => connections.close())
      const modes = await Promise.all([
        connections.read(planning, []),
        connections.transaction(async (run) => (await run(planning)).rows),
        connections.load(async (_, run) => (await run(planning)).rows),
      ])
      assert.deepEqual(modes.flat(), Array(3).fill({ plan_cache_mode: mode }))
    })
  }

  it('have their timeouts, whether they read, write or load', async (t) => {
    const lifetime = inReverse(t)
    const connections = new Connections(database)
    lifetime.after(() => connections.close())
    const timeouts = postgresOnly(
      `SELECT current_setting('statement_timeout') AS statement, current_setting('lock_timeout') AS lock`,
    )
    assert.deepEqual(await connections.read(timeouts, []), [{ statement: '5s', lock: '0' }])
    for (const rows of [
      await connections.transaction(async (run) => (await run(timeouts)).rows),
      await connections.load(async (_, run) => (await run(timeouts)).rows),
    ]) {
      assert.deepEqual(rows, [{ statement: '10min', lock: '30s' }])
    }
  })

  it('pipeline statements when they load, and send none after a failed transaction', async (t) => {
    const lifetime = inReverse(t)
    const connections = new Connections(database)
    lifetime.after(() => connections.close())
    const warnings: Error[] = []
    const listen = (warning: Error) => warnings.push(warning)
    process.on('warning', listen)
    lifetime.after(() => void process.off('warning', listen))
    const wait = postgresOnly('SELECT pg_sleep(0.05)')
    await connections.transaction((run) => run(postgresOnly('CREATE TABLE numbers (number int)')))
    const add = postgresOnly('INSERT INTO numbers VALUES ($1)')
    const added = async () => connections.read(postgresOnly('SELECT number FROM numbers'), [])
    await connections.load(async (_, run) => {
      run(wait)
      run(add, [7])
    })
    assert.deepEqual(await added(), [{ number: 7 }])
    const failed = connections.load(async (_, run) => {
      run(wait)
      run(add, [8])
      throw new Error('no more')
    })
    await assert.rejects(failed, /no more/)
    // These run after everything already sent on the connection.
    await Promise.all([1, 2].map(() => connections.load((_, run) => run(wait))))
    assert.deepEqual(await added(), [{ number: 7 }])
    assert.deepEqual(warnings, [])
  })

  it('do not retain the answers of a long transaction', async (t) => {
    const lifetime = inReverse(t)
    const connections = new Connections(database)
    lifetime.after(() => connections.close())
    const large = postgresOnly(`SELECT repeat('x', 1000000) AS text`)
    const heapMb = () => heapUsed() / 1_000_000
    const before = heapMb()
    const grown = await connections.inSnapshot(async (read) => {
      for (let count = 0; count < 25; count++) await read(large, [])
      return heapMb() - before
    })
    assert.ok(grown < 20, `${grown} MB`)
  })

  it('immediately refuse statements that would wait for thousands of others', async (t) => {
    const lifetime = inReverse(t)
    const connections = new Connections(database)
    lifetime.after(() => connections.close())
    const writers = 10
    const read = () => connections.read(planning, [])
    const write = () => connections.transaction((run) => run(planning))
    for (const [ask, room] of [
      [read, maxWaitingReads],
      [write, writers + maxWaitingWrites],
    ] as const) {
      let answered = 0
      const asked = Array.from({ length: room }, () => ask().then(() => answered++))
      await assert.rejects(ask(), { message: tooBusy().message })
      assert.equal(answered, 0, 'it did not wait for others')
      // On a busy machine, the last ones may exceed the longest wait.
      for (const result of await Promise.allSettled(asked)) {
        if (result.status === 'rejected') assert.equal(result.reason.message, tooBusy().message)
      }
      assert.ok(answered > 0)
    }
  })
})
