import type { Totals } from '../types.ts'

const dayMs = 86_400_000

/** One bar: what happened from its first day to its last. */
export interface Bar {
  from: string
  to: string
  sessions: number
  events: number
}

/** The days of a chart in their order, gaps filled, a few days to a bar where there are too many. */
export interface Bars {
  bars: Bar[]
  daysPerBar: number
  /** Where the retention window begins among the bars, from 0 to 1; `null` when all of them lie within it. */
  windowAt: number | null
  windowFrom: string
}

const leastDays = 30
const mostBars = 190
/** Where this share of the window has passed, its beginning is worth the room that is still empty. */
const enoughOfWindow = 0.25

/** Begins with the first day on which something happened, so that a young tracker's chart is not mostly empty. */
export function toBars({ today, days }: Totals, retentionDays: number): Bars {
  const last = toDay(today)
  const windowDay = last - retentionDays + 1
  const oldest = Math.min(days[0] ? toDay(days[0].day) : last, last - leastDays + 1)
  const first = last - oldest >= retentionDays * enoughOfWindow ? Math.min(oldest, windowDay - 7) : oldest
  const known = new Map(days.map((day) => [toDay(day.day), day]))
  const daysPerBar = Math.ceil((last - first + 1) / mostBars)
  const bars: Bar[] = []
  // From today backwards: a bar of fewer days would look like a decline.
  for (let to = last; to >= first; to -= daysPerBar) {
    const bar = { from: toText(to - daysPerBar + 1), to: toText(to), sessions: 0, events: 0 }
    for (let day = to - daysPerBar + 1; day <= to; day++) {
      bar.sessions += known.get(day)?.sessions ?? 0
      bar.events += known.get(day)?.events ?? 0
    }
    bars.unshift(bar)
  }
  const start = last - bars.length * daysPerBar + 1
  const windowAt = windowDay <= start ? null : (windowDay - start) / (bars.length * daysPerBar)
  return { bars, daysPerBar, windowAt, windowFrom: toText(windowDay) }
}

function toDay(text: string): number {
  return Date.parse(`${text}T00:00:00Z`) / dayMs
}

function toText(day: number): string {
  return new Date(day * dayMs).toISOString().slice(0, 10)
}
