import type { ActivityNote, Actor, DataCounts } from './activity.ts'
import type { Instant } from './instant.ts'
import type { AppendedEntry, LedgerGuard } from './ledger.ts'
import type { Page } from './page.ts'
import type { Person, SubjectRef } from './person.ts'
import type { SweepStep } from './retention.ts'

export const requestKinds = ['access', 'erasure'] as const
export type PrivacyRequestKind = (typeof requestKinds)[number]

/** The last three are final: the request is closed. */
export const requestStates = ['open', 'running', 'done', 'rejected', 'cancelled'] as const
export type PrivacyRequestState = (typeof requestStates)[number]

/** The states before a request is closed. */
export const pendingStates = ['open', 'running'] as const satisfies readonly PrivacyRequestState[]

export function isClosed({ state }: Pick<PrivacyRequest, 'state'>): boolean {
  return state !== 'open' && state !== 'running'
}

/** The maximum length of a reference, and of the reason of an extension or a rejection. */
export const maxReferenceLength = 200
export const maxReasonLength = 1_000

/** What a person asked for, from its arrival to its answer. */
export interface PrivacyRequest {
  /** A UUID, unique within the organisation. */
  id: string
  organisationId: string
  kind: PrivacyRequestKind
  state: PrivacyRequestState
  /** The organisation's own name for it, which never names the person. */
  reference: string | null
  receivedAt: Instant
  dueAt: Instant
  extendedAt: Instant | null
  extensionReason: string | null
  closedAt: Instant | null
  rejectionReason: string | null
  /** `null` once the request is closed. */
  person: Person | null
  /** Whether its person names identifiers, not only subjects. Kept after the request is closed. */
  namesIdentifiers: boolean
  /** A keyed digest of what it was created with, to recognise a repetition. */
  contentDigest: string
  createdAt: Instant
  createdBy: Actor
  /** Who started the erasure, and with which HTTP request; `null` until then. */
  startedBy: Actor | null
  requestId: string | null
  /** As of the last search; an open request is searched for again when it is read. */
  found: DataCounts
  erased: DataCounts
  /** When the service last searched for the person during the erasure. */
  searchedAt: Instant | null
  /** How many searches found everything at that time. */
  searches: number
  /** The positions of the identifiers about which a search of the erasure found something. */
  heldIdentifiers: readonly number[]
  /** How many subjects arrived after the last search; `null` until the erasure is done. */
  left: number | null
  /** When the erasure resumes after its starter's budget was spent; otherwise `null`. */
  resumesAt: Instant | null
  /** The member in charge, who may have been removed since the request was closed. */
  assigneeId: string | null
  /** That an open request waits until another member approves its erasure; otherwise `null`. */
  approval: { askedAt: Instant; askedBy: { kind: 'member'; id: string; name: string } } | null
  /** The line of the list that it is from, counted from 1; 0 if it is from no list. */
  listLine: number
}

export type PrivacyRequestRef = Pick<PrivacyRequest, 'organisationId' | 'id'>

export type NewPrivacyRequest = PrivacyRequestRef &
  Pick<
    PrivacyRequest,
    'kind' | 'reference' | 'receivedAt' | 'dueAt' | 'contentDigest' | 'createdAt' | 'createdBy' | 'found'
  > & { person: Person; listLine?: number }

/** A page of requests, soonest due first. */
export interface PrivacyRequestQuery {
  limit: number
  after: PrivacyRequestPosition | null
  /** `pending` is open or running. */
  state: PrivacyRequestState | 'pending' | null
  kind: PrivacyRequestKind | null
  /** The member in charge; `null` for requests without one. Not together with a reference. */
  assigneeId?: string | null
  reference?: string
  isLatestFirst?: boolean
  /** Whether only the first of the requests with the same reference and kind is listed. */
  isGrouped?: boolean
  /** Exclusive. */
  dueBefore: Instant | null
}

export interface PrivacyRequestPosition {
  dueAt: Instant
  id: string
}

/**
 * The outcome of a subject: `gone` if its tracker was deleted first, `stopped` if the request was closed
 * first. `nothing-held` is that of an identifier about which nothing is stored.
 */
export const requestOutcomes = ['waiting', 'erased', 'gone', 'stopped', 'nothing-held'] as const
export type RequestOutcome = (typeof requestOutcomes)[number]

/** A subject to erase. */
export interface RequestSubject extends SubjectRef {
  /** `false` if the person names it, but nothing is stored about it. */
  isHeld: boolean
}

/** A subject or an identifier of a request. Only a waiting subject has an ID. */
export interface RequestItem {
  position: number
  outcome: RequestOutcome
  trackerId: string | null
  /** The name of the identifier, such as `email`, for `nothing-held`. */
  identifier: string | null
  entry: { ledgerIndex: number; sealedNonce: string } | null
}

export interface WaitingSubject extends SubjectRef {
  position: number
}

export interface RequestItemRef {
  request: PrivacyRequestRef
  position: number
}

/** Thrown when the item of an erasure no longer waits in a running request. Nothing was erased. */
export class NotWaiting extends Error {
  override name = 'NotWaiting'

  constructor() {
    super('Nothing waits for the erasure of this data subject any more.')
  }
}

/** What a list of something else says about a request. */
export type NamedRequest = Pick<PrivacyRequest, 'id' | 'reference'>

export interface RequestOfEntry {
  ledgerIndex: number
  sealedNonce: string
  /** The name of the identifier, such as `email`, of an entry that nothing was held. */
  identifier: string | null
  request: NamedRequest
}

/** A closed request in the order of closings. */
export interface ClosedPosition extends PrivacyRequestRef {
  closedAt: Instant
}

/** Distinguishes a request from an earlier one, since swept, with the same ID. */
export interface CreatedRef extends PrivacyRequestRef {
  createdAt: Instant
}

/** How a request ends without an answer. */
export interface RequestClosing {
  from: readonly PrivacyRequestState[]
  to: 'rejected' | 'cancelled'
  now: Instant
  rejectionReason: string | null
}

/** That nothing is held about the person with an identifier, as it is appended to the ledger. */
export interface NothingHeldEntry {
  /** The name of the identifier. */
  name: string
  record: string
  /** Stored with the entry's index, it is enough for `reissueReceipt`; it does not identify the person. */
  sealedNonce: string
}

/** How a request ends as done. */
export interface RequestEnd {
  /** Who ends a running request, after how many searches; `null` to close an open access request. */
  lease: { leaseOwner: string; searches: number } | null
  now: Instant
  /** What the copy contained, or what was hidden; `null` to keep the sum of the searches so far. */
  found: DataCounts | null
  left: number | null
  nothingHeld: readonly NothingHeldEntry[]
  guard: LedgerGuard
}

/**
 * When another process takes over after a crash: longer than a slice plus the erasure of a large subject. A
 * lease that ends later is that of a clock that is ahead, and is not respected.
 */
export const requestLeaseMs = 8_000

export interface RequestLease {
  now: Instant
  until: Instant
  /** No request rests longer than until then, unless a clock was wrong. */
  restsUntil: Instant
  /** The organisation that was served last: the next one is served first. */
  after: string
}

/** What a search of a running request has found. */
export interface RequestSearch {
  subjects: readonly RequestSubject[]
  /** The sum of all searches so far. */
  found: DataCounts
  /** Of all searches so far. */
  heldIdentifiers: readonly number[]
  now: Instant
  /** Whether it found everyone; otherwise there were too many to store at once. */
  isComplete: boolean
}

export interface PrivacyRequestStore {
  /**
   * Stores an open request, with digests that recognise its person after it is closed. Returns `taken` if the
   * organisation has a request with this ID, and `absent` if the organisation does not exist.
   */
  create(
    request: NewPrivacyRequest,
    digests: readonly Uint8Array[],
    note: ActivityNote,
  ): Promise<'created' | 'taken' | 'absent'>
  /** `null` if the organisation has no such request. */
  find(ref: PrivacyRequestRef): Promise<PrivacyRequest | null>
  /** Those of these IDs that the organisation has, in no order. */
  findMany(organisationId: string, ids: readonly string[]): Promise<NamedRequest[]>
  /** Soonest due first; requests due at the same instant are in order of ID. A page holds about 1 MiB. */
  list(
    organisationId: string,
    query: PrivacyRequestQuery,
  ): Promise<Page<PrivacyRequest, PrivacyRequestPosition>>
  /** The requests of a person, by the digests of any of its parts, in any state. Newest first. */
  ofPerson(organisationId: string, digests: readonly Uint8Array[], limit: number): Promise<PrivacyRequest[]>
  /** Postpones a request that is not closed. Returns `false` if it is, or if it was extended before. */
  extend(
    ref: PrivacyRequestRef,
    extension: { dueAt: Instant; reason: string; now: Instant },
    note: ActivityNote,
  ): Promise<boolean>
  /**
   * Closes a request in a state of `from`. Deletes its person and the IDs of waiting subjects in the same
   * transaction. Returns `false` if it is in another state.
   */
  close(ref: PrivacyRequestRef, closing: RequestClosing, note: ActivityNote): Promise<boolean>
  /** Items after a position (-1 for all), in order. */
  items(ref: PrivacyRequestRef, after: number, limit: number): Promise<RequestItem[]>
  /** How many items have no ledger entry. */
  countUnproven(ref: PrivacyRequestRef): Promise<number>
  /** Whether any item has a ledger entry. */
  hasEntries(ref: PrivacyRequestRef): Promise<boolean>
  /** The newest requests of erasures by ledger index. */
  ofEntries(organisationId: string, indexes: readonly number[]): Promise<RequestOfEntry[]>
  /**
   * Leases the next running request, or returns `null`. A lease that has ended is ignored, and so is one that
   * ends too late because its owner's clock was ahead. Serves organisations in turn, and within one the
   * requests of lists last, line by line.
   */
  lease(leaseOwner: string, lease: RequestLease): Promise<PrivacyRequest | null>
  /**
   * Ends a lease and stores the progress. The request is not leased before `runsAt`; a client is told if that
   * is because of a budget.
   */
  release(
    leaseOwner: string,
    ref: PrivacyRequestRef,
    rest: { runsAt: Instant; isBudgetSpent: boolean },
  ): Promise<void>
  /** The next waiting subject, `null` if there is none, `false` if the request or the lease has ended. */
  next(leaseOwner: string, ref: PrivacyRequestRef): Promise<WaitingSubject | null | false>
  /** Settles a waiting item whose tracker was deleted. */
  markTrackerDeleted(ref: PrivacyRequestRef, position: number): Promise<void>
  /**
   * Adds subjects to erase. Returns `false` if subjects still wait, the lease has ended, or the number of
   * searches is no longer `searches`.
   */
  addSubjects(
    leaseOwner: string,
    ref: PrivacyRequestRef,
    searches: number,
    search: RequestSearch,
  ): Promise<boolean>
  /**
   * Closes a request in which no subject waits as done and appends to the ledger that nothing is held, in one
   * transaction; returns these entries. Does nothing and returns `null` if subjects wait, the request or the
   * lease has ended, or the number of searches differs. Rejects with `ForgedLedger` or `ShortLedger`.
   */
  finish(ref: PrivacyRequestRef, end: RequestEnd, note: ActivityNote): Promise<AppendedEntry[] | null>
  /** Closed requests of all organisations after a position, in the order of their closing. */
  listClosed(after: ClosedPosition | null, limit: number): Promise<(ClosedPosition & CreatedRef)[]>
  /**
   * Deletes a closed request that is older than the window of its organisation's activity, or some `maxRows`
   * of its items, in one transaction that also reads the window. Returns how many requests are gone, and
   * whether none can remain.
   */
  sweep(organisationId: string, step: SweepStep): Promise<{ requests: number; isDone: boolean }>
  /** How many requests of an organisation were closed before an instant. */
  countClosedBefore(organisationId: string, before: Instant): Promise<number>
}
