import type { DatabaseSync } from 'node:sqlite'
import type {
  DerivationStore,
  DerivedCounts,
  DerivedIdentifier,
  SourceKind,
} from '../../domain/identifier-derivation.ts'
import { maxPageBytes } from '../../domain/page.ts'
import { subjectKey } from '../../domain/subject.ts'
import { lookupKey } from '../../domain/subject-identifier.ts'
import type { TrackerView } from '../../domain/tracker.ts'
import { integer, text, type Values } from '../nouns/row.ts'
import {
  fieldInJson,
  missingOf,
  type StoredIdentifier,
  sourcePage,
  sourceRowsPerPage,
} from '../rules/identifier.ts'
import { transaction } from './connection.ts'
import { type Connections, preparedIteration } from './connections.ts'
import { identifierCounting, identifierNameWriting, identifierWriting } from './identifier.ts'
import { trackerVisibility } from './subject.ts'

// The patterns of the fields come after the other parameters.
const listSql = {
  session: (mayHold: string) => `SELECT session_id, coalesce(attributes_at, 0),
      iif(attributes_at >= ?2 AND ${mayHold}, attributes, NULL)
    FROM sessions WHERE subject_key = ?1 AND session_id > ?4 ORDER BY session_id LIMIT ?5`,
  event: (mayHold: string) => `SELECT event_id, occurred_at, iif(${mayHold}, properties, NULL) FROM events
    WHERE subject_key = ?1 AND occurred_at >= ?2 AND (occurred_at, event_id) > (?3, ?4)
    ORDER BY occurred_at, event_id LIMIT ?5`,
}
type Iteration = ReturnType<typeof preparedIteration>

const facts = { session: 'attributes', event: 'properties' }

/** Reads rows that may contain one of the given number of fields. */
function listing(db: DatabaseSync): (kind: SourceKind, fieldCount: number) => Iteration {
  const prepared = new Map<string, Iteration>()
  return (kind, fieldCount) => {
    const fields = Array.from({ length: fieldCount }, (_, i) => `instr(${facts[kind]}, ?${6 + i}) > 0`)
    const sql = listSql[kind](`(${fields.join(' OR ')})`)
    const known = prepared.get(sql) ?? preparedIteration(db, sql)
    prepared.set(sql, known)
    return known
  }
}

export function derivationStore({
  reader,
  writer,
}: Connections<ReturnType<typeof derivationCommands>>): DerivationStore {
  const find = identifierLookup(reader)
  const countOf = identifierCount(reader)
  const list = listing(reader)
  return {
    async rows({ trackerId, since }, { subjectId, kind, fields, after }) {
      const key = subjectKey(trackerId, subjectId)
      const behind = [after?.at ?? Number.MIN_SAFE_INTEGER, after?.id ?? '']
      const bound = [key, since, ...behind, sourceRowsPerPage, ...fields.map(fieldInJson)]
      const rows: Values[] = []
      let length = 0
      for (const row of list(kind, fields.length)(bound)) {
        rows.push(row)
        length += String(row[2]).length
        if (length >= maxPageBytes) break
      }
      return sourcePage(rows)
    },
    missing: async (tracker, derived) => missingOf(derived, find(tracker), countOf(tracker)),
    add: (tracker, derived) => writer.run('addDerived', tracker, derived),
  }
}

export function derivationCommands(db: DatabaseSync) {
  const isVisible = trackerVisibility(db)
  const put = identifierWriting(db)
  const putNames = identifierNameWriting(db)
  const find = identifierLookup(db)
  const countOf = identifierCount(db)
  const sources = {
    session: db.prepare(
      'SELECT 1 FROM sessions WHERE subject_key = ? AND attributes_at = ? AND session_id = ?',
    ),
    event: db.prepare('SELECT 1 FROM events WHERE subject_key = ? AND occurred_at = ? AND event_id = ?'),
  }
  const ageWith = db.prepare(
    'UPDATE subjects SET oldest_at = ?1 WHERE tracker_id = ?2 AND subject_id = ?3 AND oldest_at > ?1',
  )
  return {
    addDerived: (tracker: TrackerView, derived: readonly DerivedIdentifier[]): DerivedCounts =>
      transaction(db, () => {
        if (!isVisible(tracker)) return { added: 0, renewed: 0 }
        const { trackerId, organisationId } = tracker
        const keyOf = (subjectId: string) => Buffer.from(subjectKey(trackerId, subjectId))
        const present = derived.filter(
          ({ subjectId, kind, broughtAt, sourceId }) =>
            sources[kind].get(keyOf(subjectId), broughtAt, sourceId) !== undefined,
        )
        const { missing, counts } = missingOf(present, find(tracker), countOf(tracker))
        for (const identifier of missing) {
          const { subjectId, broughtAt } = identifier
          put(organisationId, { key: keyOf(subjectId), trackerId, subjectId }, [identifier])
          ageWith.run(broughtAt, trackerId, subjectId)
        }
        putNames(organisationId, new Set(missing.map(({ name }) => name)))
        return counts
      }),
  }
}

function identifierCount(db: DatabaseSync) {
  const identifiersOf = identifierCounting(db)
  return ({ trackerId, organisationId }: TrackerView) =>
    ({ subjectId }: DerivedIdentifier): number =>
      identifiersOf(organisationId, subjectKey(trackerId, subjectId)).count
}

function identifierLookup(db: DatabaseSync) {
  const find = db.prepare(
    'SELECT value, brought_at FROM identifiers WHERE subject_key = ? AND lookup_key = ?',
  )
  return ({ trackerId, organisationId }: TrackerView) =>
    (derived: DerivedIdentifier): StoredIdentifier | null => {
      const row = find.get(subjectKey(trackerId, derived.subjectId), lookupKey(organisationId, derived))
      return row ? { value: text(row, 'value'), broughtAt: integer(row, 'brought_at') } : null
    }
}
