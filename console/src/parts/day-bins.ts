const dayMs = 86_400_000

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

const mostBins = 190

/** So many days up to today in their order, gaps filled, a few days to a bin where there are too many to be seen. */
export function toBins(days: readonly DayValue[], today: string, shownDays: number): Bin[] {
  const last = dayNumber(today)
  const known = new Map(days.map((day) => [dayNumber(day.day), day]))
  const perBin = Math.ceil(shownDays / mostBins)
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
export function placeOf(day: string, { from }: Pick<Bin, 'from'>, today: string): number | null {
  const [at, first, last] = [dayNumber(day), dayNumber(from), dayNumber(today)]
  return at <= first ? null : Math.min(1, (at - first) / (last - first + 1))
}

export function dayNumber(text: string): number {
  return Date.parse(`${text}T00:00:00Z`) / dayMs
}

export function dayText(day: number): string {
  return new Date(day * dayMs).toISOString().slice(0, 10)
}
