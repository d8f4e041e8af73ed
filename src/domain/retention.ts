import type { Instant } from './instant.ts'

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

/** What is kept for a time: what was collected of visitors, and what was done in an organisation. */
export const windowKinds = ['visitors', 'activity'] as const

export type WindowKind = (typeof windowKinds)[number]

/** How long a process keeps things, by its configuration. */
export interface RetentionPolicy {
  /** What was collected, by the plan of its organisation. */
  retentionDays: RetentionDays
  /** The activity, on every plan. */
  activityDays: number
  /** Tombstones, at least; without it for as long as anything can be kept, and 30 days. */
  tombstoneDays?: number | null
}

/** The longest window that can be configured. */
export const longestDays = 36_500

export const defaultActivityDays = 1_825

export function daysKept(
  { retentionDays, activityDays }: RetentionPolicy,
  kind: WindowKind,
  plan: Plan,
): number {
  return kind === 'visitors' ? retentionDays[plan] : activityDays
}

/** A window as a store remembers it. */
export interface RetentionWindow {
  /** What is older than so many days is deleted. */
  days: number
  /** A shorter window, which hides since that instant and does not delete yet. */
  shorter: { days: number; since: Instant } | null
}

/** A window of an organisation, settled with what a process has configured. */
export interface OrganisationWindow {
  organisationId: string
  plan: Plan
  kind: WindowKind
  window: RetentionWindow
}

/**
 * How the window of today meets the one that is remembered. `grace`: a longer one counts from now on, a shorter one deletes a day
 * later. `immediately`: so does a shorter one, as somebody who saw what will go has asked for. `longer-only`: a shorter one is not
 * even noted, as it comes from one who deletes nothing.
 */
export type WindowRule = 'grace' | 'immediately' | 'longer-only'

/** For so long a shorter window must have stood before anything is deleted by it. */
const graceMs = 86_400_000

/**
 * What to remember of a window from now on, and to delete by. A store may remember nothing yet, as after an upgrade: then any window
 * is a shorter one, and waits for a day too.
 */
export function settleWindow(
  remembered: RetentionWindow | null,
  days: number,
  now: Instant,
): RetentionWindow {
  const known = remembered ?? { days: longestDays, shorter: null }
  if (days >= known.days) return { days, shorter: null }
  const { shorter } = known
  // One that stands since the future was noted by a wrong clock.
  if (shorter?.days !== days || shorter.since > now) {
    return { days: known.days, shorter: { days, since: now } }
  }
  return now < deletesFrom(shorter) ? known : { days, shorter: null }
}

/** The same by another rule; `null` where there is still nothing to remember. */
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

/** From when on a shorter window deletes. */
export function deletesFrom({ since }: { since: Instant }): Instant {
  return since + graceMs
}

export function isSameWindow(a: RetentionWindow | null, b: RetentionWindow | null): boolean {
  return (
    a?.days === b?.days && a?.shorter?.days === b?.shorter?.days && a?.shorter?.since === b?.shorter?.since
  )
}

/** What an organisation has signed up for: it decides how long its data is kept. */
export const plans = ['free', 'starter', 'pro', 'business'] as const

export type Plan = (typeof plans)[number]

export function isPlan(text: string): text is Plan {
  return plans.some((plan) => plan === text)
}

/** How many days each plan keeps what was collected. */
export type RetentionDays = Readonly<Record<Plan, number>>

export const defaultRetentionDays: RetentionDays = { free: 180, starter: 425, pro: 730, business: 1_825 }

const dayMs = 86_400_000

/** Where a plan's window begins: what is older than this instant has aged out, swept or not. */
export function windowStart(retentionDays: RetentionDays, plan: Plan, now: Instant): Instant {
  return startOfWindow(retentionDays[plan], now)
}

/** The same for a window of so many days. */
export function startOfWindow(days: number, now: Instant): Instant {
  return now - days * dayMs
}
