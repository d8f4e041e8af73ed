import type { DatabaseSync } from 'node:sqlite'
import type { Instant } from '../../domain/instant.ts'
import { NotWaiting } from '../../domain/privacy-request.ts'
import {
  type SubjectPosition,
  type SubjectQuery,
  type SubjectStore,
  type SubjectSummary,
  subjectKey,
} from '../../domain/subject.ts'
import type { TrackerRef, TrackerView } from '../../domain/tracker.ts'
import { asInteger, integer, type Values } from '../nouns/row.ts'
import { subjectPosition, summaryColumns, toRecord, toSummary } from '../nouns/subject.ts'
import { type PageBuilder, readPage, subjectRange } from '../rules/page.ts'
import { snapshot } from './connection.ts'
import { type Connections, prepareValues, type ValuesStatement } from './connections.ts'
import type { erasureCommands } from './erasure.ts'
import { identifiersAsSeen } from './identifier.ts'

const columns = `${summaryColumns}, oldest_at`

export function subjectStore({
  reader,
  writer,
}: Connections<ReturnType<typeof erasureCommands>>): SubjectStore {
  const isVisible = trackerVisibility(reader)
  const count = reader.prepare(
    `SELECT count(*) AS count FROM
       (SELECT 1 FROM subjects WHERE tracker_id = ? AND last_seen_at >= ? LIMIT ?)`,
  )
  const lists = new Map<string, ValuesStatement>()
  const withoutAged = ageing(reader)

  function addChunk(
    page: PageBuilder<SubjectSummary, SubjectPosition>,
    view: TrackerView,
    query: SubjectQuery,
    count: number,
  ): readonly Values[] {
    const { conditions, values, order } = subjectRange(view, query)
    const sql = `SELECT ${columns} FROM subjects WHERE ${conditions} ORDER BY ${order} LIMIT ?`
    const statement = lists.get(sql) ?? prepareValues(reader, sql)
    lists.set(sql, statement)
    const read = () => statement.all(...values, count)
    const rows = read()
    const isWhole = rows.every((row) => oldestAt(row) >= view.since)
    if (isWhole) {
      page.addAll(rows, toSummary)
      return rows
    }
    return snapshot(reader, () => {
      const rows = read()
      page.addAll(rows, withoutAged(view))
      return rows
    })
  }

  return {
    list(view, query) {
      if (!isVisible(view)) return null
      return readPage(
        query,
        (page, after, count) => addChunk(page, view, { ...query, after }, count),
        subjectPosition,
      )
    },
    read: subjectReading(reader),
    async count(view, atMost) {
      if (!isVisible(view)) return null
      return integer(count.get(view.trackerId, view.since, atMost) ?? {}, 'count')
    },
    async erase(view, subjectId, mark, note, { item } = {}) {
      const [outcome = null] = await writer.run('eraseSubjects', [{ view, subjectId, mark, note, item }])
      if (outcome === 'not-waiting') throw new NotWaiting()
      if (outcome instanceof Error) throw outcome
      return outcome
    },
  }
}

/** Finds a subject that holds data which has not expired. */
export function subjectPresence(
  db: DatabaseSync,
): (view: TrackerView, subjectId: string) => { isInterleaved: boolean } | null {
  const present = db.prepare(
    'SELECT interleaved FROM subjects WHERE tracker_id = ? AND subject_id = ? AND last_seen_at >= ?',
  )
  return ({ trackerId, since }, subjectId) => {
    const row = present.get(trackerId, subjectId, since)
    return row ? { isInterleaved: row.interleaved === 1 } : null
  }
}

/** Tells whether a tracker exists and belongs to the organisation. */
export function trackerVisibility(db: DatabaseSync): (tracker: TrackerRef) => boolean {
  const owner = db.prepare('SELECT organisation_id FROM trackers WHERE id = ? AND deleted_at IS NULL')
  return ({ trackerId, organisationId }) => owner.get(trackerId)?.organisation_id === organisationId
}

/** The column after those of a summary. */
const oldestAt = ([, , , , , oldest]: Values) => asInteger(oldest, 'oldest_at')

/** More expired sessions than this are counted in one pass over all sessions of the subject. */
const maxLookups = 1_000

/** Subjects without their expired data; `null` if all of it has expired. Use it within a snapshot. */
export function ageing(db: DatabaseSync) {
  const agedEvents = db.prepare(
    'SELECT count(*) AS count FROM events WHERE subject_key = ? AND occurred_at < ?',
  )
  const started = db.prepare(
    `SELECT count(*) AS count FROM
       (SELECT 1 FROM sessions WHERE subject_key = ? AND started_at < ? LIMIT ${maxLookups + 1})`,
  )
  const agedSessions = db.prepare(
    'SELECT count(*) AS count FROM sessions WHERE subject_key = ?1 AND started_at < ?2 AND ended_at < ?2',
  )
  const firstSeen = db.prepare(
    'SELECT started_at FROM sessions WHERE subject_key = ? AND ended_at >= ? ORDER BY started_at LIMIT 1',
  )
  // The end of a session is not in the index by start. Reading all rows in their order costs less than
  // looking up a twentieth of them.
  const inOnePass = db.prepare(
    `SELECT count(*) FILTER (WHERE ended_at < ?2) AS count,
       min(started_at) FILTER (WHERE ended_at >= ?2) AS started_at
     FROM sessions NOT INDEXED WHERE subject_key = ?1`,
  )

  function sessionsOf(key: Uint8Array, since: Instant): { aged: number; firstSeenAt: Instant } {
    if (integer(started.get(key, since) ?? {}, 'count') > maxLookups) {
      const row = inOnePass.get(key, since) ?? {}
      return { aged: integer(row, 'count'), firstSeenAt: integer(row, 'started_at') }
    }
    return {
      aged: integer(agedSessions.get(key, since) ?? {}, 'count'),
      firstSeenAt: integer(firstSeen.get(key, since) ?? {}, 'started_at'),
    }
  }

  return ({ trackerId, since }: Pick<TrackerView, 'trackerId' | 'since'>) =>
    (row: Values): SubjectSummary | null => {
      const stored = toSummary(row)
      if (stored.lastSeenAt < since) return null
      if (oldestAt(row) >= since) return stored
      const key = subjectKey(trackerId, stored.subjectId)
      const { aged, firstSeenAt } = sessionsOf(key, since)
      return {
        ...stored,
        firstSeenAt,
        counts: {
          sessions: stored.counts.sessions - aged,
          events: stored.counts.events - integer(agedEvents.get(key, since) ?? {}, 'count'),
        },
      }
    }
}

/** Reads the record of a subject through any connection. */
export function subjectReading(reader: DatabaseSync): SubjectStore['read'] {
  const read = prepareValues(
    reader,
    `SELECT ${summaryColumns}, oldest_at, (SELECT attributes FROM sessions
                         WHERE sessions.subject_key = subjects.subject_key AND ended_at >= ?1
                         ORDER BY started_at DESC, session_id DESC LIMIT 1) AS attributes,
       ${identifiersAsSeen('?1', 'subjects.subject_key')} AS identifiers
     FROM subjects WHERE tracker_id = ?2 AND subject_id = ?3 AND last_seen_at >= ?1
     AND EXISTS (SELECT 1 FROM trackers WHERE id = tracker_id AND organisation_id = ?4 AND deleted_at IS NULL)`,
  )
  const withoutAged = ageing(reader)

  return (view, subjectId) => {
    const find = () => read.get(view.since, view.trackerId, subjectId, view.organisationId)
    const row = find()
    if (!row) return null
    return oldestAt(row) >= view.since
      ? toRecord(toSummary(row), row[6], row[7])
      : snapshot(reader, () => {
          const row = find()
          const seen = row && withoutAged(view)(row)
          return seen && toRecord(seen, row[6], row[7])
        })
  }
}
