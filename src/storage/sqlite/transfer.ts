import type { DatabaseSync, StatementSync } from 'node:sqlite'
import type { TransferRow, TransferTable } from '../../domain/store.ts'
import { toBound } from '../nouns/transfer.ts'
import { columnLists } from '../rules/schema.ts'
import { transaction } from './connection.ts'

export function transferCommands(db: DatabaseSync) {
  // Prepared on first use: most processes copy no tables.
  const inserts = new Map<string, StatementSync>()
  return {
    addRows: (table: TransferTable, rows: readonly TransferRow[]): void =>
      transaction(db, () => {
        const places = table.columns.map(() => '?').join(', ')
        const sql = `INSERT INTO ${table.name} (${columnLists(table).all}) VALUES (${places})`
        const insert = inserts.get(sql) ?? db.prepare(sql)
        inserts.set(sql, insert)
        for (const row of rows) insert.run(...toBound(table, row))
      }),
  }
}
