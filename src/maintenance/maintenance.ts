import { setImmediate as nextTurn } from 'node:timers/promises'
import { addCounts, type DataCounts } from '../domain/activity.ts'
import type { DeletionStore } from '../domain/deletion.ts'
import { type Clock, dayMs, type Instant } from '../domain/instant.ts'
import type { MaintenanceStore, ScrubState } from '../domain/maintenance.ts'
import type { Tracker } from '../domain/tracker.ts'
import {
  observeWindows,
  type SweepDeps,
  type SweptTotals,
  sweepAged,
  sweptNothing,
  type WaitingWindow,
} from './sweep.ts'

export interface MaintenanceSchedule {
  sweepSeconds: number
  /** The hour (UTC) of the nightly scrub. */
  scrubHour: number | 'off'
}

/** A finished sweep, whether or not it deleted anything. */
export interface SweepPass {
  swept: SweptTotals
  begunAt: Instant
  durationMs: number
  /** `false` if the sweep failed or was stopped. */
  isComplete: boolean
}

export interface MaintenanceReports {
  /** `count` shorter windows are in their grace period; `added` are those not reported before. */
  onWaitingWindows(count: number, added: readonly WaitingWindow[]): void
  onSwept(pass: SweepPass): void
  onScrubbed(durationMs: number): void
  /** The clock is ahead. Nothing is deleted until it is right again or a day has passed. */
  onClockJumped(aheadMs: number): void
  onError(error: unknown): void
}

/**
 * Finishes deletions and sweeps immediately and every `sweepSeconds`, and scrubs at night. Only one process
 * of a fleet does so at a time. `passedMs` is a monotonic clock.
 */
export function runMaintenance(
  deps: SweepDeps & { maintenance: MaintenanceStore; passedMs(): number },
  { sweepSeconds, scrubHour }: MaintenanceSchedule,
  { onWaitingWindows, onSwept, onScrubbed, onClockJumped, onError }: MaintenanceReports,
): { stop(): Promise<void> } {
  const { maintenance, clock, passedMs } = deps
  let reported = new Set<string>()
  const isClockDoubtful = clockDoubt(clock, passedMs, onClockJumped)
  const stopping = new AbortController()
  const scrubRetry = retryInRounds(Math.ceil(dayMs / 1_000 / sweepSeconds))
  let timer: NodeJS.Timeout | null = null
  let round = runRound()
  // Even with daily sweeps, a longer window must be reported before another process's shorter one takes
  // effect.
  const observing = setInterval(() => {
    round = Promise.all([round, reportErrors(observe)]).then(() => {})
  }, hourMs).unref()

  async function runRound(): Promise<void> {
    await reportErrors(async () => {
      await observe()
      if (isClockDoubtful()) return
      await maintenance.withMaintenanceLock(async () => {
        await reportErrors(async () => {
          await finishDeletions(deps, { signal: stopping.signal })
        })
        await sweep()
        await scrub()
      })
    })
    if (stopping.signal.aborted) return
    timer = setTimeout(() => {
      round = runRound()
    }, sweepSeconds * 1_000).unref()
  }

  async function reportErrors(work: () => Promise<void>): Promise<void> {
    try {
      await work()
    } catch (error) {
      onError(error)
    }
  }

  /** Every process reports its windows, even if another one sweeps. */
  async function observe(): Promise<void> {
    if (stopping.signal.aborted || isClockDoubtful()) return
    const waiting = await observeWindows(deps)
    const before = reported
    reported = new Set(waiting.map(windowKey))
    onWaitingWindows(
      waiting.length,
      waiting.filter((window) => !before.has(windowKey(window))),
    )
  }

  async function sweep(): Promise<void> {
    const { signal } = stopping
    const [begunAt, startedAt] = [clock(), performance.now()]
    let swept = sweptNothing()
    let isComplete = false
    try {
      await sweepAged(deps, {
        signal,
        isClockDoubtful,
        onProgress(soFar) {
          swept = soFar
        },
      })
      isComplete = !signal.aborted && !isClockDoubtful()
      if (isComplete) await maintenance.noteSweep(begunAt)
    } finally {
      onSwept({ swept, begunAt, durationMs: performance.now() - startedAt, isComplete })
    }
  }

  async function scrub(): Promise<void> {
    const { signal } = stopping
    if (scrubHour === 'off' || signal.aborted) return
    if (!isScrubDue(await maintenance.scrubState(), scrubHour, clock()) || scrubRetry.isTooEarly()) return
    const startedAt = performance.now()
    try {
      await maintenance.scrub(clock(), { signal })
    } catch (error) {
      // A scrub that was stopped is still due.
      if (signal.aborted) return
      scrubRetry.noteFailure()
      throw error
    }
    scrubRetry.noteSuccess()
    onScrubbed(performance.now() - startedAt)
  }

  return {
    async stop() {
      stopping.abort()
      if (timer) clearTimeout(timer)
      clearInterval(observing)
      await round
    },
  }
}

/** Stays the same while a window waits, even if another process restarts its grace period. */
function windowKey({ kind, window, organisationId }: WaitingWindow): string {
  return `${kind} ${window.days} ${window.shorter.days} ${organisationId}`
}

const hourMs = 3_600_000

/** Retries in the next round, then after two, four and so on, up to `max` rounds. */
function retryInRounds(max: number) {
  let failures = 0
  let roundsToWait = 0
  return {
    isTooEarly: (): boolean => roundsToWait-- > 0,
    noteFailure(): void {
      roundsToWait = Math.min(2 ** failures++, max) - 1
    },
    noteSuccess(): void {
      failures = 0
      roundsToWait = 0
    },
  }
}

/**
 * Detects a clock that has jumped ahead by more than an hour. Because sweeping is irreversible, such a clock
 * is trusted only after a day, in which an operator could notice.
 */
function clockDoubt(clock: Clock, passedMs: () => number, onClockJumped: (aheadMs: number) => void) {
  let offset = clock() - passedMs()
  let doubtedSince: number | null = null
  return (): boolean => {
    const passed = passedMs()
    const aheadMs = clock() - passed - offset
    if (aheadMs <= hourMs) {
      doubtedSince = null
      return false
    }
    if (doubtedSince === null) onClockJumped(aheadMs)
    doubtedSince ??= passed
    if (passed - doubtedSince <= dayMs) return true
    offset += aheadMs
    return false
  }
}

/** Whether a scrub hour has passed since the last scrub. A last scrub in the future is from a wrong clock. */
export function isScrubDue({ lastAt, isDue }: ScrubState, scrubHour: number, now: Instant): boolean {
  const sinceHour = (now - scrubHour * hourMs) % dayMs
  return isDue && (lastAt < now - sinceHour || lastAt > now + hourMs)
}

interface RemovalOptions {
  /** Selects deleted trackers; by default, all. */
  isSelected?(tracker: Tracker): boolean
  /** Called after every step with the total so far. */
  onProgress?(removed: DataCounts): void
  /** Cancels between two steps. */
  signal?: AbortSignal
}

/** The size of a transaction, small enough that an erasure hardly waits for it. */
const rowsPerStep = 5_000

/** Removes the data of deleted trackers in small steps. Processes may share the work. */
export async function finishDeletions(
  { deletions }: { deletions: DeletionStore },
  { isSelected = () => true, onProgress, signal }: RemovalOptions = {},
): Promise<DataCounts> {
  const total = { subjects: 0, sessions: 0, events: 0 }
  for (const tracker of (await deletions.listTrackers()).filter(isSelected)) {
    for (let isDone = false; !isDone && !signal?.aborted; ) {
      const step = await deletions.removeTracker(tracker.id, rowsPerStep)
      isDone = step.isDone
      addCounts(total, step)
      onProgress?.({ ...total })
      await nextTurn()
    }
  }
  return total
}
