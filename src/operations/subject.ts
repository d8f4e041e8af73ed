import { notFound, type Problems } from '../domain/errors.ts'
import { type Instant, readInstant } from '../domain/instant.ts'
import { andThen, type MaybePromise } from '../domain/maybe-promise.ts'
import { defaultPageSize, encodeCursor, type ListIdentity, readCursor } from '../domain/page.ts'
import type {
  Event,
  EventPosition,
  EventQuery,
  EventStore,
  Session,
  SessionPosition,
  SessionQuery,
  SessionStore,
} from '../domain/session.ts'
import type {
  SubjectPosition,
  SubjectQuery,
  SubjectRecord,
  SubjectSort,
  SubjectStore,
  SubjectSummary,
} from '../domain/subject.ts'
import type { TrackerView } from '../domain/tracker.ts'

/** What is stored about one subject. `not_found` when it is not there for the organisation, or holds no data any more. */
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

/** How a client asks for a page of subjects; everything has a default. */
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

/** Turns what a client asked for into a query. What does not fit together becomes a problem of its field. */
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
        problems.add(field, `${field} goes with sort=lastSeenAt or sort=-lastSeenAt, not with sort=subjectId`)
      }
    }
  } else if (subjectIdPrefix !== null) {
    problems.add(
      'subjectIdPrefix',
      'subjectIdPrefix goes with sort=subjectId and without lastSeenAfter or lastSeenBefore',
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

/** A position of our own always does; one that was forged must not widen the list. */
function liesWithin(query: SubjectQuery, { subjectId, lastSeenAt }: SubjectPosition): boolean {
  const { subjectIdPrefix, lastSeenAfter, lastSeenBefore } = query
  if (subjectIdPrefix !== null && !subjectId.startsWith(subjectIdPrefix)) return false
  return (
    (lastSeenAfter === null || lastSeenAt >= lastSeenAfter) &&
    (lastSeenBefore === null || lastSeenAt < lastSeenBefore)
  )
}

/** A page of a tracker's subjects. `not_found` when the tracker is not visible to the organisation. */
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
  /** Only those that began before this instant. */
  until?: string
}

/** Turns what a client asked for into a query. */
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
  const until = readInstant('until', options.until, problems)
  return {
    limit: options.limit ?? defaultPageSize,
    after: position ? { startedAt: position.at, sessionId: position.id } : sessionsBefore(until),
  }
}

/** A page of a subject's sessions, newest first. `not_found` when the subject is not there for the organisation. */
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

/** The position behind everything that began before an instant. */
function sessionsBefore(until: Instant | null): SessionPosition | null {
  return until === null ? null : { startedAt: until, sessionId: '' }
}

function sessionListIdentity(trackerId: string, subjectId: string): ListIdentity {
  return ['sessions', trackerId, subjectId]
}

interface EventListOptions {
  limit?: number
  cursor?: string
  sessionId?: string
  /** Only what happened before this instant. */
  until?: string
}

/** Turns what a client asked for into a query. */
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
  const until = readInstant('until', options.until, problems)
  return {
    limit: options.limit ?? defaultPageSize,
    after: position ? { occurredAt: position.at, eventId: position.id } : eventsBefore(until),
    sessionId,
  }
}

/** A page of a subject's events, newest first. `not_found` when the subject is not there for the organisation. */
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

/** The position behind everything that happened before an instant. */
function eventsBefore(until: Instant | null): EventPosition | null {
  return until === null ? null : { occurredAt: until, eventId: '' }
}

function eventListIdentity(trackerId: string, subjectId: string, sessionId: string | null): ListIdentity {
  return ['events', trackerId, subjectId, sessionId]
}
