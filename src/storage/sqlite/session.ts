import type { Instant } from '../../domain/instant.ts'
import type { Session, SessionPosition, SessionStore } from '../../domain/session.ts'
import { subjectKey } from '../../domain/subject.ts'
import { asInteger, asText, type Values } from '../nouns/row.ts'
import { sessionColumnsWith, sessionPosition, toSession } from '../nouns/session.ts'
import { type PageBuilder, readPage } from '../page.ts'
import { snapshot } from './connection.ts'
import type { Connections } from './connections.ts'
import { areWhole, unlessLarge, withLargeTexts } from './large-text.ts'
import { subjectPresence, trackerVisibility } from './subject.ts'
import { prepareValues } from './values-statement.ts'

export function sessionStore({ reader }: Connections): SessionStore {
  const isVisible = trackerVisibility(reader)
  const findSubject = subjectPresence(reader)
  const order = 'ORDER BY started_at DESC, session_id DESC LIMIT ?'
  const sessions = `SELECT ${sessionColumnsWith(unlessLarge('attributes'))} FROM sessions`
  const first = prepareValues(reader, `${sessions} WHERE subject_key = ? ${order}`)
  const following = prepareValues(
    reader,
    `${sessions} WHERE subject_key = ? AND (started_at, session_id) < (?, ?) ${order}`,
  )
  const attributes = prepareValues(
    reader,
    'SELECT attributes FROM sessions WHERE subject_key = ? AND session_id = ?',
  )
  const agedEvents = reader.prepare(
    `SELECT count(*) AS count FROM events
     WHERE subject_key = ? AND occurred_at >= ? AND occurred_at < ? AND session_id = ?`,
  )
  const agedInterleaved = reader.prepare(
    `SELECT count(*) AS count FROM events INDEXED BY events_by_session WHERE interleaved = 1
     AND subject_key = ? AND occurred_at >= ? AND occurred_at < ? AND session_id = ?`,
  )

  function addChunk(
    page: PageBuilder<Session, SessionPosition>,
    key: Uint8Array,
    isInterleaved: boolean,
    since: Instant,
    after: SessionPosition | null,
    count: number,
  ): readonly Values[] {
    const read = () =>
      after ? following.all(key, after.startedAt, after.sessionId, count) : first.all(key, count)
    const rows = read()
    // Newest first: when the last one began within the window, so did the others.
    const last = rows.at(-1)
    const hasAged = last !== undefined && sessionPosition.ofRow(last).startedAt < since
    if (!hasAged && areWhole(rows)) {
      page.addAll(rows, toSession)
      return rows
    }
    return snapshot(reader, () => {
      const rows = read()
      const seen = rows.filter(([, , endedAt]) => asInteger(endedAt, 'ended_at') >= since)
      const keyOf = ([sessionId]: Values) => [key, asText(sessionId, 'session_id')]
      page.addAll(withLargeTexts(seen, attributes, keyOf), withoutAged(key, isInterleaved, since))
      return rows
    })
  }

  /** Sees sessions of which something is left as if what has aged out were swept already. To be used within a snapshot. */
  function withoutAged(key: Uint8Array, isInterleaved: boolean, since: Instant) {
    const events = isInterleaved ? agedInterleaved : agedEvents
    return (row: Values): Session => {
      const session = toSession(row)
      const { sessionId, startedAt, counts } = session
      if (startedAt >= since) return session
      const aged = Number(events.get(key, startedAt, since, sessionId)?.count)
      return { ...session, counts: { events: counts.events - aged } }
    }
  }

  return {
    list(view, subjectId, query) {
      const subject = isVisible(view) ? findSubject(view, subjectId) : null
      if (!subject) return null
      const key = subjectKey(view.trackerId, subjectId)
      return readPage(
        query,
        (page, after, count) => addChunk(page, key, subject.isInterleaved, view.since, after, count),
        sessionPosition,
      )
    },
  }
}
