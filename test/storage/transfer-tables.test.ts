import assert from 'node:assert/strict'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import type { TransferTable } from '../../src/domain/transfer.ts'
import { transferTables } from '../../src/storage/transfer-tables.ts'
import { openStoreAt } from '../support/empty-store.ts'
import { freshDatabase } from '../support/fresh-database.ts'
import { type RawTable, tablesAt } from '../support/raw-store.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const kinds: Record<string, string> = {
  TEXT: 'text',
  INTEGER: 'integer',
  BLOB: 'key',
  text: 'text',
  integer: 'integer',
  bigint: 'integer',
  uuid: 'key',
}

const engines: Record<string, (t: TestContext) => Promise<string>> = {
  SQLite: async (t) => `sqlite:${join(temporaryFolder(t), 'lethe.db')}`,
  PostgreSQL: freshDatabase,
}

async function schemaOf(t: TestContext, address: string): Promise<Record<string, RawTable>> {
  const store = await openStoreAt(address)
  t.after(() => store.close())
  return tablesAt(address)
}

function keyOf({ columns, keyLength }: TransferTable): string[] {
  return columns.slice(0, keyLength).map(({ name }) => name)
}

for (const [engine, addressFor] of Object.entries(engines)) {
  describe(`what lethe copy knows of the tables in ${engine}`, () => {
    it('is every table, and every column of each with its kind', async (t) => {
      const stored = await schemaOf(t, await addressFor(t))
      const known = transferTables.map(({ name, columns }) => [
        name,
        Object.fromEntries(columns.map(({ name, kind }) => [name, kind])),
      ])
      const there = Object.entries(stored).map(([name, { columns }]) => [
        name,
        Object.fromEntries(
          Object.entries(columns).map(([column, type]) => [
            column,
            kinds[type] ?? `${type}, which copy does not know`,
          ]),
        ),
      ])
      assert.deepEqual(
        Object.fromEntries(known),
        Object.fromEntries(there),
        'a table or a column is missing in src/storage/transfer-tables.ts',
      )
    })

    it('is a key for each by which an index leads to its rows, in the order of bytes', async (t) => {
      const stored = await schemaOf(t, await addressFor(t))
      for (const table of transferTables) {
        const { indexes, unordered } = stored[table.name] ?? assert.fail(table.name)
        const key = keyOf(table)
        const leads = indexes.some((index) => key.every((column, place) => index[place] === column))
        assert.ok(leads, `no index of ${table.name} begins with ${key}: ${JSON.stringify(indexes)}`)
        assert.deepEqual(
          key.filter((column) => unordered.includes(column)),
          [],
          table.name,
        )
      }
    })
  })
}

describe('the order in which lethe copy fills tables', () => {
  it('has every table behind those it refers to', async (t) => {
    const address = await freshDatabase(t)
    const store = await openStoreAt(address)
    t.after(() => store.close())
    const stored = await tablesAt(address)
    for (const [name, { refersTo }] of Object.entries(stored)) {
      const place = transferTables.findIndex((table) => table.name === name)
      for (const other of refersTo) {
        const otherPlace = transferTables.findIndex((table) => table.name === other)
        assert.ok(otherPlace < place, `${name} refers to ${other}`)
      }
    }
    assert.deepEqual(stored.trackers?.refersTo, ['organisations'])
  })
})
