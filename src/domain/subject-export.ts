import type { Event } from './event.ts'
import type { GiveWay } from './fair-queue.ts'
import type { Session } from './session.ts'
import type { SubjectRecord } from './subject.ts'
import type { TrackerView } from './tracker.ts'

/** A session on its way out. Its attributes are the JSON they are stored as: nobody looks into them. */
export type ExportedSession = Omit<Session, 'attributes'> & { attributes: string }

/** An event on its way out, its properties as JSON. */
export type ExportedEvent = Omit<Event, 'properties'> & { properties: string }

/** A part of an export: the record first, then sessions, then events, oldest first. */
export type ExportPart =
  | { kind: 'record'; record: SubjectRecord }
  | { kind: 'sessions'; rows: ExportedSession[] }
  | { kind: 'events'; rows: ExportedEvent[] }

/** Takes a part of an export; what it throws ends the export. */
export type TakePart = (part: ExportPart) => Promise<void>

export interface ExportStore {
  /**
   * Hands over everything that is stored about a subject, as it is in one snapshot of the store, part by part, each when the one before
   * was taken. `false`, with nothing handed over, when the tracker is not visible to the organisation or the subject holds no data.
   * Does not block other requests; between two slices it gives way. No part that is taken slowly keeps the store from forgetting what
   * is erased: an export goes on without its snapshot, and rejects when the subject has changed too much for that.
   */
  subject(tracker: TrackerView, subjectId: string, take: TakePart, giveWay: GiveWay): Promise<boolean>
}
