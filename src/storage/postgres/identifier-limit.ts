import type { RefusedRows } from '../../domain/ingest.ts'
import {
  lookupKey,
  maxIdentifiersPerSubject,
  type SubjectIdentifier,
} from '../../domain/subject-identifier.ts'
import { integer, keyText, text } from '../nouns/row.ts'
import { postgresOnly } from '../nouns/statement.ts'
import { broughtIdentifiers, countIdentifiers, withinIdentifierLimit } from '../rules/identifier.ts'
import { rowCount, type SubjectBatch, tooManyIdentifiers } from '../rules/ingest-batch.ts'
import { chosen, type Grouping, ofSubjects } from './shard.ts'
import type { Run } from './transaction.ts'

const countOf = ofSubjects(
  () =>
    'SELECT i.subject_key, count(*) AS count FROM identifiers i WHERE i.subject_key = ANY ($1) GROUP BY i.subject_key',
)
const findLookups = postgresOnly(
  'SELECT lookup_key FROM identifiers WHERE subject_key = $1 AND lookup_key = ANY ($2::uuid[])',
)

/**
 * The subjects of a batch without rows that would give them more identifiers than they may have, and these
 * rows. The subjects must be locked, or others could add identifiers at the same time.
 */
export async function withinIdentifierLimits(
  run: Run,
  batch: readonly SubjectBatch[],
  owners: ReadonlyMap<string, string>,
  grouping: Grouping,
): Promise<{ allowed: SubjectBatch[]; refused: RefusedRows[] }> {
  const counts = await countStored(run, batch, grouping)
  const refused: RefusedRows[] = []
  const allowed: SubjectBatch[] = []
  for (const subject of batch) {
    const count = counts.get(keyText(subject.key)) ?? 0
    const organisationId = owners.get(subject.trackerId) ?? ''
    const lookups = (has: SubjectIdentifier) => keyText(lookupKey(organisationId, has))
    const mayExceed = count + countIdentifiers(subject) > maxIdentifiersPerSubject
    const stored = mayExceed ? await storedOf(run, subject, lookups) : new Set()
    const left = withinIdentifierLimit(subject, {
      count,
      has: (identifier) => stored.has(lookups(identifier)),
    })
    const excess = rowCount(subject) - rowCount(left)
    if (excess > 0) refused.push(tooManyIdentifiers(subject, excess))
    if (rowCount(left) > 0) allowed.push(excess > 0 ? left : subject)
  }
  return { allowed, refused }
}

async function countStored(
  run: Run,
  batch: readonly SubjectBatch[],
  grouping: Grouping,
): Promise<Map<string, number>> {
  const keys = batch.filter((subject) => countIdentifiers(subject) > 0).map(({ key }) => keyText(key))
  if (keys.length === 0) return new Map()
  const found = await Promise.all(grouping.of(keys).map((group) => run(chosen(countOf, grouping), [group])))
  return new Map(
    found.flatMap(({ rows }) =>
      rows.map((row) => [text(row, 'subject_key'), integer(row, 'count')] as const),
    ),
  )
}

async function storedOf(
  run: Run,
  subject: SubjectBatch,
  lookupOf: (identifier: SubjectIdentifier) => string,
): Promise<Set<string>> {
  const { rows } = await run(findLookups, [keyText(subject.key), broughtIdentifiers(subject).map(lookupOf)])
  return new Set(rows.map((row) => text(row, 'lookup_key')))
}
