import { notFound } from '../domain/errors.ts'
import type { Event, EventPosition, EventStore } from '../domain/event.ts'
import type { Eventually } from '../domain/eventually.ts'
import { maxPageSize, type Page } from '../domain/page.ts'
import type { Session, SessionPosition, SessionStore } from '../domain/session.ts'
import type { SubjectRecord, SubjectStore } from '../domain/subject.ts'
import type { TrackerView } from '../domain/tracker.ts'
import { readSubject } from './read-subject.ts'

/** All that is stored about a subject, the long parts page by page. */
export interface SubjectCopy {
  record: SubjectRecord
  sessions: AsyncIterable<Session[]>
  events: AsyncIterable<Event[]>
}

/**
 * The complete copy of a subject. `not_found` when it is not there for the organisation; also later, while the pages are read, when it
 * is erased meanwhile: a copy is complete or it is none.
 */
export async function copySubject(
  parts: { subjects: SubjectStore; sessions: SessionStore; events: EventStore },
  tracker: TrackerView,
  subjectId: string,
): Promise<SubjectCopy> {
  const limit = maxPageSize
  return {
    record: await readSubject(parts, tracker, subjectId),
    sessions: pages<Session, SessionPosition>((after) =>
      parts.sessions.list(tracker, subjectId, { limit, after }),
    ),
    events: pages<Event, EventPosition>((after) =>
      parts.events.list(tracker, subjectId, { limit, after, sessionId: null }),
    ),
  }
}

async function* pages<Row, Position>(
  read: (after: Position | null) => Eventually<Page<Row, Position> | null>,
): AsyncGenerator<Row[]> {
  let after: Position | null = null
  do {
    const page: Page<Row, Position> | null = await read(after)
    if (page === null) throw notFound('This data subject')
    yield page.rows
    after = page.next
  } while (after !== null)
}
