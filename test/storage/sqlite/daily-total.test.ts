import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { it } from 'node:test'
import { openShop } from './open-shop.ts'

it('daily totals of very many names are added up in pieces, between which other work runs', async (t) => {
  const { store, path } = await openShop(t, { writesHere: true })
  const db = new DatabaseSync(path)
  const count = 20_000
  db.exec(`INSERT INTO daily_events (tracker_id, day, name, count)
    WITH RECURSIVE numbers (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${count - 1})
    SELECT 'shop', n % 2, 'name ' || n, 2 FROM numbers`)
  db.close()
  let turns = 0
  const turn = () => {
    turns += 1
    next = setImmediate(turn)
  }
  let next = setImmediate(turn)
  const sums = await store.dailyTotals.sum({ organisationId: 'acme', trackerId: 'shop' }, 0, 1)
  clearImmediate(next)
  assert.deepEqual(sums, [
    { day: 0, sessions: 0, events: count },
    { day: 1, sessions: 0, events: count },
  ])
  assert.ok(turns >= 3, `${turns} turns`)
})
