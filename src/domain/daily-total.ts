import { formatInstant, type Instant } from './instant.ts'
import type { TrackerRef } from './tracker.ts'

/** A day of UTC: whole days since 1970-01-01. */
export type Day = number

const dayMs = 86_400_000

export function dayOf(instant: Instant): Day {
  return Math.floor(instant / dayMs)
}

/** A day as people write it: 2026-01-31. */
export function formatDay(day: Day): string {
  return formatInstant(day * dayMs).slice(0, 10)
}

/** What happened on a tracker on one day. It leads to no visitor, so it stays when they go. */
export interface DailyTotal {
  day: Day
  /** Sessions that started on it. */
  sessions: number
  /** Events by their name: the names that had most of them, at most `mostNames`. */
  events: Record<string, number>
  /** Events of all other names together. */
  otherEvents: number
}

/** How many names of events a day is told with: nobody reads more, and a client can make up as many as it likes. */
export const mostNames = 1_000

/** The same, of events only how many there were. */
export interface DailySum {
  day: Day
  sessions: number
  events: number
}

/** How often which events happened, the most frequent first. */
export interface EventNames {
  names: { name: string; count: number }[]
  /** Whether all the days were looked at; where there are very many names, only the latest days were. */
  isComplete: boolean
}

export interface DailyTotalStore {
  /** The days from `from` to `to`, both included, on which something happened, in their order. `null` when the tracker is not visible. */
  list(tracker: TrackerRef, from: Day, to: Day): Promise<DailyTotal[] | null>
  /** The same days, added up by the engine. However many names there are, nobody else waits for it. */
  sum(tracker: TrackerRef, from: Day, to: Day): Promise<DailySum[] | null>
  /** The names of events of the same days that had most, at most `limit`. No more is read than takes a few milliseconds. */
  names(tracker: TrackerRef, from: Day, to: Day, limit: number): Promise<EventNames | null>
}
