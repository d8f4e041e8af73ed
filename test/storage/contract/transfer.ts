import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { keyOf, type Store, type TransferRow, type TransferTable } from '../../../src/domain/store.ts'
import { fillEverything } from '../../support/everything.ts'
import { byCodePoints, Fixture } from './fixture.ts'

/** Copying affects whole stores, so these tests use two separate ones. */
export function transferContract(folder: string, open: (folder: string) => Promise<Store>): void {
  describe('moving tables', () => {
    const [full, empty] = [new Fixture(), new Fixture()]
    before(async () => {
      full.use(await open(join(folder, 'moved-from')))
      empty.use(await open(join(folder, 'moved-to')))
      await fillEverything(full.store)
    })
    after(() => Promise.all([full.store.close(), empty.store.close()]))

    function tableOf(name: string): TransferTable {
      const found = full.store.transfer.tables.find((table) => table.name === name)
      return found ?? assert.fail(`no table ${name}`)
    }

    async function readAll({ store }: Fixture, table: TransferTable, limit: number): Promise<TransferRow[]> {
      const all: TransferRow[] = []
      for (let last: TransferRow | undefined; ; last = all.at(-1)) {
        const rows = await store.transfer.read(table, last ? keyOf(table, last) : null, limit)
        assert.ok(rows.length <= limit)
        if (rows.length === 0) return all
        all.push(...rows)
      }
    }

    it('reads as many rows as it counts, none twice, with any page size', async () => {
      for (const table of full.store.transfer.tables) {
        const rows = await readAll(full, table, 1_000)
        assert.ok(rows.length > 1, `${table.name} has rows to try it with`)
        assert.equal(await full.store.transfer.count(table), rows.length)
        const keys = new Set(rows.map((row) => JSON.stringify(keyOf(table, row))))
        assert.equal(keys.size, rows.length)
        assert.deepEqual(await readAll(full, table, 5), rows)
      }
    })

    it('reads in the order of keys, with text by code points', async () => {
      const subjects = await readAll(full, tableOf('subjects'), 100)
      const names = subjects.map(([trackerId, subjectId]) => `${trackerId}\0${subjectId}`)
      assert.deepEqual(names, names.toSorted(byCodePoints))
      const events = await readAll(full, tableOf('events'), 100)
      const instants = Map.groupBy(events, ([key]) => key)
      assert.ok(instants.size > 1)
      for (const rows of instants.values()) {
        const order = rows.map(([, occurredAt]) => Number(occurredAt))
        assert.deepEqual(
          order,
          order.toSorted((a, b) => a - b),
        )
      }
      const keys = [...instants.keys()].map(String)
      assert.deepEqual(keys, keys.toSorted())
      for (const key of keys) assert.match(key, /^[0-9a-f]{32}$/)
    })

    it('adds rows that are then read unchanged', async () => {
      for (const table of full.store.transfer.tables) {
        const rows = await readAll(full, table, 1_000)
        await empty.store.transfer.add(table, rows)
        assert.deepEqual(await readAll(empty, table, 1_000), rows)
      }
    })

    it('adds all rows or none', async () => {
      const organisations = tableOf('organisations')
      const before = await readAll(full, organisations, 1_000)
      const [known] = before
      const fresh: TransferRow = ['zzz', 'Last', 'free', 1, null]
      await assert.rejects(full.store.transfer.add(organisations, [fresh, known ?? []]))
      assert.deepEqual(await readAll(full, organisations, 1_000), before)
      await assert.rejects(full.store.transfer.add(tableOf('trackers'), [['t', 'nobody', 'Shop', 1, null]]))
    })

    it('copies when the last scrub was, and that one is due, but never that none is due', async () => {
      const { transfer, maintenance } = empty.store
      await transfer.adoptScrubState({ lastAt: 7, isDue: false })
      assert.deepEqual(await maintenance.scrubState(), { lastAt: 7, isDue: false })
      await transfer.adoptScrubState({ lastAt: 8, isDue: true })
      assert.deepEqual(await maintenance.scrubState(), { lastAt: 8, isDue: true })
      await transfer.adoptScrubState({ lastAt: 9, isDue: false })
      assert.deepEqual(await maintenance.scrubState(), { lastAt: 9, isDue: true })
      await maintenance.scrub(10)
      assert.deepEqual(await maintenance.scrubState(), { lastAt: 10, isDue: false })
    })
  })
}
