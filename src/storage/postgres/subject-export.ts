import { setImmediate as nextTurn } from 'node:timers/promises'
import type { ExportStore, TakePart } from '../../domain/subject-export.ts'
import type { TrackerView } from '../../domain/tracker.ts'
import { eventColumns, toExportedEvent } from '../rows/event.ts'
import type { Values } from '../rows/row.ts'
import { sessionColumns, toExportedSession } from '../rows/session.ts'
import { toRecord, toSummary } from '../rows/subject.ts'
import type { Connections, ReadValues } from './connections.ts'
import { subjectKeyText } from './key-text.ts'
import { heldBefore, withinPage } from './present-subject.ts'
import { type Statement, statement } from './statement.ts'
import { readOne } from './subject-as-seen.ts'

/** How many rows a statement finds at most. It also ends at about a mebibyte of what was collected. */
const rowsAtOnce = 300
/** How many of them are handed over between two turns of the event loop. */
const rowsPerTurn = 20
const beforeAll = Number.MIN_SAFE_INTEGER

const listSessions = statement(
  `SELECT ${sessionColumns} FROM (
     SELECT session_id, started_at, ended_at, attributes, ${heldBefore('attributes', 'started_at, session_id')},
       CASE WHEN started_at >= $2 THEN event_count ELSE event_count - (
         SELECT count(*) FROM events e WHERE e.subject_key = $1 AND e.occurred_at >= s.started_at
         AND e.occurred_at < $2 AND e.session_id = s.session_id) END AS event_count
     FROM sessions s WHERE subject_key = $1 AND ended_at >= $2 AND (started_at, session_id) > ($3, $4)
     ORDER BY started_at, session_id LIMIT $5) x WHERE ${withinPage}`,
)
const listEvents = statement(
  `SELECT ${eventColumns} FROM (
     SELECT ${eventColumns}, ${heldBefore('properties', 'occurred_at, event_id')} FROM events
     WHERE subject_key = $1 AND occurred_at >= $2 AND (occurred_at, event_id) > ($3, $4)
     ORDER BY occurred_at, event_id LIMIT $5) e WHERE ${withinPage}`,
)

/** Exports within transactions that see one moment, on connections of their own kind. */
export function exportStore(connections: Connections): ExportStore {
  return {
    subject: (view, subjectId, take) =>
      connections.atOneMoment((read) => handOver(read, view, subjectId, take)),
  }
}

async function handOver(
  read: ReadValues,
  { trackerId, organisationId, since }: TrackerView,
  subjectId: string,
  take: TakePart,
): Promise<boolean> {
  const key = subjectKeyText(trackerId, subjectId)
  const [found] = await read(readOne, [since, key, organisationId])
  if (!found) return false
  await take({ kind: 'record', record: toRecord(toSummary(found), found[5], found[6]) })
  const pagesOf = <Item>(
    list: Statement,
    toItem: (row: Values) => Item,
    positionOf: (item: Item) => Position,
  ) => pages((after) => read(list, [key, since, ...after, rowsAtOnce]), toItem, positionOf)
  const sessions = pagesOf(listSessions, toExportedSession, ({ startedAt, sessionId }) => [
    startedAt,
    sessionId,
  ])
  for await (const rows of sessions) await take({ kind: 'sessions', rows })
  const events = pagesOf(listEvents, toExportedEvent, ({ occurredAt, eventId }) => [occurredAt, eventId])
  for await (const rows of events) await take({ kind: 'events', rows })
  return true
}

type Position = [at: number, id: string]

/**
 * Hands over a page in slices: between two of them, others come first. The next page is asked for with the last slice, so that neither
 * side waits for the other, and yet the database and this process are hardly ever busy for one export both.
 */
async function* pages<Item>(
  read: (after: Position) => Promise<Values[]>,
  toItem: (row: Values) => Item,
  positionOf: (item: Item) => Position,
): AsyncGenerator<Item[]> {
  let asked = read([beforeAll, ''])
  for (;;) {
    const rows = await asked
    const last = rows.at(-1)
    if (last === undefined) return
    for (let from = 0; from < rows.length; from += rowsPerTurn) {
      if (from + rowsPerTurn >= rows.length) {
        asked = read(positionOf(toItem(last)))
        // Whoever takes no more does not hear of it.
        asked.catch(() => {})
      }
      await nextTurn()
      yield rows.slice(from, from + rowsPerTurn).map(toItem)
    }
  }
}
