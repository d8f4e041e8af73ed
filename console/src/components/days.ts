import type { Totals } from '../types.ts'

export const dayMs = 86_400_000

/** What is known of a day: a number, and the part of it that stands out. */
export interface DayValue {
  day: string
  value: number
  part?: number
}

/** One bar: a day, or a few days in a row. */
export interface Bin {
  from: string
  to: string
  value: number
  part: number
}

const maxBins = 190

/** So many days up to today in their order, gaps filled, a few days to a bin where there are too many to be seen. */
export function toBins(days: readonly DayValue[], today: string, shownDays: number): Bin[] {
  const last = dayNumber(today)
  const known = new Map(days.map((day) => [dayNumber(day.day), day]))
  const perBin = Math.ceil(shownDays / maxBins)
  const bins: Bin[] = []
  // From today backwards: a bin of fewer days would look like a decline.
  for (let to = last; to > last - shownDays; to -= perBin) {
    const bin = { from: dayText(to - perBin + 1), to: dayText(to), value: 0, part: 0 }
    for (let day = to - perBin + 1; day <= to; day++) {
      bin.value += known.get(day)?.value ?? 0
      bin.part += known.get(day)?.part ?? 0
    }
    bins.unshift(bin)
  }
  return bins
}

/** The round number from which an axis goes down to 0 in even steps, and how many steps those are. */
export function axisOf(highest: number): { top: number; steps: number } {
  if (highest <= 1) return { top: 1, steps: 1 }
  const power = 10 ** Math.floor(Math.log10(highest))
  for (const factor of [1, 2, 3, 4, 5, 6, 8, 10]) {
    const top = factor * power
    if (top < highest || !Number.isInteger(top)) continue
    const steps = [4, 3, 2].find((count) => Number.isInteger(top / count)) ?? 1
    return { top, steps }
  }
  return { top: highest, steps: 1 }
}

/** Where a day begins among the days that are shown, from 0 to 1; `null` when it lies before them. */
export function positionOf(day: string, { from }: Pick<Bin, 'from'>, today: string): number | null {
  const [at, first, last] = [dayNumber(day), dayNumber(from), dayNumber(today)]
  return at <= first ? null : Math.min(1, (at - first) / (last - first + 1))
}

export function dayNumber(text: string): number {
  return Date.parse(`${text}T00:00:00Z`) / dayMs
}

export function dayText(day: number): string {
  return new Date(day * dayMs).toISOString().slice(0, 10)
}

/** One bar: what happened from its first day to its last. */
export interface Bar {
  from: string
  to: string
  sessions: number
  events: number
}

/** The days of a chart in their order, gaps filled, a few days to a bar where there are too many. */
interface Bars {
  bars: Bar[]
  daysPerBar: number
  /** Where the retention window begins among the bars, from 0 to 1; `null` when all of them lie within it. */
  windowAt: number | null
  windowFrom: string
}

const minDays = 30
const maxBars = 190
/** Where this share of the window has passed, its beginning is worth the room that is still empty. */
const enoughOfWindow = 0.25

/** Begins with the first day on which something happened, so that a young tracker's chart is not mostly empty. */
export function toBars({ today, days }: Totals, retentionDays: number): Bars {
  const last = dayNumber(today)
  const windowDay = last - retentionDays + 1
  const oldest = Math.min(days[0] ? dayNumber(days[0].day) : last, last - minDays + 1)
  const first = last - oldest >= retentionDays * enoughOfWindow ? Math.min(oldest, windowDay - 7) : oldest
  const known = new Map(days.map((day) => [dayNumber(day.day), day]))
  const daysPerBar = Math.ceil((last - first + 1) / maxBars)
  const bars: Bar[] = []
  // From today backwards: a bar of fewer days would look like a decline.
  for (let to = last; to >= first; to -= daysPerBar) {
    const bar = { from: dayText(to - daysPerBar + 1), to: dayText(to), sessions: 0, events: 0 }
    for (let day = to - daysPerBar + 1; day <= to; day++) {
      bar.sessions += known.get(day)?.sessions ?? 0
      bar.events += known.get(day)?.events ?? 0
    }
    bars.unshift(bar)
  }
  const start = last - bars.length * daysPerBar + 1
  const windowAt = windowDay <= start ? null : (windowDay - start) / (bars.length * daysPerBar)
  return { bars, daysPerBar, windowAt, windowFrom: dayText(windowDay) }
}
