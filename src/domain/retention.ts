import type { DataCounts } from './activity.ts'
import { dayMs, type Instant } from './instant.ts'

/** The plan determines how long an organisation's data is kept. */
export const plans = ['free', 'starter', 'pro', 'business'] as const

export type Plan = (typeof plans)[number]

export function isPlan(text: string): text is Plan {
  return plans.some((plan) => plan === text)
}

export type RetentionDays = Readonly<Record<Plan, number>>

export const defaultRetentionDays: RetentionDays = { free: 180, starter: 425, pro: 730, business: 1_825 }

/** The two kinds of data with a retention window: visitors' data and the activity log. */
export const windowKinds = ['visitors', 'activity'] as const

export type WindowKind = (typeof windowKinds)[number]

/** The configured retention. */
export interface RetentionPolicy {
  retentionDays: RetentionDays
  /** On every plan. */
  activityDays: number
  /** A minimum; by default, tombstones are kept 30 days longer than any data. */
  tombstoneDays?: number | null
}

/** The longest configurable window. */
export const maxRetentionDays = 36_500

export const defaultActivityDays = 1_825

export function daysKept(
  { retentionDays, activityDays }: RetentionPolicy,
  kind: WindowKind,
  plan: Plan,
): number {
  return kind === 'visitors' ? retentionDays[plan] : activityDays
}

/** A window as stored. */
export interface RetentionWindow {
  /** Older data is deleted. */
  days: number
  /** A shorter window, which hides data since then but does not delete it yet. */
  shorter: { days: number; since: Instant } | null
}

export interface OrganisationWindow {
  organisationId: string
  plan: Plan
  kind: WindowKind
  window: RetentionWindow
}

/**
 * How a configured window takes effect. `grace`: a longer one immediately, a shorter one after a day.
 * `immediately`: both, because someone confirmed what will be deleted. `longer-only`: a shorter one is not
 * even stored, because this process deletes nothing.
 */
export type WindowRule = 'grace' | 'immediately' | 'longer-only'

export interface SweepStep {
  policy: RetentionPolicy
  now: Instant
  maxRows: number
}

export interface WindowSettling {
  policy: RetentionPolicy
  now: Instant
  rule: WindowRule
  organisationId?: string
  /** Settles nothing if the plan has changed since the caller confirmed it. */
  plan?: Plan
  kind?: WindowKind
}

export interface RetentionStore {
  /** Reconciles the configured windows with the stored ones, and returns these. Writes only changes. */
  settleWindows(settling: WindowSettling): Promise<OrganisationWindow[]>
  /**
   * Deletes expired data of a tracker in one transaction of about `maxRows` rows and updates the counts.
   * Reads the plan and the stored window in that transaction; the longer one applies until the grace period
   * is over. Not done while more may remain; does nothing if there is no such tracker.
   */
  sweep(trackerId: string, step: SweepStep): Promise<DataCounts & { isDone: boolean }>
  /** The same for an organisation's activity log. */
  sweepActivity(organisationId: string, step: SweepStep): Promise<{ entries: number; isDone: boolean }>
  /** How much a sweep with this window start would delete. Reads everything, so it can take long. */
  countBefore(trackerId: string, since: Instant): Promise<DataCounts>
  /** How many activity entries are older than `since`. */
  countActivityBefore(organisationId: string, since: Instant): Promise<number>
}

/** How long a shorter window must have been configured before it deletes. */
const graceMs = dayMs

/** The window to store and delete by. If none is stored (an upgrade), any window counts as a shorter one. */
export function settleWindow(
  remembered: RetentionWindow | null,
  days: number,
  now: Instant,
): RetentionWindow {
  const known = remembered ?? { days: maxRetentionDays, shorter: null }
  if (days >= known.days) return { days, shorter: null }
  const { shorter } = known
  // A wrong clock stored a time in the future.
  if (shorter?.days !== days || shorter.since > now) {
    return { days: known.days, shorter: { days, since: now } }
  }
  return now < deletesFrom(shorter) ? known : { days, shorter: null }
}

/** As `settleWindow`, by a rule; `null` if there is still nothing to store. */
export function settleBy(
  rule: WindowRule,
  remembered: RetentionWindow | null,
  days: number,
  now: Instant,
): RetentionWindow | null {
  if (rule === 'immediately') return { days, shorter: null }
  const isShorter = remembered === null || days < remembered.days
  return rule === 'longer-only' && isShorter ? remembered : settleWindow(remembered, days, now)
}

export function deletesFrom({ since }: { since: Instant }): Instant {
  return since + graceMs
}

export function isSameWindow(a: RetentionWindow | null, b: RetentionWindow | null): boolean {
  return (
    a?.days === b?.days && a?.shorter?.days === b?.shorter?.days && a?.shorter?.since === b?.shorter?.since
  )
}

/** The start of a plan's window. Older data is invisible, whether or not it has been swept. */
export function windowStart(retentionDays: RetentionDays, plan: Plan, now: Instant): Instant {
  return startOfWindow(retentionDays[plan], now)
}

export function startOfWindow(days: number, now: Instant): Instant {
  return now - days * dayMs
}
