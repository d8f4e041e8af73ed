import type { ActivityNote } from './activity.ts'
import type { Instant } from './instant.ts'

/** A member's app. The secret is sealed with the installation's secret. */
export interface Totp {
  sealedSecret: string
  setAt: Instant
  /** The time step of the last code that was accepted. */
  lastStep: number
}

export interface TotpStore {
  /** `null` if the member has none. */
  find(memberId: string): Promise<Totp | null>
  /**
   * Uses up the challenge, replaces the member's app, and adds recovery codes if the member has none.
   * `codesAdded` tells whether it did. If sign-ins so far have proved too little, ends those without this
   * token hash. `null` if the challenge was used meanwhile.
   */
  set(
    memberId: string,
    totp: Totp,
    by: { tokenHash: string; challengeHash: string; recoveryHashes: readonly string[] },
    note: ActivityNote,
  ): Promise<{ codesAdded: boolean } | null>
  /** Returns `false` if the member has none. */
  remove(memberId: string, note: ActivityNote): Promise<boolean>
}
