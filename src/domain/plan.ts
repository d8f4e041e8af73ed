import type { Instant } from './instant.ts'

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
