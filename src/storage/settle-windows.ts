import type { Plan } from '../domain/plan.ts'
import type { WindowSettling } from '../domain/retention.ts'
import {
  daysKept,
  isSameWindow,
  type OrganisationWindow,
  type RetentionWindow,
  settleBy,
  windowKinds,
} from '../domain/retention-window.ts'
import { toPlan } from './rows/organisation.ts'
import { toWindow } from './rows/retention-window.ts'
import { type Row, text } from './rows/row.ts'

// What comes of windows that meet is the same on every engine; how it is read and written is each engine's own.

/** Each organisation with its plan, once for each window that is remembered of it, and once where there is none. */
export const rememberedWindows = `SELECT o.id, o.plan, w.kind, w.days, w.shorter_days, w.shorter_since
  FROM organisations o LEFT JOIN retention_windows w ON w.organisation_id = o.id`

/** The columns in which a window is remembered; `windowValues` come in the same order. */
export const windowColumns = ['organisation_id', 'kind', 'days', 'shorter_days', 'shorter_since']

export function windowValues({ organisationId, kind, window }: OrganisationWindow) {
  const { days, shorter } = window
  return [organisationId, kind, days, shorter?.days ?? null, shorter?.since ?? null]
}

/** All windows of the organisations in these rows, and those of them that are not yet remembered so. */
export function settleWindows(
  rows: readonly Row[],
  { policy, now, rule, kind: onlyKind, plan: onlyPlan }: WindowSettling,
): { windows: OrganisationWindow[]; changed: OrganisationWindow[] } {
  const organisations = new Map<string, { plan: Plan; remembered: Map<unknown, RetentionWindow | null> }>()
  for (const row of rows) {
    const id = text(row, 'id')
    const known = organisations.get(id) ?? { plan: toPlan(row), remembered: new Map() }
    known.remembered.set(row.kind, toWindow(row))
    organisations.set(id, known)
  }
  const windows: OrganisationWindow[] = []
  const changed: OrganisationWindow[] = []
  for (const [organisationId, { plan, remembered }] of organisations) {
    if (onlyPlan && plan !== onlyPlan) continue
    for (const kind of windowKinds) {
      if (onlyKind && kind !== onlyKind) continue
      const before = remembered.get(kind) ?? null
      const window = settleBy(rule, before, daysKept(policy, kind, plan), now)
      if (window === null) continue
      windows.push({ organisationId, plan, kind, window })
      if (!isSameWindow(before, window)) changed.push({ organisationId, plan, kind, window })
    }
  }
  return { windows, changed }
}
