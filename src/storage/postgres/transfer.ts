import type { TransferRow, TransferStore, TransferTable } from '../../domain/store.ts'
import { integer, type Row, text } from '../nouns/row.ts'
import { numbered, type Statement, statement } from '../nouns/statement.ts'
import { columnLists, transferTables } from '../rules/schema.ts'
import type { Connections } from './connections.ts'
import { copyRows } from './transaction.ts'

export function transferStore(connections: Connections): TransferStore {
  return {
    tables: transferTables,
    async count({ name }) {
      const [row] = await connections.readLong(statement(`SELECT count(*) AS count FROM ${name}`, 'any'))
      return integer(row ?? {}, 'count')
    },
    async read(table, after, limit) {
      const rows = await connections.read(pageOf(table, after), [...(after ?? []), limit])
      return rows.map((row) => toTransferRow(table, row))
    },
    add: (table, rows) =>
      connections.load((client) => {
        const columns = table.columns.map(({ name }) => name)
        return copyRows(client, table.name, columns, rows)
      }),
    adoptScrubState: (state) => connections.transact('adoptScrubState', state),
  }
}

function pageOf(table: TransferTable, after: TransferRow | null): Statement {
  const { all, key } = columnLists(table)
  const behind = after ? `WHERE (${key}) > (${after.map(() => '?').join(', ')})` : ''
  return statement(numbered(`SELECT ${all} FROM ${table.name} ${behind} ORDER BY ${key} LIMIT ?`, 1), 'any')
}

function toTransferRow({ columns }: TransferTable, row: Row): TransferRow {
  return columns.map(({ name, kind }) => {
    if (row[name] === null) return null
    if (kind === 'integer') return integer(row, name)
    return kind === 'key' ? text(row, name).replaceAll('-', '') : text(row, name)
  })
}
