import type { Instant } from './instant.ts'
import type { MaybePromise } from './maybe-promise.ts'
import type { Page } from './page.ts'
import type { SubjectSummary } from './subject.ts'
import type { SubjectIdentifier } from './subject-identifier.ts'

/** What a caller sees of all trackers of its organisation: what is older than `since` has aged out and is not there. */
export interface OrganisationView {
  organisationId: string
  since: Instant
}

/** Whom somebody looks for: whoever is known by an identifier, or a subject's id in whichever tracker. */
export type Sought = { identifier: SubjectIdentifier } | { subjectId: string }

/** A page to read, behind a position. */
export interface SearchQuery {
  sought: Sought
  limit: number
  after: string | null
}

export interface FoundSubject extends SubjectSummary {
  trackerId: string
}

export interface SearchStore {
  /** Subjects in all trackers of an organisation, in an order that stays; a position is good for the same search alone. */
  subjects(view: OrganisationView, query: SearchQuery): MaybePromise<Page<FoundSubject, string>>
  /** The names of identifiers that people of an organisation are or were known by, in their order, up to `atMost`. */
  identifierNames(organisationId: string, atMost: number): Promise<string[]>
}
