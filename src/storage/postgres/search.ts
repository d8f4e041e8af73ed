import { lookupKey } from '../../domain/subject-identifier.ts'
import type { FoundSubject, OrganisationView, SearchQuery, SearchStore } from '../../domain/subject-search.ts'
import { keyText, type Values } from '../nouns/row.ts'
import { postgresOnly } from '../nouns/statement.ts'
import { identifierNameStore, toSummary } from '../nouns/subject.ts'
import { foundPosition, idsAt, isStillBrought, readPage } from '../rules/page.ts'
import type { Connections } from './connections.ts'
import { asSeen } from './subject.ts'
import { findOnShards } from './subject-on-shards.ts'

const idsOf = idsAt(5)
const ofOrganisation = 't.organisation_id = $2 AND t.deleted_at IS NULL'

const byIdentifier = postgresOnly(
  `SELECT ${asSeen('$1', 's.subject_key')}, s.tracker_id, i.brought_at
   FROM identifiers i JOIN subjects s ON s.subject_key = i.subject_key JOIN trackers t ON t.id = s.tracker_id
   WHERE ${ofOrganisation} AND i.lookup_key = $3 AND i.subject_key > $4 ORDER BY i.subject_key LIMIT $5`,
  'never',
)
const byId = postgresOnly(
  `SELECT ${asSeen('$1', 's.subject_key')}, s.tracker_id
   FROM trackers t JOIN subjects s ON s.tracker_id = t.id
   WHERE ${ofOrganisation} AND s.subject_id = $3 AND t.id > $4 ORDER BY t.id LIMIT $5`,
  'never',
)
const beforeAll = '0'.repeat(32)

export function searchStore(connections: Connections): SearchStore {
  function find(
    view: OrganisationView,
    { sought, after }: Pick<SearchQuery, 'sought' | 'after'>,
    count: number,
  ): Promise<Values[]> {
    const { organisationId, since } = view
    if (connections.isDistributed) return findOnShards(connections, view, { sought, after }, count)
    if ('subjectId' in sought) {
      return connections.readValues(byId, [since, organisationId, sought.subjectId, after ?? '', count])
    }
    const lookup = keyText(lookupKey(organisationId, sought.identifier))
    const values = [since, organisationId, lookup, after ?? beforeAll, count]
    return connections.readValues(byIdentifier, values)
  }

  async function subjects(view: OrganisationView, query: SearchQuery) {
    const page = await readPage<FoundSubject, string>(
      query,
      async (page, after, count) => {
        const rows = await find(view, { ...query, after }, count)
        page.addAll(rows, (row) => {
          const summary = toSummary(row)
          const isSeen = summary.lastSeenAt >= view.since && isStillBrought(row[6], view.since)
          return isSeen ? { trackerId: idsOf(row).trackerId, ...summary } : null
        })
        return rows
      },
      foundPosition(query.sought, idsOf),
    )
    return page ?? { rows: [], next: null }
  }

  return { subjects, ...identifierNameStore(connections) }
}
