import type { Clock, Instant } from '../domain/instant.ts'
import type { SweptCounts } from '../domain/retention.ts'
import type { ScrubState, UpkeepStore } from '../domain/upkeep.ts'
import { type SweepParts, sweepAged } from './sweep-aged.ts'

export interface HouseRules {
  sweepSeconds: number
  /** The hour (UTC) of the nightly scrub. */
  scrubHour: number | 'off'
}

/** A sweep that is over, whether it found something or not. */
export interface SweepPass {
  swept: SweptCounts
  begunAt: Instant
  durationMs: number
  /** Whether all that had aged out when it began is gone; not so when it failed or was stopped. */
  isComplete: boolean
}

/** What is told of the work, once it is done. */
export interface HouseReports {
  onSwept(pass: SweepPass): void
  onScrubbed(durationMs: number): void
  /** The clock is ahead of where it should be, and nothing is deleted on its word until it is right again or a day has passed. */
  onClockJumped(aheadMs: number): void
  onError(error: unknown): void
}

/**
 * The upkeep of a running service: sweeps at once and then every so many seconds, and scrubs at night. Whatever the number of
 * processes, one of them does it at a time. `passedMs` tells how time passes when nobody sets the clock.
 */
export function keepHouse(
  parts: SweepParts & { upkeep: UpkeepStore; passedMs(): number },
  { sweepSeconds, scrubHour }: HouseRules,
  { onSwept, onScrubbed, onClockJumped, onError }: HouseReports,
): { stop(): Promise<void> } {
  const { upkeep, clock, passedMs } = parts
  const isClockDoubtful = clockDoubt(clock, passedMs, onClockJumped)
  const stopping = new AbortController()
  let timer: NodeJS.Timeout | null = null
  let round = keep()

  async function keep(): Promise<void> {
    try {
      if (!isClockDoubtful()) {
        await upkeep.alone(async () => {
          await sweep()
          await scrub()
        })
      }
    } catch (error) {
      onError(error)
    }
    if (stopping.signal.aborted) return
    timer = setTimeout(() => {
      round = keep()
    }, sweepSeconds * 1_000).unref()
  }

  async function sweep(): Promise<void> {
    const { signal } = stopping
    const [begunAt, startedAt] = [clock(), performance.now()]
    let swept: SweptCounts = { subjects: 0, sessions: 0, events: 0 }
    let isComplete = false
    try {
      await sweepAged(parts, {
        signal,
        onProgress(soFar) {
          swept = soFar
        },
      })
      isComplete = !signal.aborted
      if (isComplete) await upkeep.noteSweep(begunAt)
    } finally {
      onSwept({ swept, begunAt, durationMs: performance.now() - startedAt, isComplete })
    }
  }

  async function scrub(): Promise<void> {
    if (scrubHour === 'off' || stopping.signal.aborted) return
    if (!isScrubDue(await upkeep.scrubState(), scrubHour, clock())) return
    const startedAt = performance.now()
    await upkeep.scrub(clock())
    onScrubbed(performance.now() - startedAt)
  }

  return {
    async stop() {
      stopping.abort()
      if (timer) clearTimeout(timer)
      await round
    },
  }
}

const dayMs = 86_400_000
const hourMs = 3_600_000

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
