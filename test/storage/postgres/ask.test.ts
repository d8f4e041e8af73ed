import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { getHeapSpaceStatistics } from 'node:v8'
import { ask, askForValues } from '../../../src/storage/postgres/ask.ts'
import { withClient } from '../../../src/storage/postgres/connections.ts'
import { freshDatabase } from '../../support/fresh-database.ts'

const rows = 300
const text = `SELECT i, repeat('x', 100) AS filler FROM generate_series(1, ${rows}) i`

function oldBytes(): number {
  return getHeapSpaceStatistics().find(({ space_name }) => space_name === 'old_space')?.space_used_size ?? 0
}

describe('asking PostgreSQL', () => {
  it('hands over rows, as objects or as their values, or fails', async (t) => {
    await withClient(await freshDatabase(t), async (client) => {
      const config = { text: 'SELECT $1::text AS a, $2::text AS b', values: ['1', '2'] }
      assert.deepEqual((await ask(client, config)).rows, [{ a: '1', b: '2' }])
      assert.deepEqual(await askForValues(client, config), [['1', '2']])
      await assert.rejects(ask(client, { text: 'SELECT nothing' }), /nothing/)
      await assert.rejects(askForValues(client, { text: 'SELECT nothing' }), /nothing/)
    })
  })

  it('keeps nothing of rows that went by, page after page', async (t) => {
    await withClient(await freshDatabase(t), async (client) => {
      const before = oldBytes()
      let most = 0
      for (let page = 0; page < 400; page++) {
        assert.equal((await ask(client, { text })).rows.length, rows)
        most = Math.max(most, oldBytes() - before)
      }
      assert.ok(most < 8 * 1024 ** 2, `${Math.round(most / 1024)} KiB of 400 pages grew old`)
    })
  })
})
