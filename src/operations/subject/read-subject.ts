import { notFound } from '../../domain/errors.ts'
import { andThen, type MaybePromise } from '../../domain/maybe-promise.ts'
import type { SubjectRecord, SubjectStore } from '../../domain/subject.ts'
import type { TrackerView } from '../../domain/tracker.ts'

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
