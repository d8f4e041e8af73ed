import type { Instant } from './instant.ts'
import type { Page } from './page.ts'
import type { Attributes } from './session.ts'
import type { BroughtIdentifier } from './subject-identifier.ts'
import type { TrackerView } from './tracker.ts'

/** What may say who its subject is: a session by its attributes, an event by its properties. */
export type SourceKind = 'session' | 'event'

/** A stored row that may. */
export interface SourceRow {
  /** Of the session or the event. */
  id: string
  /** When the event happened; of a session, the end that its attributes were said with. */
  at: Instant
  /** The attributes or properties; `null` where none of the fields is in them, or where they have aged out. */
  facts: Attributes | null
}

export interface SourceQuery {
  subjectId: string
  kind: SourceKind
  /** The names of attributes or properties that matter. */
  fields: readonly string[]
  /** The last row of the page before. */
  after: SourceRow | null
}

/** An identifier that is made out of a stored row. */
export interface DerivedIdentifier extends BroughtIdentifier {
  subjectId: string
  kind: SourceKind
  /** Of that row, which happened at `broughtAt`. */
  sourceId: string
}

/** How many identifiers are new, and how many live longer than before. */
export interface DerivedCounts {
  added: number
  renewed: number
}

export interface DerivationStore {
  /** The next rows of a subject, in the order in which they are stored. The last page may be empty. */
  rows(tracker: TrackerView, query: SourceQuery): Promise<Page<SourceRow, SourceRow>>
  /** Those of some identifiers that a subject is not known by yet, or by older data alone, and how many of each there are. */
  missing(
    tracker: TrackerView,
    derived: readonly DerivedIdentifier[],
  ): Promise<{ missing: DerivedIdentifier[]; counts: DerivedCounts }>
  /**
   * Keeps identifiers, in one transaction, as an import would have with the rows that they come from. Not those whose row is gone:
   * beside an erasure of the subject, whichever comes first, none is left. Nothing happens to a tracker that is not visible.
   */
  add(tracker: TrackerView, derived: readonly DerivedIdentifier[]): Promise<DerivedCounts>
}
