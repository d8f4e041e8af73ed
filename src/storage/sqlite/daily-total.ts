import type { DatabaseSync } from 'node:sqlite'
import { type DailyTotal, type Day, dayOf } from '../../domain/daily-total.ts'
import type { Instant } from '../../domain/instant.ts'
import type { TrackerRef } from '../../domain/tracker.ts'
import { integer, text } from './row.ts'
import type { TrackerVisibility } from './tracker.ts'

export function dailyTotalQueries(db: DatabaseSync, isVisible: TrackerVisibility) {
  const range = 'WHERE tracker_id = ? AND day >= ? AND day <= ?'
  const sessions = db.prepare(`SELECT day, count FROM daily_sessions ${range}`)
  const events = db.prepare(`SELECT day, name, count FROM daily_events ${range} ORDER BY day, name`)
  return {
    list(tracker: TrackerRef, from: Day, to: Day): DailyTotal[] | null {
      if (!isVisible(tracker)) return null
      const days = new Map<Day, { sessions: number; events: [string, number][] }>()
      const of = (day: Day) => {
        const known = days.get(day) ?? { sessions: 0, events: [] }
        days.set(day, known)
        return known
      }
      for (const row of sessions.all(tracker.trackerId, from, to)) {
        of(integer(row, 'day')).sessions = integer(row, 'count')
      }
      for (const row of events.all(tracker.trackerId, from, to)) {
        of(integer(row, 'day')).events.push([text(row, 'name'), integer(row, 'count')])
      }
      return [...days]
        .map(([day, { sessions, events }]) => ({ day, sessions, events: Object.fromEntries(events) }))
        .sort((a, b) => a.day - b.day)
    },
  }
}

/** The changes that a transaction makes to daily totals, gathered so that each total is written once. */
export class DailyChanges {
  readonly #events = new Map<string, { trackerId: string; day: Day; name: string; change: number }>()
  readonly #sessions = new Map<string, { trackerId: string; day: Day; change: number }>()

  addEvent(trackerId: string, occurredAt: Instant, name: string): void {
    const day = dayOf(occurredAt)
    const id = `${day}\0${name}\0${trackerId}`
    const known = this.#events.get(id)
    if (known) known.change += 1
    else this.#events.set(id, { trackerId, day, name, change: 1 })
  }

  addSession(trackerId: string, startedAt: Instant, change: 1 | -1 = 1): void {
    const day = dayOf(startedAt)
    const id = `${day}\0${trackerId}`
    const known = this.#sessions.get(id)
    if (known) known.change += change
    else this.#sessions.set(id, { trackerId, day, change })
  }

  events() {
    return this.#events.values()
  }

  sessions() {
    return this.#sessions.values()
  }
}

export function dailyTotalWriting(db: DatabaseSync): (changes: DailyChanges) => void {
  const addEvents = db.prepare(
    `INSERT INTO daily_events (tracker_id, day, name, count) VALUES (?, ?, ?, ?)
     ON CONFLICT DO UPDATE SET count = count + excluded.count`,
  )
  const addSessions = db.prepare(
    `INSERT INTO daily_sessions (tracker_id, day, count) VALUES (?, ?, ?)
     ON CONFLICT DO UPDATE SET count = count + excluded.count`,
  )
  const dropEmpty = db.prepare('DELETE FROM daily_sessions WHERE tracker_id = ? AND day = ? AND count = 0')
  return (changes) => {
    for (const { trackerId, day, name, change } of changes.events()) {
      addEvents.run(trackerId, day, name, change)
    }
    for (const { trackerId, day, change } of changes.sessions()) {
      if (change === 0) continue
      addSessions.run(trackerId, day, change)
      // A session that turned out to have started earlier may have been the only one of its day.
      if (change < 0) dropEmpty.run(trackerId, day)
    }
  }
}
