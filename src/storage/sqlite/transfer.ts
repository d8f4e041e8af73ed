import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite'
import type { TransferRow, TransferStore, TransferTable } from '../../domain/store.ts'
import { blob, integer, type Row, text } from '../nouns/row.ts'
import { columnLists, transferTables } from '../rules/schema.ts'
import { transaction } from './connection.ts'
import type { Connections } from './connections.ts'

export function transferStore({
  reader,
  writer,
}: Connections<ReturnType<typeof transferCommands>>): Omit<TransferStore, 'adoptScrubState'> {
  const prepared = preparedOnce(reader)
  return {
    tables: transferTables,
    count: async ({ name }) =>
      integer(prepared(`SELECT count(*) AS count FROM ${name}`).get() ?? {}, 'count'),
    async read(table, after, limit) {
      const { all, key } = columnLists(table)
      const behind = after ? `WHERE (${key}) > (${after.map(() => '?').join(', ')})` : ''
      const page = prepared(`SELECT ${all} FROM ${table.name} ${behind} ORDER BY ${key} LIMIT ?`)
      return page.all(...toStored(table, after ?? []), limit).map((row) => toTransferRow(table, row))
    },
    add: (table, rows) => writer.run('addRows', table, rows),
  }
}

export function transferCommands(db: DatabaseSync) {
  const prepared = preparedOnce(db)
  return {
    addRows: (table: TransferTable, rows: readonly TransferRow[]): void =>
      transaction(db, () => {
        const places = table.columns.map(() => '?').join(', ')
        const insert = prepared(`INSERT INTO ${table.name} (${columnLists(table).all}) VALUES (${places})`)
        for (const row of rows) insert.run(...toStored(table, row))
      }),
  }
}

/** Prepares a statement on first use: most processes copy no tables. */
function preparedOnce(db: DatabaseSync): (sql: string) => StatementSync {
  const statements = new Map<string, StatementSync>()
  return (sql) => {
    const statement = statements.get(sql) ?? db.prepare(sql)
    statements.set(sql, statement)
    return statement
  }
}

function toTransferRow({ columns }: TransferTable, row: Row): TransferRow {
  return columns.map(({ name, kind }) => {
    if (row[name] === null) return null
    if (kind === 'integer') return integer(row, name)
    return kind === 'key' ? Buffer.from(blob(row, name)).toString('hex') : text(row, name)
  })
}

function toStored({ columns }: TransferTable, values: TransferRow): SQLInputValue[] {
  return values.map((value, index) =>
    typeof value === 'string' && columns[index]?.kind === 'key' ? Buffer.from(value, 'hex') : value,
  )
}
