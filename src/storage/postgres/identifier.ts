import type { Client, PoolClient } from 'pg'
import { type BroughtIdentifier, lookupKey } from '../../domain/subject-identifier.ts'
import type { TrackerRef } from '../../domain/tracker.ts'
import { keyText } from '../nouns/row.ts'
import { postgresOnly } from '../nouns/statement.ts'
import { broughtAgain } from '../rules/identifier.ts'
import type { Addition } from './claim-subjects.ts'
import { copyRows, type Run } from './transaction.ts'

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

const put = postgresOnly(
  `INSERT INTO identifiers (${columns.join(', ')})
   SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[], $5::text[], $6::text[], $7::bigint[])
   ${broughtAgain}`,
  'any',
)

export const deleteIdentifiers = postgresOnly('DELETE FROM identifiers WHERE subject_key = $1')

const addNames = postgresOnly(
  `INSERT INTO identifier_names (organisation_id, name) SELECT * FROM unnest($1::text[], $2::text[]) ON CONFLICT DO NOTHING`,
)

/** The identifiers of the subject with `key` since an instant, as JSON. */
export const identifiersAsSeen = (since: string, key: string) =>
  `(SELECT coalesce(json_agg(json_build_array(i.name, i.value))::text, '[]') FROM identifiers i
    WHERE i.subject_key = ${key} AND i.brought_at >= ${since})`

/** Stores the identifiers in a batch. The subjects are locked, so nobody else writes to them. */
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

/**
 * Stores the names of identifiers for their organisations. Two transactions with the same new name wait for
 * each other, so this comes last; the names are sorted.
 */
export async function writeIdentifierNames(
  run: Run,
  named: Iterable<{ organisationId: string; name: string }>,
): Promise<void> {
  const texts = new Set<string>()
  for (const { organisationId, name } of named) texts.add(`${organisationId}\0${name}`)
  if (texts.size === 0) return
  const pairs = [...texts].sort().map((text) => text.split('\0'))
  await run(addNames, [
    pairs.map(([organisationId = '']) => organisationId),
    pairs.map(([, name = '']) => name),
  ])
}

/** The number of rows read at a time. */
const rowsPerStep = 1_000

/**
 * Recomputes the lookup keys of identifiers during a migration, in JavaScript, so that the engines need not
 * agree on collation. If two become equal, the later one stays. Only non-ASCII text can be spelled in several
 * ways.
 */
export async function rekeyIdentifiers(client: Client): Promise<void> {
  let after = ['00000000-0000-0000-0000-000000000000', '00000000-0000-0000-0000-000000000000']
  for (;;) {
    const { rows } = await client.query(
      `SELECT i.subject_key, i.lookup_key, i.tracker_id, i.subject_id, i.name, i.value, i.brought_at, t.organisation_id
       FROM identifiers i JOIN trackers t ON t.id = i.tracker_id
       WHERE (i.subject_key, i.lookup_key) > ($1, $2) AND octet_length(i.value) > char_length(i.value)
       ORDER BY i.subject_key, i.lookup_key LIMIT ${rowsPerStep}`,
      after,
    )
    for (const row of rows) {
      const lookup = keyText(lookupKey(row.organisation_id, row))
      if (lookup === row.lookup_key) continue
      const key = [row.subject_key, row.lookup_key]
      await client.query('DELETE FROM identifiers WHERE subject_key = $1 AND lookup_key = $2', key)
      const values = columns.map((name) => (name === 'lookup_key' ? lookup : row[name]))
      const places = columns.map((_, i) => `$${i + 1}`)
      await client.query(
        `INSERT INTO identifiers (${columns.join(', ')}) VALUES (${places.join(', ')}) ${broughtAgain}`,
        values,
      )
    }
    const last = rows.at(-1)
    if (rows.length < rowsPerStep) return
    after = [last.subject_key, last.lookup_key]
  }
}

/** An identifier as a row. */
export function identifierRow(
  { trackerId, organisationId }: TrackerRef,
  { key, subjectId, name, value, broughtAt }: BroughtIdentifier & { key: string; subjectId: string },
): IdentifierRow {
  const lookup = keyText(lookupKey(organisationId, { name, value }))
  return [key, lookup, trackerId, subjectId, name, value, broughtAt]
}

/** Inserts identifiers, or updates them if newer rows contain them. */
export async function putIdentifiers(run: Run, rows: readonly IdentifierRow[]): Promise<void> {
  if (rows.length === 0) return
  await run(
    put,
    columns.map((_, column) => rows.map((row) => row[column] ?? null)),
  )
}
