import type { DatabaseSync } from 'node:sqlite'
import { lookupKey } from '../../domain/subject-identifier.ts'
import { migrationSteps } from '../rules/schema.ts'
import { transaction } from './connection.ts'

/** "Leth": marks a file as a Lethe store. */
const applicationId = 0x4c657468

/** All migrations in order; the first has number 1. `user_version` is the number of the last one applied. */
export function migrations(): readonly string[] {
  return migrationSteps('src/storage/sqlite/migrations')
}

/** A database that this program must not touch. */
export class ForeignStore extends Error {
  override name = 'ForeignStore'
}

/**
 * Upgrades a store to the newest version in one transaction; does nothing if it is current. Throws
 * `ForeignStore`, with nothing changed, for a store of a newer program and for another program's database.
 */
export function migrate(db: DatabaseSync, path: string, steps: readonly string[] = migrations()): void {
  if (version(db) === steps.length && isOurs(db)) return
  transaction(db, () => {
    refuseForeign(db, path, steps)
    db.function('compared_key', { deterministic: true }, (organisationId, name, value) =>
      lookupKey(String(organisationId), { name: String(name), value: String(value) }),
    )
    for (const step of steps.slice(version(db))) db.exec(step)
    db.exec(`PRAGMA application_id = ${applicationId}`)
    db.exec(`PRAGMA user_version = ${steps.length}`)
  })
}

/** Throws `ForeignStore` for a database that this program must not touch. Read-only. */
export function refuseForeign(db: DatabaseSync, path: string, steps: readonly string[] = migrations()): void {
  // The header suffices for a store; anything else reads the schema.
  if (!isOurs(db)) {
    if (isEmpty(db)) return
    throw new ForeignStore(`${path} is a database, but not a Lethe store. Name another file in LETHE_STORE.`)
  }
  if (version(db) > steps.length) {
    throw new ForeignStore(
      `${path} was written by a newer Lethe (store version ${version(db)}; this one knows up to ${steps.length}). Upgrade Lethe to open it.`,
    )
  }
}

/** Whether a database is a Lethe store, of any version. */
export function isOurs(db: DatabaseSync): boolean {
  return pragma(db, 'application_id') === applicationId
}

/** The number of the last migration applied. */
export function version(db: DatabaseSync): number {
  return pragma(db, 'user_version')
}

export function pragma(db: DatabaseSync, name: string): number {
  return Number(Object.values(db.prepare(`PRAGMA ${name}`).get() ?? {})[0])
}

/** Whether a database is completely empty. */
export function isEmpty(db: DatabaseSync): boolean {
  return db.prepare('SELECT 1 FROM sqlite_schema LIMIT 1').get() === undefined
}
