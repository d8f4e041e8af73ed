import type { Instant } from '../../domain/instant.ts'
import type { EventQuery, EventStore } from '../../domain/session.ts'
import { subjectKey } from '../../domain/subject.ts'
import { eventColumnsWith, eventPosition, toEvent } from '../nouns/event.ts'
import { asInteger, asText, integer, type Values } from '../nouns/row.ts'
import { PageBuilder } from '../page.ts'
import { snapshot } from './connection.ts'
import type { Connections } from './connections.ts'
import { areWhole, unlessLarge, withLargeTexts } from './large-text.ts'
import { subjectPresence, trackerVisibility } from './subject.ts'
import { prepareValues } from './values-statement.ts'

export function eventStore({ reader }: Connections): EventStore {
  const isVisible = trackerVisibility(reader)
  const findSubject = subjectPresence(reader)
  const order = 'ORDER BY occurred_at DESC, event_id DESC LIMIT ?'
  const events = `SELECT ${eventColumnsWith(unlessLarge('properties'))} FROM events`
  const first = prepareValues(reader, `${events} WHERE subject_key = ? AND occurred_at >= ? ${order}`)
  const following = prepareValues(
    reader,
    `${events} WHERE subject_key = ? AND occurred_at >= ? AND (occurred_at, event_id) < (?, ?) ${order}`,
  )
  const span = reader.prepare(
    'SELECT started_at, ended_at FROM sessions WHERE subject_key = ? AND session_id = ?',
  )
  // A session's span covers its events: where no other overlaps it, they are one range of the subject's.
  const firstOfSession = prepareValues(
    reader,
    `${events} WHERE subject_key = ? AND occurred_at >= ? AND occurred_at <= ? AND session_id = ? ${order}`,
  )
  const followingOfSession = prepareValues(
    reader,
    `${events} WHERE subject_key = ? AND occurred_at >= ? AND (occurred_at, event_id) < (?, ?)
     AND session_id = ? ${order}`,
  )

  // Named, because SQLite takes the primary key for as good: it knows nothing of how many events a session has.
  const ofSession = `${events} INDEXED BY events_by_session
    WHERE interleaved = 1 AND subject_key = ? AND session_id = ? AND occurred_at >= ?`
  const firstInterleaved = prepareValues(reader, `${ofSession} ${order}`)
  const followingInterleaved = prepareValues(
    reader,
    `${ofSession} AND (occurred_at, event_id) < (?, ?) ${order}`,
  )
  const properties = prepareValues(
    reader,
    'SELECT properties FROM events WHERE subject_key = ? AND occurred_at = ? AND event_id = ?',
  )

  function find(
    key: Uint8Array,
    since: Instant,
    { limit, after, sessionId }: EventQuery,
    isInterleaved: boolean,
  ): readonly Values[] {
    if (sessionId === null) {
      return after
        ? following.all(key, since, after.occurredAt, after.eventId, limit + 1)
        : first.all(key, since, limit + 1)
    }
    if (isInterleaved) {
      return after
        ? followingInterleaved.all(key, sessionId, since, after.occurredAt, after.eventId, limit + 1)
        : firstInterleaved.all(key, sessionId, since, limit + 1)
    }
    const session = span.get(key, sessionId)
    if (!session) return []
    const start = Math.max(since, integer(session, 'started_at'))
    return after
      ? followingOfSession.all(key, start, after.occurredAt, after.eventId, sessionId, limit + 1)
      : firstOfSession.all(key, start, integer(session, 'ended_at'), sessionId, limit + 1)
  }

  return {
    list(view, subjectId, query) {
      const subject = isVisible(view) ? findSubject(view, subjectId) : null
      if (!subject) return null
      const key = subjectKey(view.trackerId, subjectId)
      const page = new PageBuilder(query.limit, eventPosition)
      const read = () => find(key, view.since, query, subject.isInterleaved)
      const rows = read()
      if (areWhole(rows)) page.addAll(rows, toEvent)
      else {
        const keyOf = ([eventId, , , occurredAt]: Values) => [
          key,
          asInteger(occurredAt, 'occurred_at'),
          asText(eventId, 'event_id'),
        ]
        snapshot(reader, () => page.addAll(withLargeTexts(read(), properties, keyOf), toEvent))
      }
      return page.page()
    },
  }
}
