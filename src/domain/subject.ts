import { hash } from 'node:crypto'
import type { ActivityNote, SubjectCounts } from './activity.ts'
import type { Instant } from './instant.ts'
import type { LedgerGuard } from './ledger.ts'
import type { MaybePromise } from './maybe-promise.ts'
import type { InclusionProof, TreeHead } from './merkle-tree.ts'
import type { Page } from './page.ts'
import type { RequestItemRef } from './privacy-request.ts'
import type { Attributes } from './session.ts'
import type { SubjectIdentifier } from './subject-identifier.ts'
import type { TrackerView } from './tracker.ts'

/** A subject as shown in lists. A subject without data does not exist. */
export interface SubjectSummary {
  subjectId: string
  firstSeenAt: Instant
  lastSeenAt: Instant
  counts: SubjectCounts
}

/** The stored record of a subject; `attributes` are those of its newest session. */
export interface SubjectRecord extends SubjectSummary {
  /** Sorted by name, then value. An identifier is kept as long as the newest data that contained it. */
  identifiers: SubjectIdentifier[]
  attributes: Attributes
}

export const subjectSorts = ['subjectId', 'lastSeenAt', '-lastSeenAt'] as const
export type SubjectSort = (typeof subjectSorts)[number]

export interface SubjectPosition {
  subjectId: string
  lastSeenAt: Instant
}

/** IDs are in code point order. Bounds require a `lastSeenAt` sort, and the prefix requires `subjectId`. */
export interface SubjectQuery {
  sort: SubjectSort
  limit: number
  after: SubjectPosition | null
  subjectIdPrefix: string | null
  /** Inclusive. */
  lastSeenAfter: Instant | null
  /** Exclusive. */
  lastSeenBefore: Instant | null
}

/** What an erasure stores about its subject. Without the installation's secrets, it identifies nobody. */
export interface ErasureMark {
  erasedAt: Instant
  /** For the tombstone. */
  digest: Uint8Array
  /** For the ledger entry. */
  commitment: string
  /** For waiting items of requests, whose certificates produce receipts from it. */
  sealedNonce: string
  guard: LedgerGuard
}

interface ErasureOptions {
  /** May be called before the head is stored, so that it can be signed meanwhile. */
  onHead?: ((head: TreeHead) => void) | undefined
  /** The item that the erasure is for. */
  item?: RequestItemRef | undefined
}

/** What an erasure deleted, and its ledger entry. */
export interface ErasedSubject {
  counts: SubjectCounts
  record: string
  proof: InclusionProof
  /** Of its tombstone. */
  refusedUntil: Instant
}

export interface SubjectStore {
  /** `null` if the tracker is not visible. */
  list(tracker: TrackerView, query: SubjectQuery): MaybePromise<Page<SubjectSummary, SubjectPosition> | null>
  /** The number of subjects, counted up to `max`. `null` if the tracker is not visible. */
  count(tracker: TrackerView, max: number): Promise<number | null>
  /** `null` if the tracker is not visible or the subject holds no data. */
  read(tracker: TrackerView, subjectId: string): MaybePromise<SubjectRecord | null>
  /**
   * Deletes a subject's data in one transaction, which also stores a tombstone, a ledger entry and `note`,
   * even if nothing was held, and settles waiting items. Counts only visible data. `null` if the
   * tracker is not visible. Rejects with `ForgedLedger`, `ShortLedger` or `NotWaiting`; nothing changes then.
   */
  erase(
    tracker: TrackerView,
    subjectId: string,
    mark: ErasureMark,
    note?: ActivityNote,
    options?: ErasureOptions,
  ): Promise<ErasedSubject | null>
}

/**
 * Key of a subject's rows on every engine: the first 16 bytes of SHA-256 over tracker ID, NUL and subject ID.
 * The NUL, which IDs cannot contain, separates ('a', 'bc') from ('ab', 'c').
 */
export function subjectKey(trackerId: string, subjectId: string): Uint8Array {
  return hash('sha256', `${trackerId}\0${subjectId}`, 'buffer').subarray(0, 16)
}
