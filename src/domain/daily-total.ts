import { dayMs, formatInstant, type Instant } from './instant.ts'
import type { TrackerRef } from './tracker.ts'

/** Days since 1970-01-01, in UTC. */
export type Day = number

export function dayOf(instant: Instant): Day {
  return Math.floor(instant / dayMs)
}

export function formatDay(day: Day): string {
  return formatInstant(day * dayMs).slice(0, 10)
}

/** What happened on a tracker on one day. It has no link to visitors, so it outlives their data. */
export interface DailyTotal {
  day: Day
  sessions: number
  /** Counts by event name, for the `maxNames` most frequent names. */
  events: Record<string, number>
  /** Events of all other names. */
  otherEvents: number
}

/** Bounds the response, because a client can send any number of event names. */
export const maxNames = 1_000

/** A daily total without event names. */
export interface DailySum {
  day: Day
  sessions: number
  events: number
}

/** Event names by frequency, highest first. */
export interface EventNames {
  names: { name: string; count: number }[]
  /** `false` if only the latest days were read because there are too many names. */
  isComplete: boolean
}

export interface DailyTotalStore {
  /** Days with data from `from` to `to`, inclusive and ascending. `null` if the tracker is not visible. */
  list(tracker: TrackerRef, from: Day, to: Day): Promise<DailyTotal[] | null>
  /** As `list`, summed by the engine, so that many names do not block other requests. */
  sum(tracker: TrackerRef, from: Day, to: Day): Promise<DailySum[] | null>
  /** The most frequent event names of those days. Reads only as much as takes a few milliseconds. */
  names(tracker: TrackerRef, from: Day, to: Day, limit: number): Promise<EventNames | null>
}
