import type { KeyProof } from './api-key.ts'
import { LetheError } from './errors.ts'
import type { Instant } from './instant.ts'
import type { JournalledErasure } from './journal.ts'
import type { TombstoneKey } from './keyring.ts'
import type { HeadKeys } from './ledger.ts'
import type { SweptCounts } from './retention.ts'

/** What happened to a ledger's entries. */
export interface AppendedEntries {
  /** How many were missing. */
  entries: number
  /** How many tombstones came with those. */
  tombstones: number
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
   * of their indexes, without gaps. Rejects with `LedgerConflict`, with nothing changed, when the ledger holds another entry in the
   * place of one, or ends before the first. `null` when the organisation is not there.
   */
  appendEntries(
    organisationId: string,
    entries: readonly JournalledErasure[],
    headKeys: HeadKeys,
  ): Promise<AppendedEntries | null>
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

/** A ledger and what is to be appended to it do not belong together. */
export class LedgerConflict extends LetheError {
  override name = 'LedgerConflict'

  constructor(organisationId: string, problem: string) {
    super('invalid_request', `The ledger of the organisation "${organisationId}" ${problem}`)
  }

  static gap(organisationId: string, size: number, next: number): LedgerConflict {
    const missing = next - size === 1 ? `entry ${size} is` : `entries ${size} to ${next - 1} are`
    return new LedgerConflict(
      organisationId,
      `ends before entry ${next}: ${missing} missing. Name every journal there is, older ones too.`,
    )
  }

  static other(organisationId: string, index: number): LedgerConflict {
    return new LedgerConflict(
      organisationId,
      `holds another entry ${index} than it is to have. It went on after it had been set back, or belongs to another store.`,
    )
  }
}
