import type { ActivityNote } from '../domain/activity.ts'
import type { BatchItemRef } from '../domain/erasure-batch.ts'
import type { ErasureMark } from '../domain/subject.ts'
import type { TrackerView } from '../domain/tracker.ts'

/** What is asked of a store when a subject is to be erased. */
export interface SubjectErasure {
  view: TrackerView
  subjectId: string
  mark: ErasureMark
  note?: ActivityNote | undefined
  /** It is done only while this item waits. */
  item?: BatchItemRef | undefined
}
