import type { Instant } from './instant.ts'
import type { Plan } from './plan.ts'
import type { OrganisationWindow, RetentionPolicy, WindowKind, WindowRule } from './retention-window.ts'

/** What a sweep deleted, or would. */
export interface SweptCounts {
  subjects: number
  sessions: number
  events: number
}

/** A step of a sweep: by whose windows, at which instant, and about how many rows. */
export interface SweepStep {
  policy: RetentionPolicy
  now: Instant
  maxRows: number
}

export interface WindowSettling {
  policy: RetentionPolicy
  now: Instant
  rule: WindowRule
  /** Only those of this organisation. */
  organisationId?: string
  /** Only while it is on this plan: what somebody was told before a question holds for no other. */
  plan?: Plan
  /** Only those of this kind. */
  kind?: WindowKind
}

export interface RetentionStore {
  /**
   * Settles the windows that a process has configured with those that the store remembers, remembers what comes of it, and hands
   * back all of these; not those of which nothing is remembered still. Writes only where something changes.
   */
  settleWindows(settling: WindowSettling): Promise<OrganisationWindow[]>
  /**
   * Deletes what has aged out of a tracker, in one transaction of about `maxRows` rows: events by their own time, sessions by their
   * end, subjects of which nothing is left. What stays is counted anew in the same transaction, in which the plan and the remembered
   * window are read as well: by the longer of that and today's, unless the shorter has stood for a day. Not done as long as there may
   * be more. Does not block other requests. Nothing happens to a tracker that is not there.
   */
  sweep(trackerId: string, step: SweepStep): Promise<SweptCounts & { isDone: boolean }>
  /** The same for an organisation's activity. */
  sweepActivity(organisationId: string, step: SweepStep): Promise<{ entries: number; isDone: boolean }>
  /** How much of a tracker is from before an instant, as a sweep would count it. Takes as long as it takes. */
  countBefore(trackerId: string, since: Instant): Promise<SweptCounts>
  /** How many entries of an organisation's activity are from before an instant. */
  countActivityBefore(organisationId: string, since: Instant): Promise<number>
}
