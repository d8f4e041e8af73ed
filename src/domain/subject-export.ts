import { hash } from 'node:crypto'
import type { GiveWay } from './semaphore.ts'
import type { Event, Session } from './session.ts'
import type { SubjectRecord } from './subject.ts'
import type { TrackerView } from './tracker.ts'

/** A session with its attributes as stored JSON, which an export passes through. */
export type ExportedSession = Omit<Session, 'attributes'> & { attributes: string }

/** An event with its properties as stored JSON. */
export type ExportedEvent = Omit<Event, 'properties'> & { properties: string }

/** The record comes first, then sessions, then events, oldest first. */
export type ExportPart =
  | { kind: 'record'; record: SubjectRecord }
  | { kind: 'sessions'; rows: ExportedSession[] }
  | { kind: 'events'; rows: ExportedEvent[] }

/** If it throws, the export ends. */
export type TakePart = (part: ExportPart) => Promise<void>

export interface ExportStore {
  /**
   * Passes a subject's data to `take`, part by part, from one snapshot. Returns `false` if the tracker is not
   * visible or the subject holds no data. A slow `take` does not keep erased data in the store: the export
   * then continues without its snapshot, and rejects if the subject has changed too much.
   */
  subject(tracker: TrackerView, subjectId: string, take: TakePart, giveWay: GiveWay): Promise<boolean>
}

const maxPartLength = 60

/** Valid on every system: both IDs in safe characters, and a hash prefix that makes the name unique. */
export function exportFileName(trackerId: string, subjectId: string): string {
  const mark = hash('sha256', `${trackerId}\0${subjectId}`).slice(0, 8)
  return `${safeFileName(trackerId)}_${safeFileName(subjectId)}_${mark}.json`
}

/** The part of an ID that is valid in file names on every system; possibly empty. */
export function safeFileName(id: string): string {
  return id
    .replaceAll(/[^A-Za-z0-9._-]+/g, '-')
    .replace(/^[.-]+/, '')
    .slice(0, maxPartLength)
}
