import type { Instant } from './instant.ts'
import type { Page } from './page.ts'
import type { Attributes } from './session.ts'
import type { BroughtIdentifier } from './subject-identifier.ts'
import type { TrackerView } from './tracker.ts'

/** Attributes of sessions and properties of events can contain identifiers. */
export type SourceKind = 'session' | 'event'

export interface SourceRow {
  /** The ID of the session or event. */
  id: string
  /** When the event occurred, or the end of the session that set its attributes. */
  at: Instant
  /** The attributes or properties; `null` if they contain none of the fields or have aged out. */
  facts: Attributes | null
}

export interface SourceQuery {
  subjectId: string
  kind: SourceKind
  fields: readonly string[]
  after: SourceRow | null
}

/** An identifier derived from a stored row. */
export interface DerivedIdentifier extends BroughtIdentifier {
  subjectId: string
  kind: SourceKind
  sourceId: string
}

/** How many identifiers are new, and how many are now kept longer. */
export interface DerivedCounts {
  added: number
  renewed: number
  /** New ones of subjects that cannot have more. */
  refused?: number
}

export interface DerivationStore {
  /** Rows of a subject in storage order. The last page may be empty. */
  rows(tracker: TrackerView, query: SourceQuery): Promise<Page<SourceRow, SourceRow>>
  /** The identifiers that a subject does not have yet but can have, or has only from older data. */
  missing(
    tracker: TrackerView,
    derived: readonly DerivedIdentifier[],
  ): Promise<{ missing: DerivedIdentifier[]; counts: DerivedCounts }>
  /**
   * Stores identifiers in one transaction, as if imported with their rows. Skips identifiers whose row no
   * longer exists, so none survives an erasure. Does nothing if the tracker is not visible.
   */
  add(tracker: TrackerView, derived: readonly DerivedIdentifier[]): Promise<DerivedCounts>
}
