import type { ActivityNote, Actor } from './activity.ts'
import { dayMs, type Instant } from './instant.ts'
import type { PrivacyRequestRef } from './privacy-request.ts'

// What members record about a request while they handle it: who is in charge, notes, and the records that do
// not belong to the person.

/** May name the person, so closing the request deletes it. */
export interface RequestNote {
  id: string
  at: Instant
  by: Actor
  text: string
}

/** A subject that a member excluded: a search of the request leaves it out. */
export interface RequestExclusion {
  /** A keyed digest of the subject, which remains after the request is closed. */
  digest: Uint8Array
  trackerId: string
  reason: string
  at: Instant
  by: Actor
}

export const maxNoteLength = 2_000
export const maxNotes = 100
export const maxExclusionReasonLength = 500
export const maxExclusions = 200

/** How long before its deadline a request is due soon. */
export const dueSoonMs = 7 * dayMs

/** How many requests are not closed: all, those due soon, those overdue, and those of one member. */
export interface OpenRequestCounts {
  open: number
  dueSoon: number
  overdue: number
  mine: number
}

/** Each count stops at this number. */
export const maxOpenCount = 10_000

export interface RequestHandlingStore {
  /** Puts a member in charge, or nobody. A removed member is in charge of nothing. */
  assign(
    ref: PrivacyRequestRef,
    memberId: string | null,
    note: ActivityNote,
  ): Promise<'assigned' | 'closed' | 'no-member'>
  /** Oldest first; empty once the request is closed. */
  notes(ref: PrivacyRequestRef): Promise<RequestNote[]>
  addNote(
    ref: PrivacyRequestRef,
    added: RequestNote,
    note: ActivityNote,
  ): Promise<'added' | 'closed' | 'too-many'>
  /** Returns `false`, and stores no `note`, if there is no such note. */
  deleteNote(ref: PrivacyRequestRef, id: string, note: ActivityNote): Promise<boolean>
  /** Oldest first. */
  exclusions(ref: PrivacyRequestRef): Promise<RequestExclusion[]>
  /** Only while the request is open. `digests` are those of the subject under every secret. */
  exclude(
    ref: PrivacyRequestRef,
    excluded: Omit<RequestExclusion, 'digest'>,
    digests: readonly [Uint8Array, ...Uint8Array[]],
    note: ActivityNote,
  ): Promise<'excluded' | 'not-open' | 'too-many' | 'already'>
  /** Only while the request is open. `absent` if the subject is not excluded. */
  include(
    ref: PrivacyRequestRef,
    digests: readonly Uint8Array[],
    note: ActivityNote,
  ): Promise<'included' | 'not-open' | 'absent'>
  /** The stored digests of the request's person. */
  personDigests(ref: PrivacyRequestRef): Promise<Uint8Array[]>
  /** Those due before `today` are overdue; those due before `soon` are due soon. */
  countOpen(
    organisationId: string,
    memberId: string,
    today: Instant,
    soon: Instant,
  ): Promise<OpenRequestCounts>
}
