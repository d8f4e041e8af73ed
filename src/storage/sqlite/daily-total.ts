import type { DatabaseSync } from 'node:sqlite'
import { setImmediate } from 'node:timers/promises'
import { type DailyTotalStore, mostNames } from '../../domain/daily-total.ts'
import type { DailyChanges } from '../daily-changes.ts'
import { eventsByName, eventsOfDays, toDailySums, toDailyTotals, toEventNames } from '../rows/daily-total.ts'
import { integer, type Row, text } from '../rows/row.ts'
import type { Connections } from './connections.ts'
import { trackerVisibility } from './tracker.ts'

/** How many names are added up before other requests have their turn: a millisecond's work. */
const namesAtOnce = 5_000

export function dailyTotalStore({ reader }: Connections): DailyTotalStore {
  const isVisible = trackerVisibility(reader)
  const range = 'WHERE tracker_id = ? AND day >= ? AND day <= ?'
  const sessions = reader.prepare(`SELECT day, count FROM daily_sessions ${range}`)
  const events = reader.prepare(eventsOfDays(range, '?'))
  const byName = reader.prepare(eventsByName(range))
  // The names behind the last that was added up, each day's sum with the last of its names and how many they are.
  const nextEvents = reader.prepare(
    `SELECT day, sum(count) AS count, max(name) AS name, count(*) AS names
     FROM (SELECT day, name, count FROM daily_events
       WHERE tracker_id = ? AND (day, name) > (?, ?) AND day <= ? ORDER BY day, name LIMIT ${namesAtOnce})
     GROUP BY day ORDER BY day`,
  )
  return {
    async list(tracker, from, to) {
      if (!isVisible(tracker)) return null
      const { trackerId } = tracker
      return toDailyTotals(sessions.all(trackerId, from, to), events.all(trackerId, from, to, mostNames))
    },
    async sum(tracker, from, to) {
      if (!isVisible(tracker)) return null
      const { trackerId } = tracker
      const sums: Row[] = []
      let [day, name] = [from, '']
      for (;;) {
        const added = nextEvents.all(trackerId, day, name, to)
        sums.push(...added)
        const last = added.at(-1)
        const names = added.reduce((sum, row) => sum + integer(row, 'names'), 0)
        if (!last || names < namesAtOnce) break
        day = integer(last, 'day')
        name = text(last, 'name')
        await setImmediate()
      }
      return toDailySums(sessions.all(trackerId, from, to), sums)
    },
    async names(tracker, from, to, limit) {
      if (!isVisible(tracker)) return null
      return toEventNames(byName.all(tracker.trackerId, from, to), limit)
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
