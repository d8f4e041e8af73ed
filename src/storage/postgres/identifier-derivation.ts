import type { DerivationStore, DerivedIdentifier, SourceKind } from '../../domain/identifier-derivation.ts'
import type { TrackerRef } from '../../domain/tracker.ts'
import { integer, type Row, text } from '../nouns/row.ts'
import { postgresOnly, type Value } from '../nouns/statement.ts'
import { visible } from '../nouns/tracker.ts'
import {
  fieldInJson,
  missingOf,
  type StoredIdentifier,
  sourcePage,
  sourceRowsPerPage,
} from '../rules/identifier.ts'
import type { Connections } from './connections.ts'
import { commitInTwoPhases } from './distribute.ts'
import { type IdentifierRow, identifierRow, putIdentifiers, writeIdentifierNames } from './identifier.ts'
import { lockSubjects, subjectKeyText, updateSubjects } from './lock-subjects.ts'
import { groupingOf } from './shard.ts'
import { heldBefore, withinPage } from './subject.ts'
import type { Run } from './transaction.ts'

const mayHold = (facts: string) =>
  `EXISTS (SELECT 1 FROM unnest($3::text[]) AS field WHERE strpos(${facts}, field) > 0)`
const rowsWithin = (rows: string, order: string) =>
  postgresOnly(
    `SELECT id, at, facts FROM (SELECT *, ${heldBefore('facts', order)} FROM (${rows}) AS looked_at) AS held
     WHERE ${withinPage} ORDER BY ${order}`,
  )
const list = {
  session: rowsWithin(
    `SELECT session_id AS id, coalesce(attributes_at, 0) AS at,
       CASE WHEN attributes_at >= $2 AND ${mayHold('attributes')} THEN attributes END AS facts
     FROM sessions WHERE subject_key = $1 AND session_id > $4
     ORDER BY session_id LIMIT $5`,
    'id',
  ),
  event: rowsWithin(
    `SELECT event_id AS id, occurred_at AS at, CASE WHEN ${mayHold('properties')} THEN properties END AS facts
     FROM events WHERE subject_key = $1 AND occurred_at >= $2 AND (occurred_at, event_id) > ($6, $4)
     ORDER BY occurred_at, event_id LIMIT $5`,
    'at, id',
  ),
}

const findSessions = postgresOnly(
  `SELECT s.subject_key, s.attributes_at, s.session_id
   FROM unnest($1::uuid[], $2::bigint[], $3::text[]) AS given (subject_key, attributes_at, session_id)
   JOIN sessions s USING (subject_key, session_id, attributes_at)`,
  'any',
)
const findEvents = postgresOnly(
  `SELECT e.subject_key, e.occurred_at, e.event_id
   FROM unnest($1::uuid[], $2::bigint[], $3::text[]) AS given (subject_key, occurred_at, event_id)
   JOIN events e USING (subject_key, occurred_at, event_id)`,
  'any',
)
const findIdentifiers = postgresOnly(
  `SELECT i.subject_key, i.lookup_key, i.value, i.brought_at
   FROM unnest($1::uuid[], $2::uuid[]) AS given (subject_key, lookup_key)
   JOIN identifiers i USING (subject_key, lookup_key)`,
  'any',
)
const countIdentifiers = postgresOnly(
  'SELECT subject_key, count(*) AS count FROM identifiers WHERE subject_key = ANY ($1) GROUP BY subject_key',
  'any',
)
const sources = { session: findSessions, event: findEvents }

/** An identifier with the row to insert. */
type DerivedRow = DerivedIdentifier & { row: IdentifierRow }

export function derivationStore(connections: Connections): DerivationStore {
  return {
    async rows({ trackerId, since }, { subjectId, kind, fields, after }) {
      const key = subjectKeyText(trackerId, subjectId)
      const values: Value[] = [key, since, fields.map(fieldInJson), after?.id ?? '', sourceRowsPerPage]
      if (kind === 'event') values.push(after?.at ?? Number.MIN_SAFE_INTEGER)
      return sourcePage(await connections.readValues(list[kind], values))
    },
    async missing(tracker, derived) {
      const rows = derived.map((identifier) => toRow(tracker, identifier))
      const read = (...asked: Parameters<Connections['read']>) => connections.read(...asked)
      const { missing, counts } = missingOf(rows, await findStored(read, rows), await countStored(read, rows))
      return { missing: missing.map(({ row, ...identifier }) => identifier), counts }
    },
    add: (tracker, derived) =>
      connections.transaction(async (run) => {
        const { trackerId, organisationId } = tracker
        const nothing = { added: 0, renewed: 0 }
        if ((await run(visible, { trackerId, organisationId })).count === 0) return nothing
        if (connections.isDistributed) commitInTwoPhases(run)
        const read = async (...asked: Parameters<Run>) => (await run(...asked)).rows
        const rows = derived.map((identifier) => toRow(tracker, identifier))
        const keys = [...new Set(rows.map(({ row: [key] }) => key))]
        // From here on nobody erases or sweeps them before the transaction ends, but somebody may have done
        // so before.
        const grouping = await groupingOf(run, keys, connections.shards)
        const subjects = await lockSubjects(run, keys, grouping)
        const present = await withSource(read, rows)
        const { missing, counts } = missingOf(
          present,
          await findStored(read, present),
          await countStored(read, present),
        )
        await putIdentifiers(
          run,
          missing.map(({ row }) => row),
        )
        const grown = [...subjects.values()].flatMap((subject) => {
          const own = missing.filter(({ row: [key] }) => key === subject.key)
          const oldestAt = Math.min(subject.oldestAt, ...own.map(({ broughtAt }) => broughtAt))
          return oldestAt < subject.oldestAt ? [{ ...subject, oldestAt }] : []
        })
        await updateSubjects(run, grown, grouping)
        await writeIdentifierNames(
          run,
          missing.map(({ name }) => ({ organisationId, name })),
        )
        return counts
      }),
  }
}

type Read = (statement: Parameters<Run>[0], values: readonly Value[]) => Promise<Row[]>

function toRow(tracker: TrackerRef, derived: DerivedIdentifier): DerivedRow {
  const key = subjectKeyText(tracker.trackerId, derived.subjectId)
  return { ...derived, row: identifierRow(tracker, { ...derived, key }) }
}

/** Those whose source row still exists. */
async function withSource(read: Read, derived: readonly DerivedRow[]): Promise<DerivedRow[]> {
  const found = new Set<string>()
  for (const kind of ['session', 'event'] as const satisfies SourceKind[]) {
    const own = derived.filter((identifier) => identifier.kind === kind)
    if (own.length === 0) continue
    const rows = await read(sources[kind], [
      own.map(({ row: [key] }) => key),
      own.map(({ broughtAt }) => broughtAt),
      own.map(({ sourceId }) => sourceId),
    ])
    for (const row of rows) found.add([kind, ...Object.values(row)].join(' '))
  }
  return derived.filter(({ kind, row: [key], broughtAt, sourceId }) =>
    found.has([kind, key, broughtAt, sourceId].join(' ')),
  )
}

async function findStored(
  read: Read,
  derived: readonly DerivedRow[],
): Promise<(identifier: DerivedRow) => StoredIdentifier | null> {
  const rows = await read(findIdentifiers, [
    derived.map(({ row: [key] }) => key),
    derived.map(({ row: [, lookup] }) => lookup),
  ])
  const stored = new Map(
    rows.map((row) => [
      `${text(row, 'subject_key')} ${text(row, 'lookup_key')}`,
      { value: text(row, 'value'), broughtAt: integer(row, 'brought_at') },
    ]),
  )
  return ({ row: [key, lookup] }) => stored.get(`${key} ${lookup}`) ?? null
}

async function countStored(
  read: Read,
  derived: readonly DerivedRow[],
): Promise<(identifier: DerivedRow) => number> {
  const rows = await read(countIdentifiers, [[...new Set(derived.map(({ row: [key] }) => key))]])
  const counts = new Map(rows.map((row) => [text(row, 'subject_key'), integer(row, 'count')]))
  return ({ row: [key] }) => counts.get(key) ?? 0
}
