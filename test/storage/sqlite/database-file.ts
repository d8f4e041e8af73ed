import { existsSync, readFileSync, statSync } from 'node:fs'
import { DatabaseSync, type SQLOutputValue } from 'node:sqlite'

/** What one statement answers, on a connection of its own that is closed again. */
export function ask(path: string, sql: string): Record<string, SQLOutputValue>[] {
  const db = new DatabaseSync(path)
  try {
    return db.prepare(sql).all()
  } finally {
    db.close()
  }
}

/** The one value a pragma or a count gives. */
export function value(path: string, sql: string): SQLOutputValue | undefined {
  return Object.values(ask(path, sql)[0] ?? {})[0]
}

/** The bytes of the database, its write-ahead log and its shared memory, as far as they are there. */
export function filesOf(path: string): { name: string; bytes: Buffer }[] {
  return ['', '-wal', '-shm']
    .filter((suffix) => existsSync(path + suffix))
    .map((suffix) => ({ name: `the database file${suffix}`, bytes: readFileSync(path + suffix) }))
}

export function logSize(path: string): number {
  return statSync(`${path}-wal`).size
}
