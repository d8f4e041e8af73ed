import { andThen } from '../../domain/maybe-promise.ts'
import { lookupKey } from '../../domain/subject-identifier.ts'
import type { FoundSubject, OrganisationView, SearchQuery, SearchStore } from '../../domain/subject-search.ts'
import type { Values } from '../nouns/row.ts'
import { summaryColumns } from '../nouns/subject.ts'
import { foundPosition, idsAt, isStillBrought, readPage } from '../rules/page.ts'
import { snapshot } from './connection.ts'
import { type Connections, prepareValues } from './connections.ts'
import { ageing } from './subject.ts'

const columns = [...summaryColumns.split(', '), 'oldest_at', 'tracker_id']
  .map((name) => `s.${name}`)
  .join(', ')
const idsOf = idsAt(6)

export function searchStore({ reader }: Connections): Pick<SearchStore, 'subjects'> {
  const withoutAged = ageing(reader)
  const ofOrganisation = 't.organisation_id = ? AND t.deleted_at IS NULL'
  const byIdentifier = prepareValues(
    reader,
    `SELECT ${columns}, i.brought_at FROM identifiers i INDEXED BY identifiers_by_lookup
     CROSS JOIN subjects s ON s.tracker_id = i.tracker_id AND s.subject_id = i.subject_id
     CROSS JOIN trackers t ON t.id = i.tracker_id
     WHERE i.lookup_key = ? AND i.subject_key > ? AND ${ofOrganisation} ORDER BY i.lookup_key, i.subject_key LIMIT ?`,
  )
  const byId = prepareValues(
    reader,
    `SELECT ${columns} FROM (SELECT id FROM trackers t WHERE ${ofOrganisation} AND id > ? ORDER BY id) t
     CROSS JOIN subjects s ON s.tracker_id = t.id AND s.subject_id = ? LIMIT ?`,
  )

  function find({ organisationId }: OrganisationView, query: SearchQuery, count: number): readonly Values[] {
    const { sought, after } = query
    if ('subjectId' in sought) return byId.all(organisationId, after ?? '', sought.subjectId, count)
    const behind = Buffer.from(after ?? '', 'hex')
    return byIdentifier.all(lookupKey(organisationId, sought.identifier), behind, organisationId, count)
  }

  function subjects(view: OrganisationView, query: SearchQuery) {
    const toFound = (row: Values): FoundSubject | null => {
      const { trackerId } = idsOf(row)
      const summary = withoutAged({ trackerId, since: view.since })(row)
      return summary && isStillBrought(row[7], view.since) ? { trackerId, ...summary } : null
    }
    const page = readPage<FoundSubject, string>(
      query,
      (page, after, count) =>
        snapshot(reader, () => {
          const rows = find(view, { ...query, after }, count)
          page.addAll(rows, toFound)
          return rows
        }),
      foundPosition(query.sought, idsOf),
    )
    return andThen(page, (found) => found ?? { rows: [], next: null })
  }

  return { subjects }
}
