import type { Totals } from '../types.ts'

export const dayMs = 86_400_000

/** The value of a day, and the part of it that is highlighted. */
interface DayValue {
  day: string
  value: number
  part?: number
}

/** One bar: a day, or several consecutive days. */
export interface Bin {
  from: string
  to: string
  value: number
  part: number
}

const maxBins = 100
/** Whole weeks, so that every bin has the same weekdays. */
const binSizes = [1, 7, 28]

function daysPerBin(shownDays: number): number {
  return binSizes.find((size) => shownDays <= size * maxBins) ?? Math.ceil(shownDays / maxBins)
}

/** How many days the bins of a period cover: at least the period, in whole bins. */
export function daysCovered(shownDays: number): number {
  const perBin = daysPerBin(shownDays)
  return Math.ceil(shownDays / perBin) * perBin
}

/**
 * The last days up to today in order, with gaps filled, and several days per bin if there are too many for
 * one bar each.
 */
export function toBins(days: readonly DayValue[], today: string, shownDays: number): Bin[] {
  const last = dayNumber(today)
  const known = new Map(days.map((day) => [dayNumber(day.day), day]))
  const perBin = daysPerBin(shownDays)
  const bins: Bin[] = []
  // Backwards from today, because an incomplete last bin would look like a decline.
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

/** The bins of the period before, which is as long. */
export function binsBefore(days: readonly DayValue[], bins: readonly Bin[]): Bin[] {
  const [first, last] = [bins[0], bins.at(-1)]
  if (!first || !last) return []
  const start = dayNumber(first.from)
  return toBins(days, dayText(start - 1), dayNumber(last.to) - start + 1)
}

export function sumOf(bins: readonly Bin[]): number {
  return bins.reduce((sum, { value }) => sum + value, 0)
}

/** How a figure compares with an earlier one. `none` if there was nothing to compare with. */
interface Comparison {
  way: 'up' | 'down' | 'same' | 'none'
  /** The change as a part of the earlier figure. */
  share: number
}

export function compare(now: number, before: number): Comparison {
  if (before === 0) return { way: 'none', share: 0 }
  if (now === before) return { way: 'same', share: 0 }
  return { way: now > before ? 'up' : 'down', share: Math.abs(now - before) / before }
}

/** The round number at the top of an axis, and the number of even steps down to 0. */
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

/** The position of a day on the axis, from 0 to 1; `null` if it is before the first bin. */
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

/** One bar: the totals from its first day to its last. */
interface Bar {
  from: string
  to: string
  sessions: number
  events: number
}

const minDays = 30
const maxBars = 190
/** From this share of the window on, the bars start before the window, even if that is empty. */
const enoughOfWindow = 0.25

/**
 * The days of a data subject in order, with gaps filled, and several days per bar if there are too many.
 * Starts with the first day that has data, so that the bars of a new one are not mostly empty.
 */
export function toBars({ today, days }: Totals, retentionDays: number): Bar[] {
  const last = dayNumber(today)
  const windowDay = last - retentionDays + 1
  const oldest = Math.min(days[0] ? dayNumber(days[0].day) : last, last - minDays + 1)
  const first = last - oldest >= retentionDays * enoughOfWindow ? Math.min(oldest, windowDay - 7) : oldest
  const known = new Map(days.map((day) => [dayNumber(day.day), day]))
  const daysPerBar = Math.ceil((last - first + 1) / maxBars)
  const bars: Bar[] = []
  // Backwards from today, because an incomplete last bar would look like a decline.
  for (let to = last; to >= first; to -= daysPerBar) {
    const bar = { from: dayText(to - daysPerBar + 1), to: dayText(to), sessions: 0, events: 0 }
    for (let day = to - daysPerBar + 1; day <= to; day++) {
      bar.sessions += known.get(day)?.sessions ?? 0
      bar.events += known.get(day)?.events ?? 0
    }
    bars.unshift(bar)
  }
  return bars
}
