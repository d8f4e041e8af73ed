import { existsSync, statSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { pathToFileURL } from 'node:url'
import { MissingStore, type StoreStatus } from '../../domain/store.ts'
import { integer, text } from '../nouns/row.ts'
import { snapshot } from './connection.ts'
import { ForeignStore, isEmpty, isOurs, migrations, pragma, version } from './migrate.ts'
import { scrubStateReading } from './scrub.ts'

const lockTimeoutMs = 2_000
const smallTables = ['organisations', 'trackers', 'api_keys', 'members']

/** Reads the status of the embedded store in a file. Opens the file read-only. */
export function readSqliteStatus(path: string): StoreStatus {
  if (!existsSync(path)) throw new MissingStore(path)
  const db = openUntouched(path)
  try {
    return snapshot(db, () => look(db, path))
  } finally {
    db.close()
  }
}

/** Reading a file that nobody has open would leave two more files beside it; `immutable` avoids that. */
function openUntouched(path: string): DatabaseSync {
  const url = pathToFileURL(path)
  if (!existsSync(`${path}-wal`)) url.searchParams.set('immutable', '1')
  return new DatabaseSync(url, { readOnly: true, timeout: lockTimeoutMs })
}

function look(db: DatabaseSync, path: string): StoreStatus {
  if (isEmpty(db)) throw new MissingStore(path)
  if (!isOurs(db)) throw new ForeignStore(`${path} is a database, but not a Lethe store.`)
  const [applied, known] = [version(db), migrations().length]
  /** For a store of another version, whatever exists there. */
  function ifPresent<Found>(read: () => Found): Found | null {
    try {
      return read()
    } catch (error) {
      if (applied === known) throw error
      return null
    }
  }
  const all = (sql: string) => db.prepare(sql).all()
  /** Without what was deleted and is still being removed. */
  const present = (table: string) =>
    db.prepare(`SELECT 1 FROM pragma_table_info(?) WHERE name = 'deleted_at'`).get(table)
      ? `${table} WHERE deleted_at IS NULL`
      : table
  const count = (table: string) =>
    integer(all(`SELECT count(*) AS count FROM ${present(table)}`)[0] ?? {}, 'count')
  const pageSize = pragma(db, 'page_size')
  return {
    engine: `SQLite ${process.versions.sqlite}`,
    migrations: { applied, known },
    organisations: ifPresent(() =>
      all(`SELECT id, name, plan FROM ${present('organisations')} ORDER BY created_at, id`).map((row) => ({
        id: text(row, 'id'),
        name: text(row, 'name'),
        plan: text(row, 'plan'),
      })),
    ),
    bytes: {
      database: pragma(db, 'page_count') * pageSize,
      free: pragma(db, 'freelist_count') * pageSize,
      log: statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0,
    },
    rows: ifPresent(() => Object.fromEntries(smallTables.map((table) => [table, count(table)]))),
    // Counting the others would mean reading them.
    estimatedRows: null,
    sweptAt: ifPresent(() => {
      const [row] = all('SELECT begun_at FROM sweeps')
      return row ? integer(row, 'begun_at') : null
    }),
    scrub: ifPresent(() => scrubStateReading(db)()),
  }
}
