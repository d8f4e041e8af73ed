import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import { getHeapSpaceStatistics } from 'node:v8'
import { postgresOnly } from '../../../src/storage/nouns/statement.ts'
import { withClient } from '../../../src/storage/postgres/connect.ts'
import { ask, askForValues } from '../../../src/storage/postgres/transaction.ts'
import { freshDatabase } from '../../support/fresh-database.ts'

const rows = 300
const many = postgresOnly(`SELECT i, repeat('x', 100) AS filler FROM generate_series(1, ${rows}) i`)

const database = await freshDatabase({ after })

function oldBytes(): number {
  return getHeapSpaceStatistics().find(({ space_name }) => space_name === 'old_space')?.space_used_size ?? 0
}

describe('querying PostgreSQL', () => {
  it('returns rows as objects or as values, or fails', async () => {
    await withClient(database, async (client) => {
      const [pair, bad] = [
        postgresOnly('SELECT $1::text AS a, $2::text AS b'),
        postgresOnly('SELECT nothing'),
      ]
      assert.deepEqual((await ask(client, pair, ['1', '2'])).rows, [{ a: '1', b: '2' }])
      assert.deepEqual(await askForValues(client, pair, ['1', '2']), [['1', '2']])
      await assert.rejects(ask(client, bad, []), /nothing/)
      await assert.rejects(askForValues(client, bad, []), /nothing/)
      const { rows } = await client.query('SELECT name FROM pg_prepared_statements')
      assert.deepEqual(rows, [{ name: pair.name }], 'it is parsed once')
    })
  })

  it('does not retain earlier rows, page after page', async () => {
    await withClient(database, async (client) => {
      const before = oldBytes()
      let most = 0
      for (let page = 0; page < 400; page++) {
        assert.equal((await ask(client, many, [])).rows.length, rows)
        most = Math.max(most, oldBytes() - before)
      }
      assert.ok(most < 8 * 1024 ** 2, `${Math.round(most / 1024)} KiB of 400 pages grew old`)
    })
  })
})
