import type { PoolClient } from 'pg'
import { type BroughtIdentifier, lookupKey } from '../../domain/subject-identifier.ts'
import type { TrackerRef } from '../../domain/tracker.ts'
import { broughtAgain } from '../brought-identifiers.ts'
import type { Addition } from './claim-subjects.ts'
import { copyRows } from './copy-rows.ts'
import { keyText } from './key-text.ts'
import { statement } from './statement.ts'
import type { Run } from './transact.ts'

const columns = ['subject_key', 'lookup_key', 'tracker_id', 'subject_id', 'name', 'value', 'brought_at']

export type IdentifierRow = readonly [
  key: string,
  lookup: string,
  trackerId: string,
  subjectId: string,
  name: string,
  value: string,
  broughtAt: number,
]

const put = statement(
  `INSERT INTO identifiers (${columns.join(', ')})
   SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[], $5::text[], $6::text[], $7::bigint[])
   ${broughtAgain}`,
  'any',
)

export const deleteIdentifiers = statement('DELETE FROM identifiers WHERE subject_key = $1')

/** What the subject with `key` is known by since an instant, as JSON. */
export const identifiersAsSeen = (since: string, key: string) =>
  `(SELECT coalesce(json_agg(json_build_array(i.name, i.value))::text, '[]') FROM identifiers i
    WHERE i.subject_key = ${key} AND i.brought_at >= ${since})`

/** Keeps what the rows of a batch say their subjects are known by. These are claimed: nobody else writes to them meanwhile. */
export async function writeIdentifiers(
  client: PoolClient,
  run: Run,
  additions: readonly Addition[],
  owners: ReadonlyMap<string, string>,
): Promise<void> {
  const isNew = ({ stored }: Addition) => stored === null
  const rowsOf = ({ key, subject: { trackerId, subjectId }, identifiers }: Addition) => {
    const tracker = { trackerId, organisationId: owners.get(trackerId) ?? '' }
    return identifiers.map((identifier) => identifierRow(tracker, { key, subjectId, ...identifier }))
  }
  await copyRows(client, 'identifiers', columns, additions.filter(isNew).flatMap(rowsOf))
  const known = additions.filter((addition) => !isNew(addition)).flatMap(rowsOf)
  await putIdentifiers(run, known)
}

/** An identifier as a row, with its subject's key and what it is found by in front. */
export function identifierRow(
  { trackerId, organisationId }: TrackerRef,
  { key, subjectId, name, value, broughtAt }: BroughtIdentifier & { key: string; subjectId: string },
): IdentifierRow {
  const lookup = keyText(lookupKey(organisationId, { name, value }))
  return [key, lookup, trackerId, subjectId, name, value, broughtAt]
}

/** Adds identifiers, or notes that newer rows brought them. */
export async function putIdentifiers(run: Run, rows: readonly IdentifierRow[]): Promise<void> {
  if (rows.length === 0) return
  await run(
    put,
    columns.map((_, column) => rows.map((row) => row[column] ?? null)),
  )
}
