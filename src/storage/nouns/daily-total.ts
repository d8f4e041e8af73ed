import { setImmediate as nextTurn } from 'node:timers/promises'
import {
  type DailySum,
  type DailyTotal,
  type DailyTotalStore,
  type Day,
  type EventNames,
  maxNames,
} from '../../domain/daily-total.ts'
import type { Engine } from './engine.ts'
import { integer, type Row, text } from './row.ts'
import { statement } from './statement.ts'
import { isVisible } from './tracker.ts'

/** The most rows that are read to find the names with the most events. */
const maxNameRows = 20_000
/** How many names are summed up between two turns of the event loop: about a millisecond of work. */
const namesAtOnce = 5_000

const range = 'WHERE tracker_id = :trackerId AND day >= :from AND day <= :to'
const sessionsByDay = statement(`SELECT day, count FROM daily_sessions ${range}`)
/** For each day, the names with the most events, ordered by name. */
export const eventsByDay = statement(
  `SELECT day, name, count, total FROM (
     SELECT day, name, count, sum(count) OVER (PARTITION BY day)::bigint AS total,
       row_number() OVER (PARTITION BY day ORDER BY count DESC, name) AS place
     FROM daily_events ${range}
   ) AS placed WHERE place <= :maxNames ORDER BY day, name`,
)
/** The number of events for each name, limited to the latest days when there are too many rows. */
const eventsByName = statement(
  `SELECT name, sum(count)::bigint AS count, count(*) AS rows FROM (
     SELECT name, count FROM daily_events ${range} ORDER BY day DESC, name DESC LIMIT ${maxNameRows}) AS latest GROUP BY name`,
)
/** Sums of the next names in order: for each day the sum, the last name and the number of names. */
const nextEvents = statement(
  `SELECT day, sum(count)::bigint AS count, max(name) AS name, count(*) AS names FROM (
     SELECT day, name, count FROM daily_events
     WHERE tracker_id = :trackerId AND (day, name) > (:day, :name) AND day <= :to
     ORDER BY day, name LIMIT ${namesAtOnce}) AS added GROUP BY day ORDER BY day`,
)

export function dailyTotalStore(engine: Engine): DailyTotalStore {
  /** The events of each day. Other requests are served between two steps. */
  async function sumEvents(trackerId: string, from: Day, to: Day): Promise<Row[]> {
    const sums: Row[] = []
    let [day, name] = [from, '']
    for (;;) {
      const added = await engine.read(nextEvents, { trackerId, day, name, to })
      sums.push(...added)
      const last = added.at(-1)
      const names = added.reduce((sum, row) => sum + integer(row, 'names'), 0)
      if (!last || names < namesAtOnce) return sums
      day = integer(last, 'day')
      name = text(last, 'name')
      await nextTurn()
    }
  }

  return {
    async list(tracker, from, to) {
      const { trackerId } = tracker
      const [isThere, sessions, events] = await Promise.all([
        isVisible(engine, tracker),
        engine.read(sessionsByDay, { trackerId, from, to }),
        engine.read(eventsByDay, { trackerId, from, to, maxNames }),
      ])
      return isThere ? toDailyTotals(sessions, events) : null
    },
    async sum(tracker, from, to) {
      const { trackerId } = tracker
      const [isThere, sessions, events] = await Promise.all([
        isVisible(engine, tracker),
        engine.read(sessionsByDay, { trackerId, from, to }),
        sumEvents(trackerId, from, to),
      ])
      return isThere ? toDailySums(sessions, events) : null
    },
    async names(tracker, from, to, limit) {
      const { trackerId } = tracker
      const [isThere, rows] = await Promise.all([
        isVisible(engine, tracker),
        engine.read(eventsByName, { trackerId, from, to }),
      ])
      return isThere ? toEventNames(rows, limit) : null
    },
  }
}

/**
 * Combines the sessions and the events of each day. A row of events has a name, its `count` and the `total`
 * of its day; the rows of a day are ordered by name.
 */
function toDailyTotals(sessions: readonly Row[], events: readonly Row[]): DailyTotal[] {
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
    const listed = names.get(sum.day) ?? []
    const listedEvents = listed.reduce((total, [, count]) => total + count, 0)
    return { ...sum, events: Object.fromEntries(listed), otherEvents: sum.events - listedEvents }
  })
}

/**
 * Combines the sessions and the events of each day. A day may have several rows of events, which are added
 * up.
 */
function toDailySums(sessions: readonly Row[], events: readonly Row[]): DailySum[] {
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

function toEventNames(rows: readonly Row[], limit: number): EventNames {
  const names = rows.map((row) => ({ name: text(row, 'name'), count: integer(row, 'count') }))
  names.sort((a, b) => b.count - a.count || (a.name < b.name ? -1 : 1))
  const read = rows.reduce((sum, row) => sum + integer(row, 'rows'), 0)
  return { names: names.slice(0, limit), isComplete: read < maxNameRows }
}
