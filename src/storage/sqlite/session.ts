import type { DatabaseSync } from 'node:sqlite'
import type { Page } from '../../domain/page.ts'
import type { Session, SessionPosition, SessionQuery } from '../../domain/session.ts'
import type { Attributes } from '../../domain/subject.ts'
import { subjectKey } from '../../domain/subject-key.ts'
import type { TrackerRef } from '../../domain/tracker.ts'
import { toPage } from './page.ts'
import { integer, json, type Row, text } from './row.ts'
import { subjectPresence } from './subject.ts'
import type { TrackerVisibility } from './tracker.ts'

export function sessionQueries(db: DatabaseSync, isVisible: TrackerVisibility) {
  const isPresent = subjectPresence(db)
  const order = 'ORDER BY started_at DESC, session_id DESC LIMIT ?'
  const first = db.prepare(`SELECT * FROM sessions WHERE subject_key = ? ${order}`)
  const following = db.prepare(
    `SELECT * FROM sessions WHERE subject_key = ? AND (started_at, session_id) < (?, ?) ${order}`,
  )
  return {
    list(
      tracker: TrackerRef,
      subjectId: string,
      { limit, after }: SessionQuery,
    ): Page<Session, SessionPosition> | null {
      if (!isVisible(tracker) || !isPresent(tracker.trackerId, subjectId)) return null
      const key = subjectKey(tracker.trackerId, subjectId)
      const rows = after
        ? following.all(key, after.startedAt, after.sessionId, limit + 1)
        : first.all(key, limit + 1)
      return toPage(rows, limit, toSession, ({ startedAt, sessionId }) => ({ startedAt, sessionId }))
    },
  }
}

function toSession(row: Row): Session {
  return {
    sessionId: text(row, 'session_id'),
    startedAt: integer(row, 'started_at'),
    endedAt: integer(row, 'ended_at'),
    counts: { events: integer(row, 'event_count') },
    attributes: json<Attributes>(row, 'attributes'),
  }
}
