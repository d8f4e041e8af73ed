import { DatabaseSync } from 'node:sqlite'
import { Client } from 'pg'

/** A table, as its database describes it. */
export interface RawTable {
  /** The type of each column, as the database names it. */
  columns: Record<string, string>
  /** The columns of each index, in order. */
  indexes: string[][]
  /** Text columns that are not sorted by bytes. */
  unordered: string[]
  /** The tables that its foreign keys refer to. */
  refersTo: string[]
}

type RawRow = Record<string, unknown>

/** Queries the database of a store directly, on a separate connection. */
async function askAt<Result>(
  address: string,
  work: (ask: (sql: string) => Promise<RawRow[]>, isSqlite: boolean) => Promise<Result>,
): Promise<Result> {
  if (address.startsWith('sqlite:')) {
    // A process that opens a store after a kill, or is the last to close it, locks it briefly.
    const db = new DatabaseSync(address.slice('sqlite:'.length), { timeout: 10_000 })
    try {
      return await work(async (sql) => db.prepare(sql).all(), true)
    } finally {
      db.close()
    }
  }
  const client = new Client(address)
  await client.connect()
  try {
    return await work(async (sql) => (await client.query(sql)).rows, false)
  } finally {
    await client.end()
  }
}

const sqliteTables = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
const postgresTables =
  "SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'public'"

/** Every table except those about the store itself: the progress of sweeps and scrubs, migrations. */
export function tablesAt(address: string): Promise<Record<string, RawTable>> {
  return askAt(address, async (ask, isSqlite) => {
    const own = ['scrubs', 'sweeps', 'lethe_migrations']
    const found = (await ask(isSqlite ? sqliteTables : postgresTables)).map(({ name }) => String(name))
    const tables: Record<string, RawTable> = {}
    for (const name of found.filter((each) => !own.includes(each)).sort()) {
      tables[name] = isSqlite ? await sqliteTable(ask, name) : await postgresTable(ask, name)
    }
    return tables
  })
}

type Ask = (sql: string) => Promise<RawRow[]>

async function sqliteTable(ask: Ask, table: string): Promise<RawTable> {
  const columns = await ask(`SELECT name, type FROM pragma_table_info('${table}')`)
  const indexed = await ask(
    `SELECT l.name AS index_name, i.name, i.coll FROM pragma_index_list('${table}') l, pragma_index_xinfo(l.name) i
     WHERE i.key ORDER BY l.name, i.seqno`,
  )
  const references = await ask(`SELECT "table" AS name FROM pragma_foreign_key_list('${table}')`)
  return {
    columns: Object.fromEntries(columns.map(({ name, type }) => [name, String(type)])),
    indexes: grouped(indexed),
    refersTo: references.map(({ name }) => String(name)),
    unordered: indexed.filter(({ coll }) => coll !== 'BINARY').map(({ name }) => String(name)),
  }
}

async function postgresTable(ask: Ask, table: string): Promise<RawTable> {
  const columns = await ask(
    `SELECT column_name AS name, data_type AS type, collation_name AS coll FROM information_schema.columns
     WHERE table_schema = 'public' AND table_name = '${table}'`,
  )
  const indexed = await ask(
    `SELECT indexrelid::regclass::text AS index_name, attname AS name
     FROM pg_index, unnest(indkey) WITH ORDINALITY AS k (number, place), pg_attribute
     WHERE indrelid = 'public.${table}'::regclass AND attrelid = indrelid AND attnum = k.number AND indpred IS NULL
     ORDER BY 1, place`,
  )
  const references = await ask(
    `SELECT confrelid::regclass::text AS name FROM pg_constraint WHERE contype = 'f' AND conrelid = 'public.${table}'::regclass`,
  )
  return {
    columns: Object.fromEntries(columns.map(({ name, type }) => [name, String(type)])),
    indexes: grouped(indexed),
    refersTo: references.map(({ name }) => String(name)),
    unordered: columns
      .filter(({ type, coll }) => type === 'text' && coll !== 'C')
      .map(({ name }) => String(name)),
  }
}

function grouped(indexed: readonly RawRow[]): string[][] {
  const indexes = Map.groupBy(indexed, ({ index_name }) => index_name)
  return Array.from(indexes.values(), (columns) => columns.map(({ name }) => String(name)))
}

/** Every row of every table as text that is the same on every engine, sorted. */
export async function rowsAt(address: string): Promise<Record<string, string[]>> {
  const tables = Object.keys(await tablesAt(address))
  return askAt(address, async (ask) => {
    const rows: Record<string, string[]> = {}
    for (const table of tables) rows[table] = (await ask(`SELECT * FROM ${table}`)).map(toText).sort()
    return rows
  })
}

/** The number of rows in a table. */
export function countAt(address: string, table: string): Promise<number> {
  return askAt(address, async (ask) =>
    Number((await ask(`SELECT count(*) AS count FROM ${table}`))[0]?.count),
  )
}

/** Drivers return big integers as text, and digests are bytes in one engine and UUIDs in the other. */
function toText(row: RawRow): string {
  const fields = Object.keys(row)
    .sort()
    .map((name) => {
      const value = row[name]
      if (value instanceof Uint8Array) return [name, Buffer.from(value).toString('hex')]
      return [
        name,
        name === 'subject_key' || name === 'lookup_key' || name === 'digest'
          ? String(value).replaceAll('-', '')
          : value === null
            ? null
            : String(value),
      ]
    })
  return JSON.stringify(fields)
}
