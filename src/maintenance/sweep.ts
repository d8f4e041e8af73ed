import { setImmediate as nextTurn } from 'node:timers/promises'
import { addCounts, type DataCounts } from '../domain/activity.ts'
import type { DeletionStore } from '../domain/deletion.ts'
import { type Clock, dayMs, type Instant } from '../domain/instant.ts'
import { keptTombstoneDays, type TombstoneStore } from '../domain/ledger.ts'
import type { OrganisationStore } from '../domain/organisation.ts'
import type { PrivacyRequestStore } from '../domain/privacy-request.ts'
import type { OrganisationWindow, RetentionPolicy, RetentionStore, SweepStep } from '../domain/retention.ts'
import type { TrackerStore } from '../domain/tracker.ts'

export interface SweepDeps extends RetentionPolicy {
  organisations: OrganisationStore
  trackers: TrackerStore
  retention: RetentionStore
  deletions: DeletionStore
  tombstones: TombstoneStore
  privacyRequests: PrivacyRequestStore
  clock: Clock
}

export interface SweptTotals extends DataCounts {
  activity: number
  /** Closed privacy requests, which are kept as long as the activity. */
  requests: number
}

export interface SweepOptions {
  organisationId?: string
  /** Called after every step with the total so far. */
  onProgress?(swept: SweptTotals): void
  /** Cancels between two steps. */
  signal?: AbortSignal
  /** Checked before every step: nothing is deleted while the clock is doubtful. */
  isClockDoubtful?(): boolean
}

/** The size of a transaction, small enough that an erasure hardly waits for it. */
const rowsPerStep = 5_000

export function sweptNothing(): SweptTotals {
  return { subjects: 0, sessions: 0, events: 0, activity: 0, requests: 0 }
}

/** Deletes all expired data in small steps. Only one process may run it at a time. */
export async function sweepAged(
  deps: SweepDeps,
  { organisationId, onProgress, signal, isClockDoubtful = () => false }: SweepOptions = {},
): Promise<SweptTotals> {
  const { organisations, trackers, retention, deletions, privacyRequests } = deps
  const { retentionDays, activityDays, clock } = deps
  const total = sweptNothing()
  const isOver = () => signal?.aborted === true || isClockDoubtful()

  async function inSteps(sweep: (step: SweepStep) => Promise<{ isDone: boolean }>): Promise<void> {
    const policy = { retentionDays, activityDays }
    // Yields to requests, because a step without expired data returns immediately.
    await nextTurn()
    for (let isDone = false; !isDone && !isOver(); ) {
      isDone = (await sweep({ policy, now: clock(), maxRows: rowsPerStep })).isDone
      onProgress?.({ ...total })
    }
  }

  const sweepActivity = (id: string) =>
    inSteps(async (step) => {
      const { entries, isDone } = await retention.sweepActivity(id, step)
      total.activity += entries
      return { isDone }
    })

  if (isOver()) return total
  await observeWindows(deps)
  for (const { id } of await organisations.list()) {
    if (organisationId !== undefined && id !== organisationId) continue
    for (const tracker of await trackers.list(id)) {
      await inSteps(async (step) => {
        const swept = await retention.sweep(tracker.id, step)
        addCounts(total, swept)
        return swept
      })
    }
    await sweepActivity(id)
    await inSteps(async (step) => {
      const { requests, isDone } = await privacyRequests.sweep(id, step)
      total.requests += requests
      return { isDone }
    })
  }
  if (organisationId !== undefined) return total
  // A deleted organisation is removed with the last entry of its activity log.
  for (const { id } of await deletions.listOrganisations()) {
    await sweepActivity(id)
    if (!isOver()) await deletions.removeOrganisation(id)
  }
  await sweepTombstones(deps, isOver)
  return total
}

/** Counts what windows with these starts would exclude; `null` skips a kind. */
export async function countAged(
  { trackers, retention, privacyRequests }: Pick<SweepDeps, 'trackers' | 'retention' | 'privacyRequests'>,
  organisationId: string,
  starts: { visitors: Instant | null; activity: Instant | null },
): Promise<SweptTotals> {
  const total = sweptNothing()
  if (starts.visitors !== null) {
    for (const { id } of await trackers.list(organisationId)) {
      addCounts(total, await retention.countBefore(id, starts.visitors))
    }
  }
  if (starts.activity !== null) {
    total.activity = await retention.countActivityBefore(organisationId, starts.activity)
    total.requests = await privacyRequests.countClosedBefore(organisationId, starts.activity)
  }
  return total
}

interface TombstoneDeps extends RetentionPolicy {
  retention: RetentionStore
  tombstones: TombstoneStore
  clock: Clock
}

/** Deletes tombstones that refuse only data older than every configured and every stored window. */
async function sweepTombstones(deps: TombstoneDeps, isOver: () => boolean): Promise<void> {
  const { retention, tombstones, retentionDays, activityDays, tombstoneDays, clock } = deps
  const policy = { retentionDays, activityDays }
  const remembered = await retention.settleWindows({
    ...{ policy, now: clock(), rule: 'longer-only', kind: 'visitors' },
  })
  const windows = [...Object.values(retentionDays), ...remembered.map(({ window }) => window.days)]
  const days = keptTombstoneDays(windows, tombstoneDays)
  while (!isOver()) {
    const swept = await tombstones.sweep(clock() - days * dayMs, rowsPerStep)
    if (swept < rowsPerStep) return
  }
}

/** A window with a shorter one in its grace period. */
export interface WaitingWindow extends OrganisationWindow {
  window: { days: number; shorter: NonNullable<OrganisationWindow['window']['shorter']> }
}

/**
 * Reports this process's windows to the store, so that a longer window prevents other processes from deleting
 * by a shorter one. Returns the windows with a shorter one in its grace period.
 */
export async function observeWindows({
  retention,
  retentionDays,
  activityDays,
  clock,
}: RetentionPolicy & { retention: RetentionStore; clock: Clock }): Promise<WaitingWindow[]> {
  const policy = { retentionDays, activityDays }
  const windows = await retention.settleWindows({ policy, now: clock(), rule: 'grace' })
  return windows.flatMap(({ window: { days, shorter }, ...of }) =>
    shorter ? [{ ...of, window: { days, shorter } }] : [],
  )
}
