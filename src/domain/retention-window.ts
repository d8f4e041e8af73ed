import type { Instant } from './instant.ts'
import type { Plan, RetentionDays } from './plan.ts'

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
