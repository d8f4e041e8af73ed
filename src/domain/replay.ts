import type { DataCounts } from './activity.ts'
import type { JournalledClosing } from './closed-request.ts'
import type { Instant } from './instant.ts'
import type { JournalledEntry, JournalledRevocation, JournalledRotation } from './journal-line.ts'
import type { TombstoneKey } from './keyring.ts'
import type { HeadKeys } from './ledger.ts'

/** All counts are zero if the store had lost nothing. */
export interface Replayed {
  /** Missing ledger entries, and their tombstones. */
  entries: number
  tombstones: number
  /** Entries that were moved after those of the journal to repair a ledger. */
  movedEntries: number
  revokedKeys: number
  rotatedKeys: number
  revokedTokens: number
  rotatedTokens: number
  /** Requests that were open, or missing. */
  closedRequests: number
  /** Data that tombstones refuse. */
  removed: DataCounts
  /** Entries of organisations that the store does not have. */
  entriesOfOthers: number
  /** Sentences about entries that are missing or contradictory. */
  problems: string[]
}

export interface ReplayedInSetBack extends Replayed, EndedWork {}

export interface AppendedEntries {
  /** How many entries were missing. */
  entries: number
  /** How many tombstones were added with them. */
  tombstones: number
  /** How many of the given entries, at the end, conflict with the ledger's own. */
  others: number
}

/**
 * How a ledger continues from an index: these entries, then its own, then the contested ones that it has nowhere
 * else. An entry and one of the ledger's are the same if their records are; both can have several with one record.
 */
export interface MendedTail {
  from: number
  entries: readonly JournalledEntry[]
  contested: readonly JournalledEntry[]
}

/** How many entries and tombstones were added, and how many of the ledger's own entries have a new index. */
export interface MendedLedger {
  entries: number
  tombstones: number
  moved: number
}

/** An item of a request, by its position, that has a ledger entry. */
export interface ItemOfEntry {
  requestId: string
  position: number
  ledgerIndex: number
  sealedNonce: string
}

export interface EndedWork {
  /** Running erasures of requests, which are open again. */
  stoppedErasures: number
  endedSignIns: number
  /** Unused links to set a password. */
  withdrawnLinks: number
  /** Some of them may have been used since. */
  removedRecoveryCodes: number
}

/** Repeats changes that an older copy of the store lacks. Idempotent; not recorded in the activity log. */
export interface ReplayStore {
  /**
   * Appends the missing entries of an organisation's ledger with their tombstones, in one transaction.
   * Indexes must be contiguous and start within the ledger or at its end. Stops at the first entry that
   * conflicts with the ledger's. `null` if there is no such organisation.
   */
  appendEntries(
    organisationId: string,
    entries: readonly JournalledEntry[],
    headKeys: HeadKeys,
  ): Promise<AppendedEntries | null>
  /**
   * Stores the tombstones of entries that conflict with the ledger, in one transaction. Returns how many were
   * new, and how many have no ledger entry.
   */
  addTombstones(
    organisationId: string,
    entries: readonly JournalledEntry[],
  ): Promise<{ added: number; withoutEntry: number }>
  /**
   * Rewrites a ledger from an index on, and the references to its entries, in one transaction. Rejects with
   * `ForgedLedger` if the ledger was changed without the secrets.
   */
  mendLedger(organisationId: string, tail: MendedTail, headKeys: HeadKeys): Promise<MendedLedger>
  /** The items of an organisation's requests that have ledger entries. */
  itemsOfEntries(organisationId: string): Promise<ItemOfEntry[]>
  /** Stores other ledger indexes of items, in one transaction. */
  moveItems(organisationId: string, items: readonly ItemOfEntry[]): Promise<void>
  /** The trackers with tombstones. */
  guardedTrackers(): Promise<string[]>
  /**
   * Deletes all data of a tracker's subjects that tombstones refuse, in one transaction. Later data is kept.
   * Rejects if the store belongs to a secret outside `keys`.
   */
  removeRefused(
    trackerId: string,
    subjectIds: readonly string[],
    keys: readonly TombstoneKey[],
  ): Promise<DataCounts>
  /** Revokes a credential in any state. Returns `false` if it was revoked already or does not exist. */
  revoke(revocation: JournalledRevocation): Promise<boolean>
  /** Returns `false` if the credential was rotated then or later, or does not exist. */
  rotate(rotation: JournalledRotation): Promise<boolean>
  /**
   * Closes a request as the lines of its closing say, in one transaction, and deletes its person, its notes
   * and the IDs of waiting subjects. Creates a missing request if it was closed at `keptSince` or later.
   * Returns `false` if it was closed already, is missing otherwise, or the organisation does not exist.
   */
  closeRequest(lines: readonly JournalledClosing[], keptSince: Instant): Promise<boolean>
  /**
   * Ends what may have ended since the copy was made: opens running requests again and forgets whom they have
   * found, ends all sign-ins and their challenges, withdraws all links and removes all recovery codes.
   */
  endUnfinished(): Promise<EndedWork>
}

/** The index of a tombstone without a ledger entry: negative, so that it matches no entry. */
export function detachedIndex(index: number): number {
  return -1 - index
}
