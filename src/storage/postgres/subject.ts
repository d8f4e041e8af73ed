import type { Instant } from '../../domain/instant.ts'
import { batcher } from '../../domain/maybe-promise.ts'
import type { Page } from '../../domain/page.ts'
import type {
  SubjectPosition,
  SubjectQuery,
  SubjectRecord,
  SubjectStore,
  SubjectSummary,
} from '../../domain/subject.ts'
import type { TrackerView } from '../../domain/tracker.ts'
import { asInteger, integer, type Values } from '../nouns/row.ts'
import { numbered, statement } from '../nouns/statement.ts'
import { subjectPosition, toRecord, toSummary } from '../nouns/subject.ts'
import { isVisible } from '../nouns/tracker.ts'
import { type PageBuilder, readPage } from '../page.ts'
import { subjectRange } from '../subject-range.ts'
import type { Connections } from './connections.ts'
import { subjectErasure } from './erasure.ts'
import { subjectKeyText } from './key-text.ts'
import { asSeen, readOne, recordAsSeen } from './subject-as-seen.ts'

const readSeveral = statement(
  `SELECT ${recordAsSeen('asked.since', 's.subject_key')}, asked.number
   FROM unnest($1::bigint[], $2::uuid[], $3::text[]) WITH ORDINALITY AS asked (since, subject_key, organisation_id, number)
   JOIN subjects s USING (subject_key) JOIN trackers t ON t.id = s.tracker_id
   WHERE s.last_seen_at >= asked.since AND t.organisation_id = asked.organisation_id AND t.deleted_at IS NULL`,
  'never',
)
const count = statement(
  `SELECT count(*) AS count FROM (
     SELECT 1 FROM subjects WHERE tracker_id = $1 AND last_seen_at >= $2
     AND EXISTS (SELECT 1 FROM trackers WHERE id = $1 AND organisation_id = $4 AND deleted_at IS NULL) LIMIT $3) AS counted`,
  'any',
)
/** A subject that somebody asks for. */
interface Sought {
  key: string
  organisationId: string
  since: Instant
}

const mostReadTogether = 64

export function subjectStore(connections: Connections): SubjectStore {
  // On a cluster each subject is on a shard of its own.
  const readTogether = batcher(connections.isDistributed ? 1 : mostReadTogether, readAll)

  async function readAll(sought: readonly Sought[]): Promise<(SubjectRecord | null)[]> {
    const [first] = sought
    if (first && sought.length === 1) {
      const [row] = await connections.readValues(readOne, [first.since, first.key, first.organisationId])
      return [row ? toRecord(toSummary(row), row[5], row[6]) : null]
    }
    const found = sought.map((): SubjectRecord | null => null)
    const rows = await connections.readValues(readSeveral, [
      sought.map(({ since }) => since),
      sought.map(({ key }) => key),
      sought.map(({ organisationId }) => organisationId),
    ])
    for (const row of rows) found[asInteger(row[7], 'number') - 1] = toRecord(toSummary(row), row[5], row[6])
    return found
  }

  async function addChunk(
    page: PageBuilder<SubjectSummary, SubjectPosition>,
    view: TrackerView,
    query: SubjectQuery,
    count: number,
  ): Promise<readonly Values[] | null> {
    const { conditions, values, order } = subjectRange(view, query)
    const text = `SELECT ${asSeen('$1', 's.subject_key')} FROM subjects s WHERE ${numbered(conditions, 4)} AND EXISTS
      (SELECT 1 FROM trackers t WHERE t.id = $2 AND t.organisation_id = $3 AND t.deleted_at IS NULL)
      ORDER BY ${order} LIMIT ${numbered('?', 4 + values.length)}`
    const rows = await connections.readValues(statement(text, 'any'), [
      view.since,
      view.trackerId,
      view.organisationId,
      ...values,
      count,
    ])
    // Only an empty list can be one that is not there.
    if (rows.length === 0 && !(await isVisible(connections, view))) return null
    page.addAll(rows, (row) => {
      const summary = toSummary(row)
      return summary.lastSeenAt < view.since ? null : summary
    })
    return rows
  }

  return {
    async list(view, query): Promise<Page<SubjectSummary, SubjectPosition> | null> {
      return readPage(
        query,
        (page, after, count) => addChunk(page, view, { ...query, after }, count),
        subjectPosition,
      )
    },
    read: ({ trackerId, organisationId, since }, subjectId) =>
      readTogether({ key: subjectKeyText(trackerId, subjectId), organisationId, since }),
    async count(view, atMost) {
      const [row] = await connections.read(count, [view.trackerId, view.since, atMost, view.organisationId])
      const counted = integer(row ?? {}, 'count')
      return counted === 0 && !(await isVisible(connections, view)) ? null : counted
    },
    erase: subjectErasure(connections),
  }
}
