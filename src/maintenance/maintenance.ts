import { setImmediate as nextTurn } from 'node:timers/promises'
import type { DeletionStore } from '../domain/deletion.ts'
import type { Clock, Instant } from '../domain/instant.ts'
import type { MaintenanceStore, ScrubState } from '../domain/maintenance.ts'
import type { SweptCounts } from '../domain/retention.ts'
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

/** A sweep that is over, whether it found something or not. */
export interface SweepPass {
  swept: SweptTotals
  begunAt: Instant
  durationMs: number
  /** Whether all that had aged out when it began is gone; not so when it failed or was stopped. */
  isComplete: boolean
}

/** What is told of the work, once it is done. */
export interface MaintenanceReports {
  /** How many shorter windows wait before anything is deleted by them, and those of them that were not told of before. */
  onWaitingWindows(count: number, added: readonly WaitingWindow[]): void
  onSwept(pass: SweepPass): void
  onScrubbed(durationMs: number): void
  /** The clock is ahead of where it should be, and nothing is deleted on its word until it is right again or a day has passed. */
  onClockJumped(aheadMs: number): void
  onError(error: unknown): void
}

/**
 * The maintenance of a running service: finishes deletions and sweeps immediately and then every so many seconds, and scrubs at night. Whatever the number of
 * processes, one of them does it at a time. `passedMs` tells how time passes when nobody sets the clock.
 */
export function runMaintenance(
  deps: SweepDeps & { maintenance: MaintenanceStore; passedMs(): number },
  { sweepSeconds, scrubHour }: MaintenanceSchedule,
  { onWaitingWindows, onSwept, onScrubbed, onClockJumped, onError }: MaintenanceReports,
): { stop(): Promise<void> } {
  const { maintenance, clock, passedMs } = deps
  let told = new Set<string>()
  const isClockDoubtful = clockDoubt(clock, passedMs, onClockJumped)
  const stopping = new AbortController()
  const scrubRetry = retryInRounds(Math.ceil(daySeconds / sweepSeconds))
  let timer: NodeJS.Timeout | null = null
  let round = keep()
  // Who sweeps once a day must tell of its windows more often than that, or another's shorter one has stood for a day in between.
  const observing = setInterval(() => {
    round = Promise.all([round, reported(observe)]).then(() => {})
  }, hourMs).unref()

  async function keep(): Promise<void> {
    await reported(async () => {
      await observe()
      if (isClockDoubtful()) return
      await maintenance.withMaintenanceLock(async () => {
        await reported(async () => {
          await finishDeletions(deps, { signal: stopping.signal })
        })
        await sweep()
        await scrub()
      })
    })
    if (stopping.signal.aborted) return
    timer = setTimeout(() => {
      round = keep()
    }, sweepSeconds * 1_000).unref()
  }

  async function reported(work: () => Promise<void>): Promise<void> {
    try {
      await work()
    } catch (error) {
      onError(error)
    }
  }

  /** Whether or not it is this process that sweeps. */
  async function observe(): Promise<void> {
    if (stopping.signal.aborted || isClockDoubtful()) return
    const waiting = await observeWindows(deps)
    const before = told
    told = new Set(waiting.map(nameOf))
    onWaitingWindows(
      waiting.length,
      waiting.filter((window) => !before.has(nameOf(window))),
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
      // One that was stopped is still due.
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

/** The same for a window that goes on waiting, though another process has set it back meanwhile. */
function nameOf({ kind, window, organisationId }: WaitingWindow): string {
  return `${kind} ${window.days} ${window.shorter.days} ${organisationId}`
}

const daySeconds = 86_400
const dayMs = daySeconds * 1_000
const hourMs = 3_600_000

/** Tries what has failed in the next round, then after two, four and so on, never less often than after `most`. */
function retryInRounds(most: number) {
  let failures = 0
  let toWait = 0
  return {
    isTooEarly: (): boolean => toWait-- > 0,
    noteFailure(): void {
      toWait = Math.min(2 ** failures++, most) - 1
    },
    noteSuccess(): void {
      failures = 0
      toWait = 0
    },
  }
}

/**
 * Tells whether the clock has run ahead of the time that has really passed by more than an hour. What is swept on the word of such a
 * clock is gone for good, so it is believed only when it has said so for a day, and somebody could have seen it.
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

/**
 * Whether the hour has come since the last scrub, and there is something to do. A night that was missed is made up for; a scrub of the
 * future is one of a wrong clock.
 */
export function isScrubDue({ lastAt, isDue }: ScrubState, scrubHour: number, now: Instant): boolean {
  const sinceHour = (now - scrubHour * hourMs) % dayMs
  return isDue && (lastAt < now - sinceHour || lastAt > now + hourMs)
}

interface RemovalOptions {
  /** Which of the trackers that were deleted; all of them unless told. */
  isMeant?(tracker: Tracker): boolean
  /** Told after every step what was removed so far. */
  onProgress?(removed: SweptCounts): void
  /** Ends it early, between two steps. */
  signal?: AbortSignal
}

/** How many rows share a transaction: few enough that an erasure that comes meanwhile hardly waits. */
const rowsPerStep = 5_000

/**
 * Removes what trackers hold that were deleted, in small steps, and tells how much. Several processes may do it at the same time: each
 * then tells of its part.
 */
export async function finishDeletions(
  { deletions }: { deletions: DeletionStore },
  { isMeant = () => true, onProgress, signal }: RemovalOptions = {},
): Promise<SweptCounts> {
  const total = { subjects: 0, sessions: 0, events: 0 }
  for (const tracker of (await deletions.listTrackers()).filter(isMeant)) {
    for (let isDone = false; !isDone && !signal?.aborted; ) {
      const step = await deletions.removeTracker(tracker.id, rowsPerStep)
      isDone = step.isDone
      total.subjects += step.subjects
      total.sessions += step.sessions
      total.events += step.events
      onProgress?.({ ...total })
      await nextTurn()
    }
  }
  return total
}
