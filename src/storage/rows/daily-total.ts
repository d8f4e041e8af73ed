import type { DailyTotal, Day } from '../../domain/daily-total.ts'
import { integer, type Row, text } from './row.ts'

/** Puts the sessions and the events of each day together; the events of a day come in the order of their names. */
export function toDailyTotals(sessions: readonly Row[], events: readonly Row[]): DailyTotal[] {
  const days = new Map<Day, { sessions: number; events: [string, number][] }>()
  const of = (day: Day) => {
    const known = days.get(day) ?? { sessions: 0, events: [] }
    days.set(day, known)
    return known
  }
  for (const row of sessions) of(integer(row, 'day')).sessions = integer(row, 'count')
  for (const row of events) of(integer(row, 'day')).events.push([text(row, 'name'), integer(row, 'count')])
  return [...days]
    .map(([day, { sessions, events }]) => ({ day, sessions, events: Object.fromEntries(events) }))
    .sort((a, b) => a.day - b.day)
}
