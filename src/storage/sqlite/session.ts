import type { DatabaseSync } from 'node:sqlite'
import type { Eventually } from '../../domain/eventually.ts'
import type { Instant } from '../../domain/instant.ts'
import type { Page } from '../../domain/page.ts'
import type { Session, SessionPosition, SessionQuery } from '../../domain/session.ts'
import { subjectKey } from '../../domain/subject-key.ts'
import type { TrackerView } from '../../domain/tracker.ts'
import { readPage, type Stretch, toStretch } from '../page.ts'
import type { Values } from '../rows/row.ts'
import { sessionColumns, sessionPosition, toSession } from '../rows/session.ts'
import { snapshot } from './connection.ts'
import { subjectPresence } from './subject.ts'
import type { TrackerVisibility } from './tracker.ts'
import { prepareValues } from './values-statement.ts'

export function sessionQueries(db: DatabaseSync, isVisible: TrackerVisibility) {
  const isPresent = subjectPresence(db)
  const order = 'ORDER BY started_at DESC, session_id DESC LIMIT ?'
  const first = prepareValues(db, `SELECT ${sessionColumns} FROM sessions WHERE subject_key = ? ${order}`)
  const following = prepareValues(
    db,
    `SELECT ${sessionColumns} FROM sessions WHERE subject_key = ? AND (started_at, session_id) < (?, ?) ${order}`,
  )
  const agedEvents = db.prepare(
    `SELECT count(*) AS count FROM events
     WHERE subject_key = ? AND occurred_at >= ? AND occurred_at < ? AND session_id = ?`,
  )

  function stretch(
    key: Uint8Array,
    since: Instant,
    after: SessionPosition | null,
    count: number,
  ): Stretch<Session> {
    const read = () =>
      after ? following.all(key, after.startedAt, after.sessionId, count) : first.all(key, count)
    const rows = read()
    // Newest first: when the last one began within the window, so did the others.
    const last = rows.at(-1)
    const isWhole = last === undefined || toSession(last).startedAt >= since
    return isWhole
      ? toStretch(rows, count, toSession)
      : snapshot(db, () => toStretch(read(), count, withoutAged(key, since)))
  }

  /** Sees sessions as if what has aged out were swept already: `null` when all of one has. To be used within a snapshot. */
  function withoutAged(key: Uint8Array, since: Instant) {
    return (row: Values): Session | null => {
      const session = toSession(row)
      const { sessionId, startedAt, endedAt, counts } = session
      if (startedAt >= since) return session
      if (endedAt < since) return null
      const aged = Number(agedEvents.get(key, startedAt, since, sessionId)?.count)
      return { ...session, counts: { events: counts.events - aged } }
    }
  }

  return {
    list(
      view: TrackerView,
      subjectId: string,
      query: SessionQuery,
    ): Eventually<Page<Session, SessionPosition> | null> {
      if (!isVisible(view) || !isPresent(view, subjectId)) return null
      const key = subjectKey(view.trackerId, subjectId)
      return readPage(query, (after, count) => stretch(key, view.since, after, count), sessionPosition)
    },
  }
}
