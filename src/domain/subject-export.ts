import type { Event } from './event.ts'
import type { Session } from './session.ts'
import type { SubjectRecord } from './subject.ts'

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
