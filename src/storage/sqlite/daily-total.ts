import type { DatabaseSync } from 'node:sqlite'
import type { DailyTotal, Day } from '../../domain/daily-total.ts'
import type { TrackerRef } from '../../domain/tracker.ts'
import type { DailyChanges } from '../daily-changes.ts'
import { toDailyTotals } from '../rows/daily-total.ts'
import type { TrackerVisibility } from './tracker.ts'

export function dailyTotalQueries(db: DatabaseSync, isVisible: TrackerVisibility) {
  const range = 'WHERE tracker_id = ? AND day >= ? AND day <= ?'
  const sessions = db.prepare(`SELECT day, count FROM daily_sessions ${range}`)
  const events = db.prepare(`SELECT day, name, count FROM daily_events ${range} ORDER BY day, name`)
  return {
    list(tracker: TrackerRef, from: Day, to: Day): DailyTotal[] | null {
      if (!isVisible(tracker)) return null
      const { trackerId } = tracker
      return toDailyTotals(sessions.all(trackerId, from, to), events.all(trackerId, from, to))
    },
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
