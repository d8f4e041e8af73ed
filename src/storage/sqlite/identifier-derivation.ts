import type { DatabaseSync } from 'node:sqlite'
import type {
  DerivationStore,
  DerivedCounts,
  DerivedIdentifier,
  SourceRow,
} from '../../domain/identifier-derivation.ts'
import { maxPageBytes } from '../../domain/page.ts'
import { lookupKey } from '../../domain/subject-identifier.ts'
import { subjectKey } from '../../domain/subject-key.ts'
import type { TrackerView } from '../../domain/tracker.ts'
import {
  fieldInJson,
  missingOf,
  type StoredIdentifier,
  sourceRowsPerPage,
  toSourceRow,
} from '../derived-identifiers.ts'
import { integer, text } from '../rows/row.ts'
import { transaction } from './connection.ts'
import type { Connections } from './connections.ts'
import { identifierWriting } from './identifier.ts'
import { trackerVisibility } from './tracker.ts'
import { iterateValues } from './values-statement.ts'

const mayHold = (facts: string) =>
  `EXISTS (SELECT 1 FROM json_each(?3) AS field WHERE instr(${facts}, field.value) > 0)`
const list = {
  session: `SELECT session_id, coalesce(attributes_at, 0), iif(attributes_at >= ?2 AND ${mayHold('attributes')}, attributes, NULL)
    FROM sessions WHERE subject_key = ?1 AND session_id > ?4 ORDER BY session_id LIMIT ?5`,
  event: `SELECT event_id, occurred_at, iif(${mayHold('properties')}, properties, NULL) FROM events
    WHERE subject_key = ?1 AND occurred_at >= ?2 AND (occurred_at, event_id) > (?6, ?4)
    ORDER BY occurred_at, event_id LIMIT ?5`,
}

export function derivationStore({
  reader,
  writer,
}: Connections<ReturnType<typeof derivationCommands>>): DerivationStore {
  const find = identifierLookup(reader)
  return {
    async rows({ trackerId, since }, { subjectId, kind, fields, after }) {
      const key = subjectKey(trackerId, subjectId)
      const sought = JSON.stringify(fields.map(fieldInJson))
      const bound = [key, since, sought, after?.id ?? '', sourceRowsPerPage]
      if (kind === 'event') bound.push(after?.at ?? Number.MIN_SAFE_INTEGER)
      const rows: SourceRow[] = []
      let bytes = 0
      for (const values of iterateValues(reader, list[kind], bound)) {
        rows.push(toSourceRow(values))
        bytes += String(values[2]).length
        if (bytes >= maxPageBytes) break
      }
      return rows
    },
    missing: async (tracker, derived) => missingOf(derived, find(tracker)),
    add: (tracker, derived) => writer.run('addDerived', tracker, derived),
  }
}

export function derivationCommands(db: DatabaseSync) {
  const isVisible = trackerVisibility(db)
  const put = identifierWriting(db)
  const find = identifierLookup(db)
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
        const { missing, counts } = missingOf(present, find(tracker))
        for (const identifier of missing) {
          const { subjectId, broughtAt } = identifier
          put(organisationId, { key: keyOf(subjectId), trackerId, subjectId }, [identifier])
          ageWith.run(broughtAt, trackerId, subjectId)
        }
        return counts
      }),
  }
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
