import type { DailySum, DailyTotal, Day, EventNames } from '../../domain/daily-total.ts'
import { integer, type Row, text } from './row.ts'

/**
 * Puts the sessions and the events of each day together. A row of events has a name with its `count`, and the `total` of its day; those
 * of a day come in the order of their names.
 */
export function toDailyTotals(sessions: readonly Row[], events: readonly Row[]): DailyTotal[] {
  const names = new Map<Day, [string, number][]>()
  const totals: Row[] = []
  for (const row of events) {
    const day = integer(row, 'day')
    const known = names.get(day)
    if (known) known.push([text(row, 'name'), integer(row, 'count')])
    else {
      names.set(day, [[text(row, 'name'), integer(row, 'count')]])
      totals.push({ day, count: integer(row, 'total') })
    }
  }
  return toDailySums(sessions, totals).map((sum) => {
    const told = names.get(sum.day) ?? []
    const toldEvents = told.reduce((total, [, count]) => total + count, 0)
    return { ...sum, events: Object.fromEntries(told), otherEvents: sum.events - toldEvents }
  })
}

/** Puts the sessions and the events of each day together. A day may have several rows of events, to be added up. */
export function toDailySums(sessions: readonly Row[], events: readonly Row[]): DailySum[] {
  const days = new Map<Day, DailySum>()
  const of = (row: Row) => {
    const day = integer(row, 'day')
    const known = days.get(day) ?? { day, sessions: 0, events: 0 }
    days.set(day, known)
    return known
  }
  for (const row of sessions) of(row).sessions = integer(row, 'count')
  for (const row of events) of(row).events += integer(row, 'count')
  return [...days.values()].sort((a, b) => a.day - b.day)
}

/** Of each day the names with the most events, in the order of names, out of what `range` selects. */
export const eventsOfDays = (range: string, mostNames: string) => `
  SELECT day, name, count, total FROM (
    SELECT day, name, count, CAST(sum(count) OVER (PARTITION BY day) AS bigint) AS total,
      row_number() OVER (PARTITION BY day ORDER BY count DESC, name) AS place
    FROM daily_events ${range}
  ) AS placed WHERE place <= ${mostNames} ORDER BY day, name`

/** How many rows are read to find the names that had most events. */
const mostNameRows = 20_000

/**
 * What adds up the events of each name, of the latest days where there are too many rows. `range` is of a tracker and days, `named` how
 * an engine names what is selected from.
 */
export function eventsByName(range: string, named = ''): string {
  return `SELECT name, sum(count) AS count, count(*) AS rows FROM (
    SELECT name, count FROM daily_events ${range} ORDER BY day DESC, name DESC LIMIT ${mostNameRows}) ${named} GROUP BY name`
}

export function toEventNames(rows: readonly Row[], limit: number): EventNames {
  const names = rows.map((row) => ({ name: text(row, 'name'), count: Number(row.count) }))
  names.sort((a, b) => b.count - a.count || (a.name < b.name ? -1 : 1))
  const read = rows.reduce((sum, row) => sum + Number(row.rows), 0)
  return { names: names.slice(0, limit), isComplete: read < mostNameRows }
}
