import { notFound, type Problems } from '../domain/errors.ts'
import { readInstant } from '../domain/instant.ts'
import { andThen, type MaybePromise } from '../domain/maybe-promise.ts'
import { defaultPageSize, encodeCursor, type ListIdentity, readCursor } from '../domain/page.ts'
import type { Event, EventQuery, EventStore, Session, SessionQuery, SessionStore } from '../domain/session.ts'
import type {
  SubjectPosition,
  SubjectQuery,
  SubjectRecord,
  SubjectSort,
  SubjectStore,
  SubjectSummary,
} from '../domain/subject.ts'
import type { TrackerView } from '../domain/tracker.ts'

/** Throws `not_found` if the subject is not visible or holds no data. */
export function readSubject(
  { subjects }: { subjects: SubjectStore },
  tracker: TrackerView,
  subjectId: string,
): MaybePromise<SubjectRecord> {
  return andThen(subjects.read(tracker, subjectId), (record) => {
    if (record === null) throw notFound('This data subject')
    return record
  })
}

export interface SubjectListOptions {
  limit?: number
  cursor?: string
  sort?: SubjectSort
  subjectIdPrefix?: string
  lastSeenAfter?: string
  lastSeenBefore?: string
}

interface SubjectList {
  subjects: SubjectSummary[]
  nextCursor: string | null
}

/** Options that do not fit together are added to `problems`. */
export function planSubjectList(
  trackerId: string,
  options: SubjectListOptions,
  problems: Problems,
): SubjectQuery {
  const { subjectIdPrefix = null } = options
  const lastSeenAfter = readInstant('lastSeenAfter', options.lastSeenAfter, problems)
  const lastSeenBefore = readInstant('lastSeenBefore', options.lastSeenBefore, problems)
  const byLastSeen = options.lastSeenAfter !== undefined || options.lastSeenBefore !== undefined
  const sort = options.sort ?? (byLastSeen ? 'lastSeenAt' : 'subjectId')

  if (sort === 'subjectId') {
    for (const field of ['lastSeenAfter', 'lastSeenBefore'] as const) {
      if (options[field] !== undefined) {
        problems.add(field, `${field} requires sort=lastSeenAt or sort=-lastSeenAt`)
      }
    }
  } else if (subjectIdPrefix !== null) {
    problems.add(
      'subjectIdPrefix',
      'subjectIdPrefix requires sort=subjectId, without lastSeenAfter or lastSeenBefore',
    )
  }

  const query: SubjectQuery = {
    sort,
    limit: options.limit ?? defaultPageSize,
    after: null,
    subjectIdPrefix,
    lastSeenAfter,
    lastSeenBefore,
  }
  const isClear = !problems.has('trackerId', 'sort', 'subjectIdPrefix', 'lastSeenAfter', 'lastSeenBefore')
  const position = readCursor(
    isClear ? subjectListIdentity(trackerId, query) : null,
    options.cursor,
    problems,
  )
  if (position) query.after = { lastSeenAt: position.at, subjectId: position.id }
  if (isClear && query.after && !liesWithin(query, query.after)) {
    problems.add('cursor', 'cursor lies outside the filters')
  }
  return query
}

/** Prevents a forged cursor from widening the list. */
function liesWithin(query: SubjectQuery, { subjectId, lastSeenAt }: SubjectPosition): boolean {
  const { subjectIdPrefix, lastSeenAfter, lastSeenBefore } = query
  if (subjectIdPrefix !== null && !subjectId.startsWith(subjectIdPrefix)) return false
  return (
    (lastSeenAfter === null || lastSeenAt >= lastSeenAfter) &&
    (lastSeenBefore === null || lastSeenAt < lastSeenBefore)
  )
}

/** Throws `not_found` if the tracker is not visible. */
export function listSubjects(
  { subjects }: { subjects: SubjectStore },
  tracker: TrackerView,
  query: SubjectQuery,
): MaybePromise<SubjectList> {
  return andThen(subjects.list(tracker, query), (page) => {
    if (page === null) throw notFound('This tracker')
    return {
      subjects: page.rows,
      nextCursor:
        page.next &&
        encodeCursor(
          subjectListIdentity(tracker.trackerId, query),
          page.next.lastSeenAt,
          page.next.subjectId,
        ),
    }
  })
}

function subjectListIdentity(trackerId: string, query: SubjectQuery): ListIdentity {
  return ['subjects', trackerId, query.sort, query.subjectIdPrefix, query.lastSeenAfter, query.lastSeenBefore]
}

interface SessionListOptions {
  limit?: number
  cursor?: string
}

export function planSessionList(
  trackerId: string,
  subjectId: string,
  options: SessionListOptions,
  problems: Problems,
): SessionQuery {
  const isClear = !problems.has('trackerId', 'subjectId')
  const position = readCursor(
    isClear ? sessionListIdentity(trackerId, subjectId) : null,
    options.cursor,
    problems,
  )
  return {
    limit: options.limit ?? defaultPageSize,
    after: position && { startedAt: position.at, sessionId: position.id },
  }
}

/** Newest first. Throws `not_found` if the subject is not visible. */
export function listSessions(
  { sessions }: { sessions: SessionStore },
  tracker: TrackerView,
  subjectId: string,
  query: SessionQuery,
): MaybePromise<{ sessions: Session[]; nextCursor: string | null }> {
  return andThen(sessions.list(tracker, subjectId, query), (page) => {
    if (page === null) throw notFound('This data subject')
    const list = sessionListIdentity(tracker.trackerId, subjectId)
    return {
      sessions: page.rows,
      nextCursor: page.next && encodeCursor(list, page.next.startedAt, page.next.sessionId),
    }
  })
}

function sessionListIdentity(trackerId: string, subjectId: string): ListIdentity {
  return ['sessions', trackerId, subjectId]
}

interface EventListOptions {
  limit?: number
  cursor?: string
  sessionId?: string
}

export function planEventList(
  trackerId: string,
  subjectId: string,
  options: EventListOptions,
  problems: Problems,
): EventQuery {
  const { sessionId = null } = options
  const isClear = !problems.has('trackerId', 'subjectId', 'sessionId')
  const list = isClear ? eventListIdentity(trackerId, subjectId, sessionId) : null
  const position = readCursor(list, options.cursor, problems)
  return {
    limit: options.limit ?? defaultPageSize,
    after: position && { occurredAt: position.at, eventId: position.id },
    sessionId,
  }
}

/** Newest first. Throws `not_found` if the subject is not visible. */
export function listEvents(
  { events }: { events: EventStore },
  tracker: TrackerView,
  subjectId: string,
  query: EventQuery,
): MaybePromise<{ events: Event[]; nextCursor: string | null }> {
  return andThen(events.list(tracker, subjectId, query), (page) => {
    if (page === null) throw notFound('This data subject')
    const list = eventListIdentity(tracker.trackerId, subjectId, query.sessionId)
    return {
      events: page.rows,
      nextCursor: page.next && encodeCursor(list, page.next.occurredAt, page.next.eventId),
    }
  })
}

function eventListIdentity(trackerId: string, subjectId: string, sessionId: string | null): ListIdentity {
  return ['events', trackerId, subjectId, sessionId]
}
