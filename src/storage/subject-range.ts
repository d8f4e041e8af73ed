import { endOfPrefix } from '../domain/identifier.ts'
import type { SubjectQuery } from '../domain/subject.ts'
import type { TrackerView } from '../domain/tracker.ts'

/** Where the rows of a page lie: conditions with a question mark for each value, and their order. */
export interface SubjectRange {
  conditions: string
  values: (string | number)[]
  order: string
}

/**
 * A page as one range of one index: each end has at most one condition, because SQLite seeks by one and checks the others row by
 * row. The position already lies within the filters.
 */
export function subjectRange({ trackerId, since }: TrackerView, query: SubjectQuery): SubjectRange {
  const { after, lastSeenBefore, subjectIdPrefix } = query
  const lastSeenAfter = Math.max(since, query.lastSeenAfter ?? since)
  const conditions = ['tracker_id = ?']
  const values: (string | number)[] = [trackerId]
  const where = (condition: string, ...bound: (string | number)[]) => {
    conditions.push(condition)
    values.push(...bound)
  }
  let order = 'subject_id'
  if (query.sort === 'subjectId') {
    const end = subjectIdPrefix === null ? null : endOfPrefix(subjectIdPrefix)
    if (after) where('subject_id > ?', after.subjectId)
    else if (subjectIdPrefix !== null) where('subject_id >= ?', subjectIdPrefix)
    if (end !== null) where('subject_id < ?', end)
  } else if (query.sort === 'lastSeenAt') {
    order = 'last_seen_at, subject_id'
    if (after && after.lastSeenAt >= since) {
      where('(last_seen_at, subject_id) > (?, ?)', after.lastSeenAt, after.subjectId)
    } else where('last_seen_at >= ?', lastSeenAfter)
    if (lastSeenBefore !== null) where('last_seen_at < ?', lastSeenBefore)
  } else {
    order = 'last_seen_at DESC, subject_id DESC'
    if (after) where('(last_seen_at, subject_id) < (?, ?)', after.lastSeenAt, after.subjectId)
    else if (lastSeenBefore !== null) where('last_seen_at < ?', lastSeenBefore)
    where('last_seen_at >= ?', lastSeenAfter)
  }
  return { conditions: conditions.join(' AND '), values, order }
}
