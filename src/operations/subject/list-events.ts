import { encodeCursor, type ListIdentity, readCursor } from '../../domain/cursor.ts'
import { notFound } from '../../domain/errors.ts'
import type { Event, EventPosition, EventQuery, EventStore } from '../../domain/event.ts'
import { type Instant, readInstant } from '../../domain/instant.ts'
import { andThen, type MaybePromise } from '../../domain/maybe-promise.ts'
import { defaultPageSize } from '../../domain/page.ts'
import type { Problems } from '../../domain/problems.ts'
import type { TrackerView } from '../../domain/tracker.ts'

export interface EventListOptions {
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
  const list = isClear ? identityOf(trackerId, subjectId, sessionId) : null
  const position = readCursor(list, options.cursor, problems)
  const until = readInstant('until', options.until, problems)
  return {
    limit: options.limit ?? defaultPageSize,
    after: position ? { occurredAt: position.at, eventId: position.id } : before(until),
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
    const list = identityOf(tracker.trackerId, subjectId, query.sessionId)
    return {
      events: page.rows,
      nextCursor: page.next && encodeCursor(list, page.next.occurredAt, page.next.eventId),
    }
  })
}

/** The position behind everything that happened before an instant. */
function before(until: Instant | null): EventPosition | null {
  return until === null ? null : { occurredAt: until, eventId: '' }
}

function identityOf(trackerId: string, subjectId: string, sessionId: string | null): ListIdentity {
  return ['events', trackerId, subjectId, sessionId]
}
