import type { Instant } from '../../domain/instant.ts'
import { batcher } from '../../domain/maybe-promise.ts'
import { maxPageBytes, type Page } from '../../domain/page.ts'
import type {
  SubjectPosition,
  SubjectQuery,
  SubjectRecord,
  SubjectStore,
  SubjectSummary,
} from '../../domain/subject.ts'
import type { TrackerRef, TrackerView } from '../../domain/tracker.ts'
import { asInteger, integer, type Values } from '../nouns/row.ts'
import { numbered, postgresOnly, type Statement, type Value } from '../nouns/statement.ts'
import { subjectPosition, toRecord, toSummary } from '../nouns/subject.ts'
import { isVisible } from '../nouns/tracker.ts'
import { type PageBuilder, readPage, subjectRange } from '../rules/page.ts'
import type { Connections } from './connections.ts'
import { subjectErasure } from './erasure.ts'
import { identifiersAsSeen } from './identifier.ts'
import { subjectKeyText } from './lock-subjects.ts'

/**
 * The visible part of a subject `s` since an instant, in the order of `summaryColumns`. Reads sessions and
 * events only if something has expired and is not swept yet. `key` is the subject's key: for a single subject
 * the parameter, from which a cluster derives the shard.
 */
export const asSeen = (since: string, key: string) => `s.subject_id,
  CASE WHEN s.oldest_at >= ${since} OR s.last_seen_at < ${since} THEN s.first_seen_at
    ELSE (SELECT min(x.started_at) FROM sessions x WHERE x.subject_key = ${key} AND x.ended_at >= ${since})
  END AS first_seen_at,
  s.last_seen_at,
  CASE WHEN s.oldest_at >= ${since} OR s.last_seen_at < ${since} THEN s.session_count
    ELSE s.session_count - (SELECT count(*) FROM sessions x
                            WHERE x.subject_key = ${key} AND x.started_at < ${since} AND x.ended_at < ${since})
  END AS session_count,
  CASE WHEN s.oldest_at >= ${since} OR s.last_seen_at < ${since} THEN s.event_count
    ELSE s.event_count - (SELECT count(*) FROM events e WHERE e.subject_key = ${key} AND e.occurred_at < ${since})
  END AS event_count`

const attributesAsSeen = (since: string, key: string) =>
  `(SELECT x.attributes FROM sessions x WHERE x.subject_key = ${key} AND x.ended_at >= ${since}
    ORDER BY x.started_at DESC, x.session_id DESC LIMIT 1)`

/** Like `asSeen`, followed by attributes and identifiers. */
export const recordAsSeen = (since: string, key: string) =>
  `${asSeen(since, key)}, ${attributesAsSeen(since, key)}, ${identifiersAsSeen(since, key)}`

export const readOne = postgresOnly(
  `SELECT ${recordAsSeen('$1', '$2')} FROM subjects s JOIN trackers t ON t.id = s.tracker_id
   WHERE s.subject_key = $2 AND s.last_seen_at >= $1 AND t.organisation_id = $3 AND t.deleted_at IS NULL`,
  'never',
)

/** A statement about rows joined to a subject: alone, or on the subject's shard, where no trackers are. */
interface JoinedToSubject {
  withTracker: Statement
  onShard: Statement
}

/**
 * A statement that joins rows to one row if the subject with key `$1` holds data since `$3` and its tracker
 * is visible to organisation `$2`. Joined rows are read in the same snapshot.
 */
export function joinedToSubject(toText: (subject: string) => string): JoinedToSubject {
  const withTracker = toText(
    `(SELECT subjects.interleaved FROM subjects JOIN trackers ON trackers.id = tracker_id
  WHERE subject_key = $1 AND organisation_id = $2 AND last_seen_at >= $3
    AND deleted_at IS NULL) AS present`,
  )
  const onShard = toText(
    `(SELECT interleaved FROM subjects
  WHERE subject_key = $1 AND last_seen_at >= $3 AND $2::text IS NOT NULL) AS present`,
  )
  return { withTracker: postgresOnly(withTracker, 'never'), onShard: postgresOnly(onShard) }
}

/**
 * Reads the rows joined to a subject, recognised by their first column, which is never null; `null` if the
 * subject is not visible.
 */
export async function readJoined(
  connections: Connections,
  { withTracker, onShard }: JoinedToSubject,
  tracker: TrackerRef,
  values: readonly Value[],
): Promise<Values[] | null> {
  const [joined, isThere] = await (connections.isDistributed
    ? Promise.all([connections.readValues(onShard, values), isVisible(connections, tracker)])
    : Promise.all([connections.readValues(withTracker, values), true]))
  return joined.length === 0 || !isThere ? null : joined.filter(([first]) => first !== null)
}

/**
 * The bytes of a text in all rows up to the second before this one, as the column `held`. The rows of a page
 * arrive together, so those that would not fit are left out here; the length of a text is known without
 * reading it.
 */
export function heldBefore(text: string, order: string): string {
  const before = `(ORDER BY ${order} ROWS BETWEEN UNBOUNDED PRECEDING AND 2 PRECEDING)`
  return `coalesce(sum(octet_length(${text})) OVER ${before}, 0) AS held`
}

/** The rows that fit into a page, at least one, and one more that shows whether more follow. */
export const withinPage = `held <= ${maxPageBytes}`

/** Later than every instant: the start of a list, newest first. */
export const behindAll = Number.MAX_SAFE_INTEGER

const readSeveral = postgresOnly(
  `SELECT ${recordAsSeen('asked.since', 's.subject_key')}, asked.number
   FROM unnest($1::bigint[], $2::uuid[], $3::text[]) WITH ORDINALITY AS asked (since, subject_key, organisation_id, number)
   JOIN subjects s USING (subject_key) JOIN trackers t ON t.id = s.tracker_id
   WHERE s.last_seen_at >= asked.since AND t.organisation_id = asked.organisation_id AND t.deleted_at IS NULL`,
  'never',
)
const count = postgresOnly(
  `SELECT count(*) AS count FROM (
     SELECT 1 FROM subjects WHERE tracker_id = $1 AND last_seen_at >= $2
     AND EXISTS (SELECT 1 FROM trackers WHERE id = $1 AND organisation_id = $4 AND deleted_at IS NULL) LIMIT $3) AS counted`,
  'never',
)
/** A subject that a request reads. */
interface Sought {
  key: string
  organisationId: string
  since: Instant
}

const maxBatch = 64

export function subjectStore(connections: Connections): SubjectStore {
  const readBatch = batcher(maxBatch, readAll)

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
    const rows = await connections.readValues(postgresOnly(text, 'never'), [
      view.since,
      view.trackerId,
      view.organisationId,
      ...values,
      count,
    ])
    // Only an empty list may belong to a tracker that is not visible.
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
      readBatch({ key: subjectKeyText(trackerId, subjectId), organisationId, since }),
    async count(view, atMost) {
      const [row] = await connections.read(count, [view.trackerId, view.since, atMost, view.organisationId])
      const counted = integer(row ?? {}, 'count')
      return counted === 0 && !(await isVisible(connections, view)) ? null : counted
    },
    erase: subjectErasure(connections),
  }
}
