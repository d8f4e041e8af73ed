import type { Instant } from './instant.ts'
import type { MaybePromise } from './maybe-promise.ts'
import type { Page } from './page.ts'
import type { SubjectSummary } from './subject.ts'
import type { SubjectIdentifier } from './subject-identifier.ts'

/** What a caller can see of an organisation's trackers. Data older than `since` has aged out. */
export interface OrganisationView {
  organisationId: string
  since: Instant
}

/** Search by an identifier, or by a subject's ID in any tracker. */
export type Sought = { identifier: SubjectIdentifier } | { subjectId: string }

export interface SearchQuery {
  sought: Sought
  limit: number
  after: string | null
}

export interface FoundSubject extends SubjectSummary {
  trackerId: string
}

export interface SearchStore {
  /** Subjects in all trackers, in a stable order. A position is valid for the same search only. */
  subjects(view: OrganisationView, query: SearchQuery): MaybePromise<Page<FoundSubject, string>>
  /** The names of the identifiers in use, sorted, up to `max`. */
  identifierNames(organisationId: string, max: number): Promise<string[]>
}
