import { hash } from 'node:crypto'
import type { GiveWay } from './semaphore.ts'
import type { Event, Session } from './session.ts'
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

const maxPartLength = 60

/**
 * The name of a file for an export, which tells whose it is and is good on every system: letters, digits, dots, dashes and underscores
 * of both ids, and the beginning of their hash, which keeps the names of two subjects apart.
 */
export function exportFileName(trackerId: string, subjectId: string): string {
  const mark = hash('sha256', `${trackerId}\0${subjectId}`).slice(0, 8)
  return `${safe(trackerId)}_${safe(subjectId)}_${mark}.json`
}

function safe(id: string): string {
  return id
    .replaceAll(/[^A-Za-z0-9._-]+/g, '-')
    .replace(/^[.-]+/, '')
    .slice(0, maxPartLength)
}
