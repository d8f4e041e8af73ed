import { hash } from 'node:crypto'
import type { ActivityNote, SubjectCounts } from './activity.ts'
import type { BatchItemRef } from './erasure-batch.ts'
import type { Instant } from './instant.ts'
import type { LedgerGuard } from './ledger.ts'
import type { MaybePromise } from './maybe-promise.ts'
import type { InclusionProof, TreeHead } from './merkle-tree.ts'
import type { Page } from './page.ts'
import type { Attributes } from './session.ts'
import type { SubjectIdentifier } from './subject-identifier.ts'
import type { TrackerView } from './tracker.ts'

/** A visitor of a tracker, as lists show it. A subject without data does not exist. */
export interface SubjectSummary {
  subjectId: string
  firstSeenAt: Instant
  lastSeenAt: Instant
  counts: SubjectCounts
}

/** What is stored about one subject; `attributes` are those of its newest session. */
export interface SubjectRecord extends SubjectSummary {
  /** In the order of names, then values. One lives as long as the newest data that brought it. */
  identifiers: SubjectIdentifier[]
  attributes: Attributes
}

export const subjectSorts = ['subjectId', 'lastSeenAt', '-lastSeenAt'] as const
export type SubjectSort = (typeof subjectSorts)[number]

export interface SubjectPosition {
  subjectId: string
  lastSeenAt: Instant
}

/** A page to read. Ids order by their code points. The bounds on last seen go with a `lastSeenAt` sort, the prefix with `subjectId`. */
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

/** What an erasure is to leave behind of its subject, which tells nobody without the installation's secrets who it was. */
export interface ErasureMark {
  erasedAt: Instant
  /** For the tombstone. */
  digest: Uint8Array
  /** For the entry of the ledger. */
  commitment: string
  /** For the items of batches that wait for it: what their reports make the receipt of. */
  sealedNonce: string
  /** What the ledger must be for the entry to be appended. */
  guard: LedgerGuard
}

interface ErasureOptions {
  /** May be told of the ledger's head before it is stored, so that the head is signed meanwhile. */
  onHead?: ((head: TreeHead) => void) | undefined
  /** The item of a batch that it is for. */
  item?: BatchItemRef | undefined
}

/** What was deleted of a subject, and the entry of the ledger that tells of it. */
export interface ErasedSubject {
  counts: SubjectCounts
  record: string
  proof: InclusionProof
  /** Of its tombstone. */
  refusedUntil: Instant
}

export interface SubjectStore {
  /** `null` when the tracker is not visible to the organisation. */
  list(tracker: TrackerView, query: SubjectQuery): MaybePromise<Page<SubjectSummary, SubjectPosition> | null>
  /** How many there are, counted no further than `atMost`. `null` when the tracker is not visible to the organisation. */
  count(tracker: TrackerView, atMost: number): Promise<number | null>
  /** `null` when the tracker is not visible to the organisation or the subject holds no data. */
  read(tracker: TrackerView, subjectId: string): MaybePromise<SubjectRecord | null>
  /**
   * Deletes a subject with all its sessions, events and identifiers in one transaction, and tells what of it was still to be seen:
   * zeros when nothing was. `null`, with nothing deleted, when the tracker is not visible to the organisation. Leaves behind in the
   * same transaction, zeros or not: a tombstone, an entry of the organisation's ledger, and `note` with the counts. Items of batches
   * that wait for it are settled with it. Rejects, with nothing deleted, with `ForgedLedger` or `ShortLedger` when the ledger was changed
   * without the secrets or set back, and with `NotWaiting` when it is for an item that does not wait in a running batch. Does not block
   * other requests.
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
 * The compact key that sessions and events hang on: the first 16 bytes of SHA-256 over tracker id, NUL, subject id. The same on
 * every engine. Ids hold no control characters, so the NUL keeps ('a', 'bc') and ('ab', 'c') apart.
 */
export function subjectKey(trackerId: string, subjectId: string): Uint8Array {
  return hash('sha256', `${trackerId}\0${subjectId}`, 'buffer').subarray(0, 16)
}
