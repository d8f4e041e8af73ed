import type { ActivityNote, Actor, DataCounts } from './activity.ts'
import type { Instant } from './instant.ts'
import type { Person } from './person.ts'
import type {
  NewPrivacyRequest,
  PrivacyRequestKind,
  PrivacyRequestRef,
  PrivacyRequestState,
  RequestClosing,
} from './privacy-request.ts'

/** The requests of an organisation with the same reference, such as those of everyone on a list. */
export interface RequestGroup {
  reference: string
  counts: Record<PrivacyRequestState, number>
  /** How many are open erasures, which can be started. */
  startable: number
  /** How many wait until another member approves their erasure. */
  waiting: number
  /** How many of those this member asked for. */
  ownWaiting: number
  /** How many are access requests. */
  access: number
  found: DataCounts
  /** What requests have erased, apart from those that a process works on now. */
  erased: DataCounts
  firstReceivedAt: Instant
  /** When the last one was closed; `null` while one is not. */
  closedAt: Instant | null
  /** When the first of those that wait for a budget resumes; `null` if none does, or others run. */
  resumesAt: Instant | null
}

/** A request to store, with the digests that recognise its person after it is closed. */
export interface RequestCreation {
  request: NewPrivacyRequest
  digests: readonly Uint8Array[]
  note: ActivityNote
}

export interface RequestStart {
  ref: PrivacyRequestRef
  starter: { startedBy: Actor; requestId: string | null; found: DataCounts }
  note: ActivityNote
}

/** How many requests one transaction changes, so that others hardly wait for it. */
export const requestsPerTransaction = 250

/** What a list needs to know about a request that it created before. */
export interface KnownRequest {
  state: PrivacyRequestState
  /** How many data subjects it found. */
  subjects: number
  /** `null` once it is closed. */
  person: Person | null
}

export interface RequestGroupStore {
  /** `null` if the organisation has no request with this reference. `ownWaiting` is 0 without a member. */
  find(organisationId: string, reference: string, memberId?: string): Promise<RequestGroup | null>
  /** How many requests with this reference are in one of these states, by kind. */
  sizes(
    organisationId: string,
    reference: string,
    states: readonly PrivacyRequestState[],
  ): Promise<Record<PrivacyRequestKind, number>>
  /** The requests with these IDs, by ID; those that do not exist are missing. */
  known(organisationId: string, ids: readonly string[]): Promise<Map<string, KnownRequest>>
  /** Stores open requests in one transaction; those whose IDs are taken stay as they are. Returns `false` if
   * the organisation does not exist. */
  create(organisationId: string, creations: readonly RequestCreation[]): Promise<boolean>
  /**
   * Makes requests run, in one transaction, and returns how many of them did. If a member would then have
   * started the erasure of more people in a day than the rule allows, those that are open wait for an
   * approval instead. `people` is how many the member erases with one action, of which `started` have begun.
   */
  start(
    starts: readonly RequestStart[],
    action?: { people: number; started: number },
  ): Promise<{ started: number; waiting: number }>
  /** Closes requests as `PrivacyRequestStore.close` does, in one transaction, and returns how many. */
  close(
    closings: readonly { ref: PrivacyRequestRef; note: ActivityNote }[],
    closing: RequestClosing,
  ): Promise<number>
}
