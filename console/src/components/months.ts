import type { MonthOfRequests, TotalOfRequests } from '../types.ts'
import { type Bin, dayNumber, dayText } from './days.ts'

// Months are written as 2026-01, and are in UTC.

const monthName = new Intl.DateTimeFormat(undefined, { month: 'long', year: 'numeric', timeZone: 'UTC' })

export function formatMonth(month: string): string {
  return monthName.format(startOf(month))
}

/** Consecutive months. */
export function formatMonths(from: string, to: string): string {
  return from === to ? formatMonth(from) : monthName.formatRange(startOf(from), startOf(to))
}

/** The current month and those before it, newest first. */
export function lastMonths(count: number, now = new Date()): string[] {
  const current = now.toISOString().slice(0, 7)
  return Array.from({ length: count }, (_, i) => monthAfter(current, -i))
}

/** A bar for each month up to the current one. Its part is the requests answered late, or overdue. */
export function toMonthBins(
  months: readonly MonthOfRequests[],
  from: string,
  to: string,
  today: string,
): Bin[] {
  const bins: Bin[] = []
  for (let month = from; month <= to && month <= today.slice(0, 7); month = monthAfter(month, 1)) {
    const own = months.filter((each) => each.month === month)
    const end = dayText(dayNumber(`${monthAfter(month, 1)}-01`) - 1)
    bins.push({
      ...{ from: `${month}-01`, to: end < today ? end : today },
      value: own.reduce((sum, { received }) => sum + received, 0),
      part: own.reduce((sum, { late }) => sum + late, 0),
    })
  }
  return bins
}

function startOf(month: string): Date {
  return new Date(`${month}-01T00:00:00Z`)
}

function monthAfter(month: string, count: number): string {
  const start = startOf(month)
  start.setUTCMonth(start.getUTCMonth() + count)
  return start.toISOString().slice(0, 7)
}

const units = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
] as const
const oneDigit = { style: 'unit', unitDisplay: 'long', maximumFractionDigits: 1 } as const

/** A time to answer in the largest unit that fits, such as 3.5 days. */
export function formatTime(ms: number | null): string {
  if (ms === null) return '–'
  if (ms < 60_000) return 'under a minute'
  const [unit, length] = units.find(([, length]) => ms >= length) ?? ['minute', 60_000]
  return new Intl.NumberFormat(undefined, { ...oneDigit, unit }).format(ms / length)
}

const percent = new Intl.NumberFormat(undefined, { style: 'percent' })

/** Rounded down, so that 100% means all. */
export function formatShareInTime({ inTime, late }: Pick<TotalOfRequests, 'inTime' | 'late'>): string {
  return inTime + late === 0 ? '–' : percent.format(Math.floor((100 * inTime) / (inTime + late)) / 100)
}
