import type { DatabaseSync } from 'node:sqlite'
import type { Instant } from '../../domain/instant.ts'
import {
  type BroughtIdentifier,
  lookupKey,
  maxIdentifiersPerSubject,
} from '../../domain/subject-identifier.ts'
import { integer } from '../nouns/row.ts'
import { broughtAgain, type KnownIdentifiers } from '../rules/identifier.ts'
import type { SubjectBatch } from '../rules/ingest-batch.ts'

/** The identifiers of the subject with `key` since an instant, as JSON. */
export const identifiersAsSeen = (since: string, key: string) =>
  `(SELECT json_group_array(json_array(name, value)) FROM identifiers
    WHERE identifiers.subject_key = ${key} AND brought_at >= ${since})`

type OfSubject = Pick<SubjectBatch, 'key' | 'trackerId' | 'subjectId'>

/** Stores a subject's identifiers within a transaction. */
export function identifierWriting(
  db: DatabaseSync,
): (organisationId: string, subject: OfSubject, identifiers: readonly BroughtIdentifier[]) => void {
  const put = db.prepare(
    `INSERT INTO identifiers (subject_key, lookup_key, tracker_id, subject_id, name, value, brought_at)
     VALUES (?, ?, ?, ?, ?, ?, ?) ${broughtAgain}`,
  )
  return (organisationId, { key, trackerId, subjectId }, identifiers) => {
    for (const identifier of identifiers) {
      const { name, value, broughtAt } = identifier
      put.run(key, lookupKey(organisationId, identifier), trackerId, subjectId, name, value, broughtAt)
    }
  }
}

/** What a subject has of the identifiers in a batch. */
export function identifierCounting(
  db: DatabaseSync,
): (organisationId: string, key: Uint8Array) => KnownIdentifiers {
  const count = db.prepare(
    `SELECT count(*) AS count FROM (SELECT 1 FROM identifiers WHERE subject_key = ? LIMIT ${maxIdentifiersPerSubject})`,
  )
  const find = db.prepare('SELECT 1 FROM identifiers WHERE subject_key = ? AND lookup_key = ?')
  return (organisationId, key) => ({
    count: integer(count.get(key) ?? {}, 'count'),
    has: (identifier) => find.get(key, lookupKey(organisationId, identifier)) !== undefined,
  })
}

/** Stores the names of identifiers for their organisation within a transaction. */
export function identifierNameWriting(
  db: DatabaseSync,
): (organisationId: string, names: Iterable<string>) => void {
  const put = db.prepare(
    'INSERT INTO identifier_names (organisation_id, name) VALUES (?, ?) ON CONFLICT DO NOTHING',
  )
  return (organisationId, names) => {
    for (const name of names) put.run(organisationId, name)
  }
}

/** Deletes identifiers of a subject within a transaction. */
export function identifierDeletion(db: DatabaseSync) {
  const first = db.prepare('SELECT min(brought_at) AS brought_at FROM identifiers WHERE subject_key = ?')
  const all = db.prepare('DELETE FROM identifiers WHERE subject_key = ?')
  const aged = db.prepare('DELETE FROM identifiers WHERE subject_key = ? AND brought_at < ?')
  return {
    deleteAll: (key: Uint8Array) => all.run(key),
    /** Tells whether there were any. */
    deleteAged: (key: Uint8Array, since: Instant): boolean => aged.run(key, since).changes > 0,
    /** When the first identifier expires; infinity if there is none. */
    first: (key: Uint8Array): Instant => Number(first.get(key)?.brought_at ?? Number.POSITIVE_INFINITY),
  }
}
