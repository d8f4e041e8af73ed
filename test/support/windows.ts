import type { Instant } from '../../src/domain/instant.ts'
import {
  defaultActivityDays,
  defaultRetentionDays,
  type RetentionPolicy,
  type SweepStep,
} from '../../src/domain/retention.ts'
import type { Store } from '../../src/domain/store.ts'

const dayMs = 86_400_000

export const defaultPolicy: RetentionPolicy = {
  retentionDays: defaultRetentionDays,
  activityDays: defaultActivityDays,
}

/** A policy that keeps everything for this many days. */
export function keeping(days: number): RetentionPolicy {
  return { retentionDays: { free: days, starter: days, pro: days, business: days }, activityDays: days }
}

/** Makes a store remember these windows as if it was always swept by them, for one or all organisations. */
export async function rememberWindows(
  { retention }: Pick<Store, 'retention'>,
  { retentionDays, activityDays }: RetentionPolicy = defaultPolicy,
  organisationId?: string,
): Promise<void> {
  const policy = { retentionDays, activityDays }
  const which = organisationId === undefined ? {} : { organisationId }
  await retention.settleWindows({ policy, now: 0, rule: 'immediately', ...which })
}

/**
 * Moves an organisation to the shortest plan. The longer window is remembered first: a sweep that had never seen
 * it would delete what the plan hides, instead of waiting for a day.
 */
export async function hideByPlan({
  services,
  organisationId,
}: {
  services: Pick<Store, 'retention' | 'organisations'>
  organisationId: string
}): Promise<void> {
  await rememberWindows(services, defaultPolicy, organisationId)
  await services.organisations.setPlan(organisationId, 'free')
}

/** A step that deletes what is older than an instant, for windows of one day. */
export function stepBefore(since: Instant, maxRows: number): SweepStep {
  return { policy: keeping(1), now: since + dayMs, maxRows }
}
