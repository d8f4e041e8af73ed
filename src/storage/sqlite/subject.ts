import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite'
import type { Page } from '../../domain/page.ts'
import { endOfPrefix } from '../../domain/prefix.ts'
import type {
  Attributes,
  SubjectCounts,
  SubjectPosition,
  SubjectQuery,
  SubjectRecord,
  SubjectSummary,
} from '../../domain/subject.ts'
import { subjectKey } from '../../domain/subject-key.ts'
import type { TrackerRef } from '../../domain/tracker.ts'
import { transaction } from './connection.ts'
import { toPage } from './page.ts'
import { integer, json, type Row, text } from './row.ts'
import { type TrackerVisibility, trackerVisibility } from './tracker.ts'

const summary = 'subject_id, first_seen_at, last_seen_at, session_count, event_count'

export function subjectQueries(db: DatabaseSync, isVisible: TrackerVisibility) {
  const read = db.prepare(
    `SELECT ${summary}, (SELECT attributes FROM sessions WHERE sessions.subject_key = subjects.subject_key
                         ORDER BY started_at DESC, session_id DESC LIMIT 1) AS attributes
     FROM subjects WHERE tracker_id = ? AND subject_id = ?
     AND EXISTS (SELECT 1 FROM trackers WHERE id = tracker_id AND organisation_id = ?)`,
  )
  const lists = new Map<string, StatementSync>()
  return {
    list(tracker: TrackerRef, query: SubjectQuery): Page<SubjectSummary, SubjectPosition> | null {
      if (!isVisible(tracker)) return null
      const { sql, values } = listStatement(tracker.trackerId, query)
      const statement = lists.get(sql) ?? db.prepare(sql)
      lists.set(sql, statement)
      return toPage(statement.all(...values), query.limit, toSummary, ({ subjectId, lastSeenAt }) => ({
        subjectId,
        lastSeenAt,
      }))
    },
    read({ trackerId, organisationId }: TrackerRef, subjectId: string): SubjectRecord | null {
      const row = read.get(trackerId, subjectId, organisationId)
      return row ? { ...toSummary(row), attributes: json<Attributes>(row, 'attributes') } : null
    },
  }
}

export function subjectCommands(db: DatabaseSync) {
  const isVisible = trackerVisibility(db)
  const deleteEvents = db.prepare('DELETE FROM events WHERE subject_key = ?')
  const deleteSessions = db.prepare('DELETE FROM sessions WHERE subject_key = ?')
  const deleteSubject = db.prepare('DELETE FROM subjects WHERE tracker_id = ? AND subject_id = ?')
  return {
    eraseSubject: (tracker: TrackerRef, subjectId: string): SubjectCounts | null =>
      transaction(db, () => {
        if (!isVisible(tracker)) return null
        const key = subjectKey(tracker.trackerId, subjectId)
        const events = Number(deleteEvents.run(key).changes)
        const sessions = Number(deleteSessions.run(key).changes)
        deleteSubject.run(tracker.trackerId, subjectId)
        return { sessions, events }
      }),
  }
}

/** Tells whether a subject holds data. */
export function subjectPresence(db: DatabaseSync): (trackerId: string, subjectId: string) => boolean {
  const present = db.prepare('SELECT 1 FROM subjects WHERE tracker_id = ? AND subject_id = ?')
  return (trackerId, subjectId) => present.get(trackerId, subjectId) !== undefined
}

/**
 * A page as one range of one index: each end has at most one condition, because SQLite seeks by one and checks the others row by
 * row. The position already lies within the filters.
 */
function listStatement(trackerId: string, query: SubjectQuery): { sql: string; values: SQLInputValue[] } {
  const { after, lastSeenAfter, lastSeenBefore, subjectIdPrefix } = query
  const conditions = ['tracker_id = ?']
  const values: SQLInputValue[] = [trackerId]
  const where = (condition: string, ...bound: SQLInputValue[]) => {
    conditions.push(condition)
    values.push(...bound)
  }
  let order = 'subject_id'
  if (query.sort === 'subjectId') {
    const end = subjectIdPrefix === null ? null : endOfPrefix(subjectIdPrefix)
    if (after) where('subject_id > ?', after.subjectId)
    else if (subjectIdPrefix !== null) where('subject_id >= ?', subjectIdPrefix)
    if (end !== null) where('subject_id < ?', end)
  } else if (query.sort === 'lastSeenAt') {
    order = 'last_seen_at, subject_id'
    if (after) where('(last_seen_at, subject_id) > (?, ?)', after.lastSeenAt, after.subjectId)
    else if (lastSeenAfter !== null) where('last_seen_at >= ?', lastSeenAfter)
    if (lastSeenBefore !== null) where('last_seen_at < ?', lastSeenBefore)
  } else {
    order = 'last_seen_at DESC, subject_id DESC'
    if (after) where('(last_seen_at, subject_id) < (?, ?)', after.lastSeenAt, after.subjectId)
    else if (lastSeenBefore !== null) where('last_seen_at < ?', lastSeenBefore)
    if (lastSeenAfter !== null) where('last_seen_at >= ?', lastSeenAfter)
  }
  values.push(query.limit + 1)
  return {
    sql: `SELECT ${summary} FROM subjects WHERE ${conditions.join(' AND ')} ORDER BY ${order} LIMIT ?`,
    values,
  }
}

function toSummary(row: Row): SubjectSummary {
  return {
    subjectId: text(row, 'subject_id'),
    firstSeenAt: integer(row, 'first_seen_at'),
    lastSeenAt: integer(row, 'last_seen_at'),
    counts: { sessions: integer(row, 'session_count'), events: integer(row, 'event_count') },
  }
}
