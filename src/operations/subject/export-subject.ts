import type { ActivityStore, Origin } from '../../domain/activity.ts'
import { notFound } from '../../domain/errors.ts'
import type { Event, EventPosition, EventStore } from '../../domain/event.ts'
import type { Clock } from '../../domain/instant.ts'
import type { MaybePromise } from '../../domain/maybe-promise.ts'
import { maxPageSize, type Page } from '../../domain/page.ts'
import type { Randomness } from '../../domain/randomness.ts'
import type { Session, SessionPosition, SessionStore } from '../../domain/session.ts'
import type { SubjectRecord, SubjectStore } from '../../domain/subject.ts'
import type { TrackerView } from '../../domain/tracker.ts'
import { withoutSubject } from '../../domain/without-subject.ts'
import { activityNote } from '../activity/activity-note.ts'
import { readSubject } from './read-subject.ts'

/** All that is stored about a subject, the long parts page by page. */
export interface SubjectExport {
  record: SubjectRecord
  sessions: AsyncIterable<Session[]>
  events: AsyncIterable<Event[]>
}

/**
 * The export of a subject, which is noted in the activity. `not_found` when it is not there for the organisation; also later, while the pages are read, when it
 * is erased meanwhile: an export is complete or it is none.
 */
export async function exportSubject(
  deps: {
    subjects: SubjectStore
    sessions: SessionStore
    events: EventStore
    activity: ActivityStore
    clock: Clock
    randomness: Randomness
  },
  tracker: TrackerView,
  subjectId: string,
  origin: Origin,
): Promise<SubjectExport> {
  const limit = maxPageSize
  const record = await readSubject(deps, tracker, subjectId)
  const requestId = origin.requestId && withoutSubject(origin.requestId, subjectId)
  const { organisationId, trackerId } = tracker
  const what = { organisationId, kind: 'subject.exported', target: trackerId } as const
  // Before anything is handed out: what cannot be noted is not exported.
  await deps.activity.add(activityNote(deps, { ...origin, requestId }, what))
  return {
    record,
    sessions: pages<Session, SessionPosition>((after) =>
      deps.sessions.list(tracker, subjectId, { limit, after }),
    ),
    events: pages<Event, EventPosition>((after) =>
      deps.events.list(tracker, subjectId, { limit, after, sessionId: null }),
    ),
  }
}

async function* pages<Row, Position>(
  read: (after: Position | null) => MaybePromise<Page<Row, Position> | null>,
): AsyncGenerator<Row[]> {
  let after: Position | null = null
  do {
    const page: Page<Row, Position> | null = await read(after)
    if (page === null) throw notFound('This data subject')
    yield page.rows
    after = page.next
  } while (after !== null)
}
