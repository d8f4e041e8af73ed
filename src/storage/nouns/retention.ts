import type { Instant } from '../../domain/instant.ts'
import {
  daysKept,
  isSameWindow,
  type OrganisationWindow,
  type Plan,
  type RetentionStore,
  type RetentionWindow,
  type SweepStep,
  settleBy,
  settleWindow,
  startOfWindow,
  type WindowKind,
  type WindowSettling,
  windowKinds,
} from '../../domain/retention.ts'
import type { Engine, Run } from './engine.ts'
import { lockWindows, shareWindows } from './locks.ts'
import { toPlan } from './organisation.ts'
import { integer, type Row, text } from './row.ts'
import { noteDeletion } from './scrub.ts'
import { type NamedValues, type Statement, statement } from './statement.ts'

/** Each organisation with its plan, once for each stored window, and once if there is none. */
const windows = `SELECT o.id, o.plan, w.kind, w.days, w.shorter_days, w.shorter_since
  FROM organisations o LEFT JOIN retention_windows w ON w.organisation_id = o.id`
export const allWindows = statement(windows)
const windowsOfOne = statement(`${windows} WHERE o.id = :organisationId`)
const rememberWindow = statement(
  `INSERT INTO retention_windows (organisation_id, kind, days, shorter_days, shorter_since)
   VALUES (:organisationId, :kind, :days, :shorterDays, :shorterSince)
   ON CONFLICT (organisation_id, kind) DO UPDATE SET
     days = excluded.days, shorter_days = excluded.shorter_days, shorter_since = excluded.shorter_since`,
)
/** The window by which a tracker's visitors or an organisation's activity are swept. */
export const windowOf: Record<WindowKind, Statement> = {
  visitors: statement(
    `${windows} AND w.kind = 'visitors' JOIN trackers t ON t.organisation_id = o.id WHERE t.id = :id`,
  ),
  activity: statement(`${windows} AND w.kind = 'activity' WHERE o.id = :id`),
}

const before = 'FROM activity WHERE organisation_id = :organisationId AND at < :since'
const anyBefore = statement(`SELECT 1 ${before} LIMIT 1`)
const countActivity = statement(`SELECT count(*) AS count ${before}`)
const entryBeyond = statement(`SELECT at, id ${before} ORDER BY at, id LIMIT 1 OFFSET :maxRows`)
const deleteUpTo = statement(
  'DELETE FROM activity WHERE organisation_id = :organisationId AND (at, id) < (:at, :id)',
)

export const retentionTransactions = {
  async settleWindows(run: Run, settling: WindowSettling): Promise<OrganisationWindow[]> {
    await lockWindows(run)
    const settled = settleWindows((await run(...windowsFor(settling))).rows, settling)
    for (const { organisationId, kind, window } of settled.changed) {
      const { days, shorter } = window
      const shorterWindow = { shorterDays: shorter?.days ?? null, shorterSince: shorter?.since ?? null }
      run(rememberWindow, { organisationId, kind, days, ...shorterWindow })
    }
    return settled.windows
  },
  async sweepActivity(
    run: Run,
    organisationId: string,
    step: SweepStep,
  ): Promise<{ entries: number; isDone: boolean }> {
    const since = await lockSweptBefore(run, 'activity', organisationId, step)
    if (since === null) return { entries: 0, isDone: true }
    const [beyond] = (await run(entryBeyond, { organisationId, since, maxRows: step.maxRows })).rows
    const until = beyond ? { at: integer(beyond, 'at'), id: text(beyond, 'id') } : { at: since, id: '' }
    const { count } = await run(deleteUpTo, { organisationId, ...until })
    if (count > 0) noteDeletion(run)
    return { entries: count, isDone: !beyond }
  },
}

/** Usually there is nothing to do, and then nothing is written. */
export function retentionStore(
  engine: Engine<typeof retentionTransactions>,
  { sweep, countBefore }: Pick<RetentionStore, 'sweep' | 'countBefore'>,
): RetentionStore {
  return {
    sweep,
    countBefore,
    async settleWindows(settling) {
      const settled = settleWindows(await engine.read(...windowsFor(settling)), settling)
      return settled.changed.length === 0 ? settled.windows : engine.transact('settleWindows', settling)
    },
    async sweepActivity(organisationId, step) {
      const rows = await engine.read(windowOf.activity, { id: organisationId })
      const since = sweptBefore(rows, 'activity', step)
      const isAny = since !== null && (await engine.read(anyBefore, { organisationId, since })).length > 0
      return isAny ? engine.transact('sweepActivity', organisationId, step) : { entries: 0, isDone: true }
    },
    async countActivityBefore(organisationId, since) {
      const [row] = await engine.readLong(countActivity, { organisationId, since })
      return integer(row ?? {}, 'count')
    },
  }
}

function windowsFor({ organisationId }: WindowSettling): [Statement, NamedValues] {
  return organisationId === undefined ? [allWindows, {}] : [windowsOfOne, { organisationId }]
}

/**
 * The instant before which a step may delete, from the plan and window in a row of `windowOf`; `null` if
 * there is no row.
 */
export function sweptBefore(
  [row]: readonly Row[],
  kind: WindowKind,
  { policy, now }: SweepStep,
): Instant | null {
  if (!row) return null
  return startOfWindow(settleWindow(toWindow(row), daysKept(policy, kind, toPlan(row)), now).days, now)
}

/**
 * Like `sweptBefore`, within the transaction of the step: neither the plan nor the window changes until it
 * ends.
 */
export async function lockSweptBefore(
  run: Run,
  kind: WindowKind,
  id: string,
  step: SweepStep,
): Promise<Instant | null> {
  await shareWindows(run)
  return sweptBefore((await run(windowOf[kind], { id })).rows, kind, step)
}

/** The window in a row; `null` if the join found none. */
function toWindow(row: Row): RetentionWindow | null {
  if (row.days === null) return null
  const shorter =
    row.shorter_days === null
      ? null
      : { days: integer(row, 'shorter_days'), since: integer(row, 'shorter_since') }
  return { days: integer(row, 'days'), shorter }
}

/** All windows of the organisations in these rows, and those that differ from what is stored. */
function settleWindows(
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
  const settled: OrganisationWindow[] = []
  const changed: OrganisationWindow[] = []
  for (const [organisationId, { plan, remembered }] of organisations) {
    if (onlyPlan && plan !== onlyPlan) continue
    for (const kind of windowKinds) {
      if (onlyKind && kind !== onlyKind) continue
      const known = remembered.get(kind) ?? null
      const window = settleBy(rule, known, daysKept(policy, kind, plan), now)
      if (window === null) continue
      settled.push({ organisationId, plan, kind, window })
      if (!isSameWindow(known, window)) changed.push({ organisationId, plan, kind, window })
    }
  }
  return { windows: settled, changed }
}
