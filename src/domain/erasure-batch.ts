import type { ActivityNote, Actor, SubjectCounts } from './activity.ts'
import type { Instant } from './instant.ts'
import type { SubjectIdentifier } from './subject-identifier.ts'

/** What a batch erases: everybody on a list, or one person. */
export const batchKinds = ['list', 'person'] as const
export type BatchKind = (typeof batchKinds)[number]

/** While it runs a batch erases one subject after the other; paused, it waits. The other two are final. */
export type BatchState = 'running' | 'paused' | 'stopped' | 'done'

/**
 * What became of a subject or a line of a batch: it waits, it was erased, its tracker was deleted before its turn came, the batch was
 * stopped before; or nothing is stored of whom the line names, the line is no id or address, or names whom another line names.
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

/** How many lines of a batch were what. Of those that were read, each is one of `lines`, `empty` or `other`. */
export interface BatchLines {
  /** Those that are not empty, of which these are no use. */
  lines: number
  nothing: number
  invalid: number
  repeated: number
  empty: number
  /** Of a CSV file: the line with the names of its columns, and those that begin inside of quotes. */
  other: number
}

/** Erasures that a member asked for together. */
export interface ErasureBatch extends BatchLines {
  id: string
  organisationId: string
  kind: BatchKind
  state: BatchState
  startedBy: Actor
  requestId: string | null
  createdAt: Instant
  /** When it was done or stopped. */
  finishedAt: Instant | null
  /** How many subjects it is to erase, and how many of them have had their turn. */
  subjects: number
  settled: number
  /** What it erased, once it is over. */
  erased: (SubjectCounts & { subjects: number }) | null
  /** Whom it erases; `null` for a list, and once it is over. */
  person: Person | null
  /** When it was looked for data of the person that came in while it ran; `null` when that was not yet, or found nothing. */
  checkedAt: Instant | null
  /** How many subjects the person had when it was done, all of which came in after that; `null` for a list, or before. */
  left: number | null
  /** When it continues: whoever started it has used up their erasures until then. `null` while it does not wait for that. */
  resumesAt: Instant | null
}

/** A batch as it begins: of one person, or else of a list. */
export interface NewBatch
  extends BatchLines,
    Pick<ErasureBatch, 'id' | 'organisationId' | 'startedBy' | 'requestId' | 'createdAt' | 'subjects'> {
  person?: Person
}

/** A subject that waits for its turn, or a line that leads to none. Of the latter only its number is kept. */
export type NewBatchItem =
  | { line: number; outcome: 'waiting'; trackerId: string; subjectId: string }
  | { line: number; outcome: 'nothing' | 'invalid' | 'repeated' }

/** What a report tells of a subject or a line. Who it was stands in the list that the batch was made from, and nowhere else. */
export interface BatchItem {
  position: number
  line: number
  outcome: BatchOutcome
  trackerId: string | null
  /** Of what was erased. */
  erasure: { ledgerIndex: number; sealedNonce: string } | null
}

/** The batch that an erasure was part of. */
export interface BatchOfEntry {
  ledgerIndex: number
  sealedNonce: string
  batch: Pick<ErasureBatch, 'id' | 'kind' | 'subjects'>
}

/** The next subject of a batch. */
export interface WaitingItem {
  position: number
  trackerId: string
  subjectId: string
}

/** An item of a batch. */
export interface BatchItemRef {
  batchId: string
  position: number
}

/** An erasure was for an item that does not wait in a running batch any more. Nothing was erased. */
export class NotWaiting extends Error {
  override name = 'NotWaiting'

  constructor() {
    super('The batch no longer waits for this data subject.')
  }
}

/** A change that a member makes to a batch that is not over. */
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
   * Stores a batch that runs, with its items, those that wait first, and leaves `note` behind. `false`, with nothing stored, when the
   * organisation is not there. The erasure of a subject, whoever asks for it, settles every item that waits for it in the same
   * transaction: its id is gone from the item then.
   */
  create(batch: NewBatch, items: readonly NewBatchItem[], note: ActivityNote): Promise<boolean>
  /** `null` when the organisation has none with this id. */
  find(organisationId: string, id: string): Promise<ErasureBatch | null>
  /** An organisation's batches of a kind, newest first, at most `limit`. */
  list(organisationId: string, kind: BatchKind, limit: number): Promise<ErasureBatch[]>
  /** How many batches of a kind an organisation has that are not over. */
  countOpen(organisationId: string, kind: BatchKind): Promise<number>
  /** The batches that erasures of an organisation were part of, by their entries in its ledger: that of a person before that of a list. */
  ofEntries(organisationId: string, indexes: readonly number[]): Promise<BatchOfEntry[]>
  /** Items behind a place (-1 for all), in their order, at most `limit`. */
  items(batchId: string, after: number, limit: number): Promise<BatchItem[]>
  /**
   * Gives a batch another state and leaves `note` behind. `false`, with nothing changed, when the organisation has none with this id in
   * a state of `from`. One that is stopped forgets who still waited, in the same transaction.
   */
  change(
    batch: Pick<ErasureBatch, 'id' | 'organisationId'>,
    change: BatchChange,
    now: Instant,
    note: ActivityNote,
  ): Promise<boolean>
  /**
   * Leases the next running batch to `leaseOwner` until an instant; `null` when there is none or another owner has it. A lease that
   * has expired is granted again, and so is one of a clock that was ahead by more than a lease. A batch that was released after
   * `steppedBefore` is skipped, unless that is in the future: then it comes first.
   */
  lease(leaseOwner: string, lease: BatchLease): Promise<ErasureBatch | null>
  /** Ends the lease of this owner, so that other batches come first. The batch is not leased again before `resumesAt`. */
  release(leaseOwner: string, id: string, now: Instant, resumesAt?: Instant | null): Promise<void>
  /** The next subject of a running batch leased to this owner. `null` when nobody waits, `false` when the owner has no lease. */
  next(leaseOwner: string, id: string): Promise<WaitingItem | null | false>
  /** Notes that the tracker of a waiting item is not there any more. */
  markTrackerDeleted(id: string, position: number): Promise<void>
  /**
   * Has subjects of its person that came in meanwhile wait in a batch that runs, is leased to this owner and in which nobody waits, and
   * notes when. `false`, with nothing changed, for any other, and for one to which it was done before.
   */
  extend(leaseOwner: string, id: string, subjects: readonly SubjectRef[], now: Instant): Promise<boolean>
  /** Ends a running batch in which nobody waits, forgets its person, and leaves `note` behind. Does nothing to any other. */
  finish(id: string, now: Instant, note: ActivityNote, left?: number | null): Promise<void>
  /** Batches in any organisation that were made before an instant and are not over. */
  listOverdue(before: Instant): Promise<ErasureBatch[]>
  /** Removes about `maxRows` items of batches that ended before an instant, with those batches; tells how many items and batches. */
  sweep(before: Instant, maxRows: number): Promise<number>
}

/** A subject by its ids alone. */
export interface SubjectRef {
  trackerId: string
  subjectId: string
}

/** Whom an erasure is about: everybody who is known by one of these identifiers, and these subjects. */
export interface Person {
  identifiers: readonly SubjectIdentifier[]
  subjects: readonly SubjectRef[]
}
