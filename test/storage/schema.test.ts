import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import type { TransferTable } from '../../src/domain/store.ts'
import { transferTables } from '../../src/storage/rules/schema.ts'
import { openStoreAt } from '../support/empty-store.ts'
import { freshStore } from '../support/fresh-database.ts'
import { inReverse } from '../support/in-reverse.ts'
import { type RawTable, tablesAt } from '../support/raw-store.ts'
import type { Lifetime } from '../support/service.ts'
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

const engines: Record<string, (lifetime: Lifetime) => Promise<string>> = {
  SQLite: async (lifetime) => `sqlite:${join(temporaryFolder(lifetime), 'lethe.db')}`,
  PostgreSQL: freshStore,
}

function keyOf({ columns, keyLength }: TransferTable): string[] {
  return columns.slice(0, keyLength).map(({ name }) => name)
}

for (const [engine, addressFor] of Object.entries(engines)) {
  describe(`what lethe copy knows of the tables in ${engine}`, () => {
    const lifetime = inReverse({ after })
    let stored: Record<string, RawTable>
    before(async () => {
      const address = await addressFor(lifetime)
      const store = await openStoreAt(address)
      await store.close()
      stored = await tablesAt(address)
    })

    it('covers every table, and every column with its kind', () => {
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
        'a table or a column is missing in src/storage/rules/schema.ts',
      )
    })

    it('has a key for each table that an index supports, sorted by bytes', () => {
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

    it('orders every table after those it refers to', () => {
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
}
