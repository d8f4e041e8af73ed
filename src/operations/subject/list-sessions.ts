import { encodeCursor, type ListIdentity, readCursor } from '../../domain/cursor.ts'
import { notFound } from '../../domain/errors.ts'
import { type Instant, readInstant } from '../../domain/instant.ts'
import { andThen, type MaybePromise } from '../../domain/maybe-promise.ts'
import { defaultPageSize } from '../../domain/page.ts'
import type { Problems } from '../../domain/problems.ts'
import type { Session, SessionPosition, SessionQuery, SessionStore } from '../../domain/session.ts'
import type { TrackerView } from '../../domain/tracker.ts'

export interface SessionListOptions {
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
  const position = readCursor(isClear ? identityOf(trackerId, subjectId) : null, options.cursor, problems)
  const until = readInstant('until', options.until, problems)
  return {
    limit: options.limit ?? defaultPageSize,
    after: position ? { startedAt: position.at, sessionId: position.id } : before(until),
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
    const list = identityOf(tracker.trackerId, subjectId)
    return {
      sessions: page.rows,
      nextCursor: page.next && encodeCursor(list, page.next.startedAt, page.next.sessionId),
    }
  })
}

/** The position behind everything that began before an instant. */
function before(until: Instant | null): SessionPosition | null {
  return until === null ? null : { startedAt: until, sessionId: '' }
}

function identityOf(trackerId: string, subjectId: string): ListIdentity {
  return ['sessions', trackerId, subjectId]
}
