import { type DailyTotalStore, mostNames } from '../../domain/daily-total.ts'
import type { DailyChanges } from '../daily-changes.ts'
import { eventsByName, eventsOfDays, toDailySums, toDailyTotals, toEventNames } from '../rows/daily-total.ts'
import type { Connections } from './connections.ts'
import { statement } from './statement.ts'
import { isVisible } from './tracker.ts'
import type { Run } from './transact.ts'

const range = 'WHERE tracker_id = $1 AND day >= $2 AND day <= $3'
const sessionsByDay = statement(`SELECT day, count FROM daily_sessions ${range}`)
const eventsByDay = statement(eventsOfDays(range, '$4'))
const byName = statement(eventsByName(range, 'AS latest'))
const eventSums = statement(`SELECT day, sum(count)::bigint AS count FROM daily_events ${range} GROUP BY day`)
// In one order, so that two loads of the same days do not wait for each other in a circle.
const addEvents = statement(
  `INSERT INTO daily_events AS d (tracker_id, day, name, count)
   SELECT * FROM unnest($1::text[], $2::int[], $3::text[], $4::bigint[]) AS added (tracker_id, day, name, count)
   ORDER BY tracker_id COLLATE "C", day, name COLLATE "C"
   ON CONFLICT (tracker_id, day, name) DO UPDATE SET count = d.count + excluded.count`,
)
const addSessions = statement(
  `INSERT INTO daily_sessions AS d (tracker_id, day, count)
   SELECT * FROM unnest($1::text[], $2::int[], $3::bigint[]) AS added (tracker_id, day, count)
   ORDER BY tracker_id COLLATE "C", day
   ON CONFLICT (tracker_id, day) DO UPDATE SET count = d.count + excluded.count`,
)
// A session that turned out to have started earlier may have been the only one of its day.
const dropEmpty = statement(
  'DELETE FROM daily_sessions WHERE tracker_id = ANY ($1) AND day = ANY ($2) AND count = 0',
)

export function dailyTotalStore(connections: Connections): DailyTotalStore {
  return {
    async list(tracker, from, to) {
      const values = [tracker.trackerId, from, to]
      const [isThere, sessions, events] = await Promise.all([
        isVisible(connections, tracker),
        connections.read(sessionsByDay, values),
        connections.read(eventsByDay, [...values, mostNames]),
      ])
      return isThere ? toDailyTotals(sessions, events) : null
    },
    async sum(tracker, from, to) {
      const values = [tracker.trackerId, from, to]
      const [isThere, sessions, events] = await Promise.all([
        isVisible(connections, tracker),
        connections.read(sessionsByDay, values),
        connections.read(eventSums, values),
      ])
      return isThere ? toDailySums(sessions, events) : null
    },
    async names(tracker, from, to, limit) {
      const [isThere, rows] = await Promise.all([
        isVisible(connections, tracker),
        connections.read(byName, [tracker.trackerId, from, to]),
      ])
      return isThere ? toEventNames(rows, limit) : null
    },
  }
}

export async function addToDailyTotals(run: Run, changes: DailyChanges): Promise<void> {
  const events = [...changes.events()]
  if (events.length > 0) {
    await run(addEvents, [
      events.map(({ trackerId }) => trackerId),
      events.map(({ day }) => day),
      events.map(({ name }) => name),
      events.map(({ change }) => change),
    ])
  }
  const sessions = [...changes.sessions()].filter(({ change }) => change !== 0)
  if (sessions.length === 0) return
  const trackers = sessions.map(({ trackerId }) => trackerId)
  const days = sessions.map(({ day }) => day)
  await run(addSessions, [trackers, days, sessions.map(({ change }) => change)])
  if (sessions.some(({ change }) => change < 0)) await run(dropEmpty, [trackers, days])
}
