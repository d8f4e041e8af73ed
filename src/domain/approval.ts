import type { ActivityNote, DataCounts } from './activity.ts'
import { dayMs } from './instant.ts'
import type { PrivacyRequestRef } from './privacy-request.ts'

/** How long the erasures that a member starts count together. */
export const approvalWindowMs = dayMs

export const maxApprovalAbove = 10_000

/** A member's decision about a request that waits, and its entry in the activity. */
export interface Decision {
  ref: PrivacyRequestRef
  found: DataCounts
  note: ActivityNote
}

/** The rule that erasing many people takes two members. */
export interface ApprovalStore {
  /** How many people a member may erase in a day without an approval; `null` for any number. */
  findRule(organisationId: string): Promise<number | null>
  /** Requests that wait already go on waiting. Returns `false` if the organisation does not exist. */
  saveRule(organisationId: string, above: number | null, note: ActivityNote): Promise<boolean>
  /**
   * Starts erasures that wait for an approval, on behalf of the members who asked. Leaves those that this
   * member asked for or that no longer wait, and returns how many were started.
   */
  approve(decisions: readonly Decision[], memberId: string): Promise<number>
  /** Leaves the requests open, without starting them, whoever asked for them. Returns how many waited. */
  decline(decisions: readonly Decision[]): Promise<number>
}
