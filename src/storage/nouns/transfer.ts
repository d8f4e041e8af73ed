import type { TransferRow, TransferStore, TransferTable } from '../../domain/store.ts'
import { columnLists, transferTables } from '../rules/schema.ts'
import type { Engine } from './engine.ts'
import { blob, integer, type Row, text } from './row.ts'
import type { scrubTransactions } from './scrub.ts'
import { type NamedValues, type Statement, statement } from './statement.ts'

/** `add` inserts rows into a table; each engine has its own fastest way. */
export function transferStore(
  engine: Engine<typeof scrubTransactions>,
  add: TransferStore['add'],
): TransferStore {
  return {
    tables: transferTables,
    async count({ name }) {
      const [row] = await engine.readLong(statement(`SELECT count(*) AS count FROM ${name}`, 'any'))
      return integer(row ?? {}, 'count')
    },
    async read(table, after, limit) {
      const rows = await engine.read(...pageOf(table, after, limit))
      return rows.map((row) => toTransferRow(table, row))
    },
    add,
    adoptScrubState: (state) => engine.transact('adoptScrubState', state),
  }
}

function pageOf(table: TransferTable, after: TransferRow | null, limit: number): [Statement, NamedValues] {
  const { all, key } = columnLists(table)
  const position = after ? toBound(table, after).map((value, i) => [`key${i}`, value] as const) : []
  const behind = after ? `WHERE (${key}) > (${position.map(([name]) => `:${name}`).join(', ')})` : ''
  const page = statement(`SELECT ${all} FROM ${table.name} ${behind} ORDER BY ${key} LIMIT :limit`, 'any')
  return [page, { ...Object.fromEntries(position), limit }]
}

/** Values as the engines take them: keys as bytes. */
export function toBound(
  { columns }: TransferTable,
  values: TransferRow,
): (string | number | null | Uint8Array)[] {
  return values.map((value, i) =>
    typeof value === 'string' && columns[i]?.kind === 'key' ? Buffer.from(value, 'hex') : value,
  )
}

function toTransferRow({ columns }: TransferTable, row: Row): TransferRow {
  return columns.map(({ name, kind }) => {
    if (row[name] === null) return null
    if (kind === 'integer') return integer(row, name)
    return kind === 'key' ? toHex(row, name) : text(row, name)
  })
}

/** A key in hexadecimal. PostgreSQL returns it as a uuid. */
function toHex(row: Row, column: string): string {
  const value = row[column]
  return typeof value === 'string'
    ? value.replaceAll('-', '')
    : Buffer.from(blob(row, column)).toString('hex')
}
