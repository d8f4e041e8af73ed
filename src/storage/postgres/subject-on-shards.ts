import type { Instant } from '../../domain/instant.ts'
import type { SubjectPosition, SubjectQuery, SubjectRecord, SubjectStore } from '../../domain/subject.ts'
import { lookupKey } from '../../domain/subject-identifier.ts'
import type { OrganisationView, SearchQuery } from '../../domain/subject-search.ts'
import type { TrackerView } from '../../domain/tracker.ts'
import { asInteger, asText, integer, keyText, text, type Values } from '../nouns/row.ts'
import { numbered, postgresOnly, statement } from '../nouns/statement.ts'
import { subjectPosition, summaryColumns, toRecord, toSummary } from '../nouns/subject.ts'
import { isVisible, visible } from '../nouns/tracker.ts'
import { readPage, subjectRange } from '../rules/page.ts'
import type { Connections } from './connections.ts'
import { eraseOnShard } from './erase-on-shard.ts'
import { subjectKeyText } from './lock-subjects.ts'
import { shardOf } from './shard.ts'
import { asSeen, recordAsSeen } from './subject.ts'

// On a cluster the rows of a subject are on one shard, and trackers on the coordinator.

// Statements about one table and one subject, which Citus plans once.
const readSubject = postgresOnly(
  `SELECT ${summaryColumns}, oldest_at FROM subjects WHERE subject_key = $1 AND last_seen_at >= $2`,
)
const readAttributes = postgresOnly(
  `SELECT attributes, started_at FROM sessions WHERE subject_key = $1 AND ended_at >= $2
   ORDER BY started_at DESC, session_id DESC LIMIT 1`,
)
const readIdentifiers = postgresOnly(
  `SELECT coalesce(json_agg(json_build_array(name, value))::text, '[]'), min(brought_at) FROM identifiers
   WHERE subject_key = $1 AND brought_at >= $2`,
)
/** The record of the subject with key `$2` as seen since `$1`, in one statement, thus one snapshot. */
export const readOneOnShard = postgresOnly(
  `SELECT ${recordAsSeen('$1::bigint', '$2')} FROM subjects s WHERE s.subject_key = $2 AND s.last_seen_at >= $1`,
)

/** What a page needs of a subject, and what tells its shard and whether some of its data has expired. */
const row = (others: string) =>
  `${summaryColumns.replaceAll(/\w+/g, (column) => `s.${column}`)}, ${others}, s.oldest_at, s.subject_key`
const oldestAt = 7
const key = 8
const seenAgain = postgresOnly(
  `SELECT ${asSeen('$1::bigint', 's.subject_key')}, s.subject_key FROM subjects s WHERE s.subject_key = ANY ($2)`,
  'any',
)
// Each shard counts up to the limit. Without the outer one Citus would not let it.
const count = postgresOnly(
  `SELECT least(count(*), $3::bigint) AS count FROM (
     SELECT 1 FROM subjects WHERE tracker_id = $1 AND last_seen_at >= $2 LIMIT $3) AS counted LIMIT 1`,
  'any',
)
const trackersOf = statement(
  'SELECT id FROM trackers WHERE organisation_id = :organisationId AND deleted_at IS NULL',
)
const byIdentifier = postgresOnly(
  `SELECT ${row('s.tracker_id, i.brought_at')} FROM identifiers i JOIN subjects s ON s.subject_key = i.subject_key
   WHERE s.tracker_id = ANY ($1) AND i.lookup_key = $2 AND i.subject_key > $3 ORDER BY i.subject_key LIMIT $4`,
  'any',
)
const byKeys = postgresOnly(
  `SELECT ${row('s.tracker_id, NULL::bigint AS brought_at')} FROM subjects s
   WHERE s.subject_key = ANY ($1) AND s.tracker_id > $2 ORDER BY s.tracker_id LIMIT $3`,
  'any',
)
const beforeAll = '0'.repeat(32)

export function subjectStoreOnShards(connections: Connections): SubjectStore {
  return {
    list: (view, query) =>
      readPage(
        query,
        async (page, after, count) => {
          const [rows, isThere] = await Promise.all([
            nextOnShards(connections, view, { ...query, after }, count),
            isVisible(connections, view),
          ])
          if (!isThere) return null
          page.addAll(rows, (row) => {
            const summary = toSummary(row)
            return summary.lastSeenAt < view.since ? null : summary
          })
          return rows
        },
        subjectPosition,
      ),
    read: (view, subjectId) => readOnShard(connections, view, subjectId),
    async count(view, atMost) {
      const [[row], isThere] = await Promise.all([
        connections.read(count, [view.trackerId, view.since, atMost]),
        isVisible(connections, view),
      ])
      return isThere ? integer(row ?? {}, 'count') : null
    },
    erase: eraseOnShard(connections),
  }
}

async function readOnShard(
  connections: Connections,
  { trackerId, organisationId, since }: TrackerView,
  subjectId: string,
): Promise<SubjectRecord | null> {
  const subject = [subjectKeyText(trackerId, subjectId), since]
  // The subject's row comes last: while it is there, nothing that was read before has been erased.
  const [seen = [], [identifiers] = [], [newest] = [], [found] = []] = await connections.readInOrder([
    [visible, { trackerId, organisationId }],
    [readIdentifiers, subject],
    [readAttributes, subject],
    [readSubject, subject],
  ])
  if (seen.length === 0 || !found) return null
  const summary = toSummary(found)
  // Unless it was erased and has come back meanwhile: nothing of a subject is older than its first session.
  const isOfSubject = (at: unknown) => at === null || asInteger(at, 'at') >= summary.firstSeenAt
  const isWhole = asInteger(found[5], 'oldest_at') >= since && newest && isOfSubject(newest[1])
  if (isWhole && isOfSubject(identifiers?.[1] ?? null)) return toRecord(summary, newest[0], identifiers?.[0])
  const [row] = await connections.readValues(readOneOnShard, subject.toReversed())
  return row ? toRecord(toSummary(row), row[5], row[6]) : null
}

/** The next rows of a list in its order, merged from all shards. */
async function nextOnShards(
  connections: Connections,
  view: TrackerView,
  query: SubjectQuery,
  wanted: number,
): Promise<Values[]> {
  const rows: Values[] = []
  let after: SubjectPosition | null = query.after
  for (let ofEach = expectedOfEach(wanted, connections.shards.length); ; ofEach *= 4) {
    const { conditions, values, order } = subjectRange(view, { ...query, after })
    const [left, place] = [wanted - rows.length, 1 + values.length]
    const ofShard = `SELECT ${row('NULL AS tracker_id, NULL AS brought_at')} FROM subjects s
      WHERE ${numbered(conditions, 1)} ORDER BY ${order} LIMIT $${place}`
    const text = `SELECT *, worker_hash(subject_key) AS hash FROM (${ofShard}) s ORDER BY ${order} LIMIT $${place + 1}`
    const found = await connections.readValues(postgresOnly(text, 'any'), [...values, ofEach, left])
    const end = endOfKnown(found, connections.shards, ofEach)
    rows.push(...found.slice(0, end ?? found.length))
    const last = rows.at(-1)
    if (rows.length === wanted || end === null || !last) break
    after = subjectPosition.ofRow(last)
  }
  return withoutExpired(connections, view.since, rows)
}

/** How many rows of a page one shard has at most, with rare exceptions: shards are chosen by hash. */
function expectedOfEach(rows: number, shards: number): number {
  const mean = rows / shards
  return Math.min(rows, Math.ceil(mean + 4 * Math.sqrt(mean) + 4))
}

/**
 * How many rows there are up to the first that is the last one that its shard was asked for: the shard may
 * hold the next row. `null` if there is no such row.
 */
function endOfKnown(rows: Values[], shards: readonly number[], ofEach: number): number | null {
  const counts = new Map<number, number>()
  const last = rows.findIndex((row) => {
    const hash = asInteger(row[9], 'hash')
    const shard = shardOf(shards, hash)
    const count = (counts.get(shard) ?? 0) + 1
    counts.set(shard, count)
    return count === ofEach
  })
  return last === -1 ? null : last + 1
}

/** The rows, with what is visible of subjects of which something has expired and is not swept yet. */
async function withoutExpired(connections: Connections, since: Instant, rows: Values[]): Promise<Values[]> {
  const keys = rows.flatMap((row) =>
    asInteger(row[oldestAt], 'oldest_at') < since ? [asText(row[key], 'key')] : [],
  )
  if (keys.length === 0) return rows
  const seen = await connections.readValues(seenAgain, [since, keys])
  const seenOf = new Map(seen.map((row) => [row[5], row.slice(0, 5)]))
  return rows.map((row) => [...(seenOf.get(row[key]) ?? row.slice(0, 5)), ...row.slice(5)])
}

/** The subjects of a search, with the tracker and the instant of the identifier after each summary. */
export async function findOnShards(
  connections: Connections,
  { organisationId, since }: OrganisationView,
  { sought, after }: Pick<SearchQuery, 'sought' | 'after'>,
  count: number,
): Promise<Values[]> {
  const trackers = (await connections.read(trackersOf, { organisationId })).map((row) => text(row, 'id'))
  if (trackers.length === 0) return []
  if ('subjectId' in sought) {
    const keys = trackers.map((trackerId) => subjectKeyText(trackerId, sought.subjectId))
    const found = await connections.readValues(byKeys, [keys, after ?? '', count])
    return withoutExpired(connections, since, found)
  }
  const lookup = keyText(lookupKey(organisationId, sought.identifier))
  const values = [trackers, lookup, after ?? beforeAll, count]
  return withoutExpired(connections, since, await connections.readValues(byIdentifier, values))
}
