import type { KeyProof } from './api-key.ts'
import type { Instant } from './instant.ts'
import type { JournalledErasure } from './journal-line.ts'
import type { TombstoneKey } from './keyring.ts'
import type { HeadKeys } from './ledger.ts'
import type { SweptCounts } from './retention.ts'

/** What a replay did. All zeros when the store had forgotten nothing. */
export interface Replayed {
  /** Entries of ledgers that were missing, and the tombstones that came with them. */
  entries: number
  tombstones: number
  /** Entries that were moved behind those of the journal, to mend a ledger. */
  movedEntries: number
  revokedKeys: number
  rotatedKeys: number
  /** What tombstones refuse, and the store held. */
  removed: SweptCounts
  /** Entries of organisations that the store does not have. */
  entriesOfOthers: number
  /** What could not be done because something is missing or contradictory, each in a sentence. */
  problems: string[]
}

/** What was done to a store that was set back. */
export interface ReplayedInSetBack extends Replayed, EndedAccess {
  /** Batches of erasures that were not over when it was copied. */
  stoppedBatches: number
}

/** What happened to a ledger's entries. */
export interface AppendedEntries {
  /** How many were missing. */
  entries: number
  /** How many tombstones came with those. */
  tombstones: number
  /** How many, at the end of those that were handed over, do not fit: the ledger holds another entry in the place of the first. */
  others: number
}

/** How a ledger is to go on from an index: with these entries, then its own, then the contested ones; each of them once. */
export interface MendedTail {
  from: number
  entries: readonly JournalledErasure[]
  contested: readonly JournalledErasure[]
}

/** What became of a ledger: how many entries and tombstones are new, and how many of its own entries have another index now. */
export interface MendedLedger {
  entries: number
  tombstones: number
  moved: number
}

/** What was taken away from members of a store that was set back. */
export interface EndedAccess {
  endedSignIns: number
  /** Links to set a password, of an invitation or a reset, that were not used yet. */
  withdrawnLinks: number
}

/**
 * Does once more what a store has forgotten because it is older than it was. Nothing of it leaves an entry in the ledger or in the
 * activity, and done again it changes nothing.
 */
export interface ReplayStore {
  /**
   * Appends those of an organisation's entries that its ledger lacks, with their tombstones, in one transaction. They come in the order
   * of their indexes, without gaps, and begin no later than the ledger ends. From the first on in whose place the ledger holds another
   * entry, nothing is done. `null` when the organisation is not there.
   */
  appendEntries(
    organisationId: string,
    entries: readonly JournalledErasure[],
    headKeys: HeadKeys,
  ): Promise<AppendedEntries | null>
  /**
   * Stores the tombstones of entries that do not fit into the ledger, in one transaction. Tells how many were not there yet, and how
   * many guard without an entry of the ledger.
   */
  addTombstones(
    organisationId: string,
    entries: readonly JournalledErasure[],
  ): Promise<{ added: number; withoutEntry: number }>
  /**
   * Writes a ledger again from an index on, in one transaction, and moves what refers to its entries along. Rejects with `ForgedLedger`
   * when the ledger was changed without the secrets.
   */
  mendLedger(organisationId: string, tail: MendedTail, headKeys: HeadKeys): Promise<MendedLedger>
  /** The trackers that have tombstones. */
  guardedTrackers(): Promise<string[]>
  /**
   * Deletes of subjects of a tracker all that their tombstones refuse, in one transaction, and tells how much that was. What happened
   * later stays. Rejects, with nothing deleted, when the store belongs to a secret that none of the keys comes from.
   */
  removeRefused(
    trackerId: string,
    subjectIds: readonly string[],
    keys: readonly TombstoneKey[],
  ): Promise<SweptCounts>
  /** Revokes a key in whatever state. `false` when it is revoked already or not there. */
  revokeKey(id: string, at: Instant): Promise<boolean>
  /** Gives a key the string that it got at an instant. `false` when it has got one then or later, or is not there. */
  rotateKey(id: string, proof: KeyProof, at: Instant): Promise<boolean>
  /** Ends every sign-in and withdraws every link to set a password: those that were ended or used since would be good again. */
  endAccess(): Promise<EndedAccess>
}

/** The index of a tombstone whose entry is not in the ledger: below 0, so that no entry is taken for it. */
export function detachedIndex(index: number): number {
  return -1 - index
}
