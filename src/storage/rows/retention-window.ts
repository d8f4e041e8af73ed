import type { Instant } from '../../domain/instant.ts'
import { startOfWindow } from '../../domain/plan.ts'
import type { SweepStep } from '../../domain/retention.ts'
import {
  daysKept,
  type RetentionWindow,
  settleWindow,
  type WindowKind,
} from '../../domain/retention-window.ts'
import { toPlan } from './organisation.ts'
import { integer, type Row } from './row.ts'

/** What a row remembers; `null` where a join has found none. */
export function toWindow(row: Row): RetentionWindow | null {
  if (row.days === null) return null
  const shorter =
    row.shorter_days === null
      ? null
      : { days: integer(row, 'shorter_days'), since: integer(row, 'shorter_since') }
  return { days: integer(row, 'days'), shorter }
}

/** Before which instant a step may delete, by the plan and the window in a row. */
export function sweptBefore(row: Row, kind: WindowKind, { policy, now }: SweepStep): Instant {
  return startOfWindow(settleWindow(toWindow(row), daysKept(policy, kind, toPlan(row)), now).days, now)
}
