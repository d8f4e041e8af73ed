import { encodeCursor, type ListIdentity, readCursor } from '../../domain/cursor.ts'
import { notFound } from '../../domain/errors.ts'
import { readInstant } from '../../domain/instant.ts'
import { andThen, type MaybePromise } from '../../domain/maybe-promise.ts'
import { defaultPageSize } from '../../domain/page.ts'
import type { Problems } from '../../domain/problems.ts'
import type {
  SubjectPosition,
  SubjectQuery,
  SubjectSort,
  SubjectStore,
  SubjectSummary,
} from '../../domain/subject.ts'
import type { TrackerView } from '../../domain/tracker.ts'

/** How a client asks for a page of subjects; everything has a default. */
export interface SubjectListOptions {
  limit?: number
  cursor?: string
  sort?: SubjectSort
  subjectIdPrefix?: string
  lastSeenAfter?: string
  lastSeenBefore?: string
}

export interface SubjectList {
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
  const position = readCursor(isClear ? identityOf(trackerId, query) : null, options.cursor, problems)
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
        encodeCursor(identityOf(tracker.trackerId, query), page.next.lastSeenAt, page.next.subjectId),
    }
  })
}

function identityOf(trackerId: string, query: SubjectQuery): ListIdentity {
  return ['subjects', trackerId, query.sort, query.subjectIdPrefix, query.lastSeenAfter, query.lastSeenBefore]
}
