import type { SQLInputValue } from 'node:sqlite'
import type { Instant } from '../../domain/instant.ts'
import type { EventQuery, EventStore, Session, SessionPosition, SessionStore } from '../../domain/session.ts'
import { subjectKey } from '../../domain/subject.ts'
import { asInteger, asText, integer, type Values } from '../nouns/row.ts'
import {
  eventColumnsWith,
  eventPosition,
  sessionColumnsWith,
  sessionPosition,
  toEvent,
  toSession,
} from '../nouns/subject.ts'
import { PageBuilder, readPage } from '../rules/page.ts'
import { snapshot } from './connection.ts'
import { type Connections, prepareValues, type ValuesStatement } from './connections.ts'
import { subjectPresence, trackerVisibility } from './subject.ts'

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
    // Newest first: if the last one started within the window, so did the others.
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

  /** Sessions without their expired events. Use it within a snapshot. */
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
  // A session's span covers its events: if no other session overlaps it, they are one range.
  const firstOfSession = prepareValues(
    reader,
    `${events} WHERE subject_key = ? AND occurred_at >= ? AND occurred_at <= ? AND session_id = ? ${order}`,
  )
  const followingOfSession = prepareValues(
    reader,
    `${events} WHERE subject_key = ? AND occurred_at >= ? AND (occurred_at, event_id) < (?, ?)
     AND session_id = ? ${order}`,
  )

  // The index is named because SQLite does not know how many events a session has and would use the primary
  // key.
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

/** Larger texts are not read with their row: with this limit a whole page holds about as much as it may. */
const maxBytesWithRow = 4096

/** A text column, or null for a large text, whose length is known without reading it. */
function unlessLarge(column: string): string {
  return `CASE WHEN octet_length(${column}) <= ${maxBytesWithRow} THEN ${column} END AS ${column}`
}

/** Whether no large text was left out. */
function areWhole(rows: readonly Values[]): boolean {
  return rows.every((row) => row.at(-1) !== null)
}

/**
 * Adds the large texts that were left out as the last value, each when its row is read. Use it within a
 * snapshot.
 */
function* withLargeTexts(
  rows: readonly Values[],
  text: ValuesStatement,
  keyOf: (row: Values) => SQLInputValue[],
): Generator<Values> {
  for (const row of rows) {
    yield row.at(-1) === null ? [...row.slice(0, -1), ...(text.get(...keyOf(row)) ?? [])] : row
  }
}
