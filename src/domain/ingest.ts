import type { Instant } from './instant.ts'
import type { TombstoneKey } from './keyring.ts'
import type { Attributes } from './subject.ts'

/** What a row says its subject is known by: values by name. */
export type IncomingIdentifiers = Record<string, string>

/** A session as it was collected. */
export interface IncomingSession {
  type: 'session'
  trackerId: string
  subjectId: string
  sessionId: string
  startedAt: Instant
  endedAt: Instant
  attributes: Attributes
  identifiers?: IncomingIdentifiers
}

/** An event as it was collected. */
export interface IncomingEvent {
  type: 'event'
  trackerId: string
  subjectId: string
  sessionId: string
  eventId: string
  name: string
  occurredAt: Instant
  properties: Attributes
  identifiers?: IncomingIdentifiers
}

export type IncomingRow = IncomingSession | IncomingEvent

/** What a batch added; rows that were there already add nothing. */
export interface IngestCounts {
  subjects: number
  sessions: number
  events: number
}

export interface IngestResult extends IngestCounts {
  /** How many rows were left out of each tracker that is not there, as one deleted a moment ago. */
  refused?: { trackerId: string; rows: number }[]
  /** How many rows were left out because they happened before their subject was erased. */
  ofErased?: number
}

/** Why a line is not stored: it cannot be read or names no tracker, has aged out, or is of somebody who was erased since. */
export const refusalReasons = ['bad', 'of_erased', 'too_old'] as const

/** How many lines were refused, for each reason. */
export type RefusedLines = Readonly<Record<(typeof refusalReasons)[number], number>>

export interface IngestStore {
  /**
   * Stores a batch in one transaction, in whatever order its rows come. An event of an unknown session opens it. A session's span is
   * the union of all that was said of it, its attributes are those of the row with the latest end (of equal ends, the greater JSON
   * text). Storing a row twice changes nothing the second time; of two events with one id and instant the first stays. What
   * rows say a subject is known by is added to what it is known by, also by rows that were there before. Rows of a tracker that is not there are left out, and told; so are rows of a subject with a tombstone, made with any of these keys, that
   * happened (a session: that began) no later than it says. Beside an erasure of the subject, whichever comes first, none is left.
   * Rejects, with nothing stored, when the store belongs to a secret that none of the keys comes from.
   */
  ingest(batch: readonly IncomingRow[], keys: readonly TombstoneKey[]): Promise<IngestResult>
  /** Adds to what `refusedLines` tells, in a transaction of its own. */
  countRefused(lines: RefusedLines): Promise<void>
  /** How many lines have been counted as refused since the store was made, by whatever process. */
  refusedLines(): Promise<RefusedLines>
}
