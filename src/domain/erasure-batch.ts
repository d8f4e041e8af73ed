import type { ActivityNote, Actor, SubjectCounts } from './activity.ts'
import type { Instant } from './instant.ts'
import type { Person, SubjectRef } from './person.ts'

/** A batch erases everyone on a list, or one person. */
export const batchKinds = ['list', 'person'] as const
export type BatchKind = (typeof batchKinds)[number]

/** `stopped` and `done` are final. */
export type BatchState = 'running' | 'paused' | 'stopped' | 'done'

/**
 * The outcome of a subject or a line: `gone` if the tracker was deleted first, `nothing` if no data matches
 * the line, `invalid` if the line is no ID or address, `repeated` if an earlier line names the same subject.
 */
export const batchOutcomes = [
  'waiting',
  'erased',
  'gone',
  'stopped',
  'nothing',
  'invalid',
  'repeated',
] as const
export type BatchOutcome = (typeof batchOutcomes)[number]

/** Counts of lines. Each line read is counted in exactly one of `lines`, `empty` and `other`. */
export interface BatchLines {
  /** Lines that are not empty, including the three kinds below. */
  lines: number
  nothing: number
  invalid: number
  repeated: number
  empty: number
  /** In a CSV file: the header, and lines that begin inside quotes. */
  other: number
}

/** Erasures that a member requested together. */
export interface ErasureBatch extends BatchLines {
  id: string
  organisationId: string
  kind: BatchKind
  state: BatchState
  startedBy: Actor
  requestId: string | null
  createdAt: Instant
  finishedAt: Instant | null
  /** How many subjects the batch erases, and how many of them are settled. */
  subjects: number
  settled: number
  /** `null` until the batch ends. */
  erased: (SubjectCounts & { subjects: number }) | null
  /** `null` for a list, and after the batch ends. */
  person: Person | null
  /** When data of the person that arrived during the batch was added; `null` if there was none so far. */
  checkedAt: Instant | null
  /** How many subjects of the person arrived after the last search; `null` for a list, and until done. */
  left: number | null
  /** When the batch resumes after its starter's erasure budget was spent; otherwise `null`. */
  resumesAt: Instant | null
}

/** A new batch: of `person` if given, otherwise of a list. */
export interface NewBatch
  extends BatchLines,
    Pick<ErasureBatch, 'id' | 'organisationId' | 'startedBy' | 'requestId' | 'createdAt' | 'subjects'> {
  person?: Person
}

/** A subject to erase, or a line without one, of which only the number is kept. */
export type NewBatchItem =
  | { line: number; outcome: 'waiting'; trackerId: string; subjectId: string }
  | { line: number; outcome: 'nothing' | 'invalid' | 'repeated' }

/** What a report says about a subject or a line. Who it was is recorded only in the member's own list. */
export interface BatchItem {
  position: number
  line: number
  outcome: BatchOutcome
  trackerId: string | null
  erasure: { ledgerIndex: number; sealedNonce: string } | null
}

export interface BatchOfEntry {
  ledgerIndex: number
  sealedNonce: string
  batch: Pick<ErasureBatch, 'id' | 'kind' | 'subjects'>
}

export interface WaitingItem {
  position: number
  trackerId: string
  subjectId: string
}

export interface BatchItemRef {
  batchId: string
  position: number
}

/** Thrown when the item of an erasure no longer waits in a running batch or request. Nothing was erased. */
export class NotWaiting extends Error {
  override name = 'NotWaiting'

  constructor() {
    super('Nothing waits for the erasure of this data subject any more.')
  }
}

export interface BatchChange {
  from: readonly BatchState[]
  to: BatchState
}

export interface BatchLease {
  now: Instant
  until: Instant
  steppedBefore: Instant
}

export interface ErasureBatchStore {
  /**
   * Stores a running batch with its items, waiting ones first. Returns `false` if the organisation does not
   * exist. Any erasure of a subject settles the waiting items for it in its own transaction, and removes the
   * subject's ID from them.
   */
  create(batch: NewBatch, items: readonly NewBatchItem[], note: ActivityNote): Promise<boolean>
  /** `null` if the organisation has no such batch. */
  find(organisationId: string, id: string): Promise<ErasureBatch | null>
  /** Newest first. */
  list(organisationId: string, kind: BatchKind, limit: number): Promise<ErasureBatch[]>
  /** How many batches of a kind are running or paused. */
  countOpen(organisationId: string, kind: BatchKind): Promise<number>
  /** The batches of erasures by ledger index; a person's batch comes before a list. */
  ofEntries(organisationId: string, indexes: readonly number[]): Promise<BatchOfEntry[]>
  /** Items after a position (-1 for all), in order. */
  items(batchId: string, after: number, limit: number): Promise<BatchItem[]>
  /**
   * Changes a batch from a state in `from`. Returns `false` if the organisation has no such batch. Stopping a
   * batch deletes the IDs of the subjects that still wait, in the same transaction.
   */
  change(
    batch: Pick<ErasureBatch, 'id' | 'organisationId'>,
    change: BatchChange,
    now: Instant,
    note: ActivityNote,
  ): Promise<boolean>
  /**
   * Leases the next running batch, or returns `null`. A lease that has ended is ignored, and so is one that
   * ends too late because its owner's clock was ahead. Skips batches released after `steppedBefore`, but
   * takes one with a release in the future first.
   */
  lease(leaseOwner: string, lease: BatchLease): Promise<ErasureBatch | null>
  /** Ends a lease, so that other batches are served first. The batch is not leased before `resumesAt`. */
  release(leaseOwner: string, id: string, now: Instant, resumesAt?: Instant | null): Promise<void>
  /** The next waiting subject, `null` if there is none, `false` if the batch or the lease has ended. */
  next(leaseOwner: string, id: string): Promise<WaitingItem | null | false>
  /** Settles a waiting item whose tracker was deleted. */
  markTrackerDeleted(id: string, position: number): Promise<void>
  /**
   * Adds subjects of the person that arrived during the batch, and stores when. Returns `false` if subjects
   * still wait, the lease has ended, or this was done before.
   */
  extend(leaseOwner: string, id: string, subjects: readonly SubjectRef[], now: Instant): Promise<boolean>
  /** Ends a running batch in which no subject waits, and deletes its person. Otherwise does nothing. */
  finish(id: string, now: Instant, note: ActivityNote, left?: number | null): Promise<void>
  /** Batches of any organisation that were created before an instant and have not ended. */
  listOverdue(before: Instant): Promise<ErasureBatch[]>
  /** Deletes about `maxRows` items of batches that ended before an instant, then the batches. */
  sweep(before: Instant, maxRows: number): Promise<number>
}
