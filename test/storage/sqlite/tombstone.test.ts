import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { it } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { openShop } from './open-shop.ts'

it('tombstones without an entry are counted in steps, and requests are answered between them', async (t) => {
  const { store, path } = await openShop(t, { writesHere: true })
  const db = new DatabaseSync(path)
  // Of two organisations, with several tombstones for a subject; every fourth has no entry.
  db.exec(`WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 23999)
    INSERT INTO tombstones SELECT 'shop', unhex(printf('%032x', i / 16)), iif(i % 2, 'acme', 'other'),
      iif(i % 4 = 1, -1 - i, i), i, i FROM n`)
  db.exec(`INSERT INTO ledger_entries (organisation_id, ledger_index, record, edge, head_mac)
    VALUES ('acme', 23999, '', '', '')`)
  db.close()
  let turns = 0
  let isCounting = true
  const others = (async () => {
    for (; isCounting; turns++) await nextTurn()
  })()
  assert.equal(await store.tombstones.countWithoutEntry('acme'), 6_000)
  isCounting = false
  await others
  assert.ok(turns >= 4, `${turns} turns`)
})
