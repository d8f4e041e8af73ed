import { setImmediate as nextTurn } from 'node:timers/promises'
import type { ExportStore } from '../../domain/subject-export.ts'
import type { TrackerView } from '../../domain/tracker.ts'
import { asInteger, asText, type Values } from '../nouns/row.ts'
import { postgresOnly } from '../nouns/statement.ts'
import {
  eventColumns,
  sessionColumns,
  toExportedEvent,
  toExportedSession,
  toRecord,
  toSummary,
} from '../nouns/subject.ts'
import { visible } from '../nouns/tracker.ts'
import {
  beforeAll,
  type ExportSnapshot,
  exportInSnapshots,
  maxSnapshotMs,
  type Position,
  type Slice,
} from '../rules/export.ts'
import type { Connections, ReadValues } from './connections.ts'
import { subjectKeyText } from './lock-subjects.ts'
import { heldBefore, readOne, withinPage } from './subject.ts'
import { readOneOnShard } from './subject-on-shards.ts'

/** The most rows of one statement. It also ends at about one mebibyte of collected data. */
const rowsAtOnce = 300
/** A cluster plans each statement again, on two nodes. */
const rowsAtOnceOnShard = 1_000
/** How many of them are passed on between two turns of the event loop. */
const rowsPerTurn = 20

const readStamp = postgresOnly(
  `SELECT first_seen_at, last_seen_at, oldest_at, session_count, event_count FROM subjects WHERE subject_key = $1`,
)
const readLastEvent = postgresOnly(
  `SELECT occurred_at, event_id FROM events WHERE subject_key = $1
   ORDER BY occurred_at DESC, event_id DESC LIMIT 1`,
)
const findEvent = postgresOnly(
  'SELECT 1 FROM events WHERE subject_key = $1 AND occurred_at = $2 AND event_id = $3',
)
const listSessions = postgresOnly(
  `SELECT ${sessionColumns} FROM (
     SELECT session_id, started_at, ended_at, attributes, ${heldBefore('attributes', 'started_at, session_id')},
       CASE WHEN started_at >= $2 THEN event_count ELSE event_count - (
         SELECT count(*) FROM events e WHERE e.subject_key = $1 AND e.occurred_at >= s.started_at
         AND e.occurred_at < $2 AND e.session_id = s.session_id) END AS event_count
     FROM sessions s WHERE subject_key = $1 AND ended_at >= $2 AND (started_at, session_id) > ($3, $4)
     ORDER BY started_at, session_id LIMIT $5) x WHERE ${withinPage}`,
)
const listEvents = postgresOnly(
  `SELECT ${eventColumns} FROM (
     SELECT ${eventColumns}, ${heldBefore('properties', 'occurred_at, event_id')} FROM events
     WHERE subject_key = $1 AND (occurred_at, event_id) > ($2, $3) AND (occurred_at, event_id) <= ($4, $5)
     ORDER BY occurred_at, event_id LIMIT $6) e WHERE ${withinPage}`,
)

/** Exports in read-only snapshots on separate connections. */
export function exportStore(connections: Connections): ExportStore {
  return {
    subject: (view, subjectId, take, giveWay) =>
      exportInSnapshots(
        (read) =>
          connections.inSnapshot((readValues) =>
            read(snapshotOf(readValues, view, subjectId, connections.isDistributed)),
          ),
        take,
        giveWay,
      ),
  }
}

function snapshotOf(
  read: ReadValues,
  { trackerId, organisationId, since }: TrackerView,
  subjectId: string,
  isDistributed: boolean,
): ExportSnapshot {
  const endsAt = performance.now() + maxSnapshotMs
  const maxRows = isDistributed ? rowsAtOnceOnShard : rowsAtOnce
  const isOpen = () => performance.now() < endsAt
  const key = subjectKeyText(trackerId, subjectId)
  async function stamp(): Promise<string | null> {
    const [row] = await read(readStamp, [key])
    return row ? JSON.stringify(row) : null
  }
  return {
    isOpen,
    stamp,
    async start() {
      if (isDistributed && (await read(visible, { trackerId, organisationId })).length === 0) return null
      const [found] = await (isDistributed
        ? read(readOneOnShard, [since, key])
        : read(readOne, [since, key, organisationId]))
      const stamped = await stamp()
      const [last] = await read(readLastEvent, [key])
      if (!found || stamped === null) return null
      const record = toRecord(toSummary(found), found[5], found[6])
      return { record, stamp: stamped, lastEvent: last ? toPosition(last) : null }
    },
    async hasEvent(position) {
      return (await read(findEvent, [key, ...position])).length === 1
    },
    sessions: (after) =>
      slices({
        read: (behind) => read(listSessions, [key, since, ...behind, maxRows]),
        toItem: toExportedSession,
        positionOf: ({ startedAt, sessionId }) => [startedAt, sessionId],
        after,
        isOpen,
      }),
    events: (after, last) =>
      slices({
        read: (behind) => read(listEvents, [key, ...behind, ...last, maxRows]),
        toItem: toExportedEvent,
        positionOf: ({ occurredAt, eventId }) => [occurredAt, eventId],
        after: after === beforeAll ? [since, ''] : after,
        isOpen,
      }),
  }
}

function toPosition([at, id]: Values): Position {
  return [asInteger(at, 'occurred_at'), asText(id, 'event_id')]
}

interface Listing<Item> {
  read(after: Position): Promise<Values[]>
  toItem(row: Values): Item
  positionOf(item: Item): Position
  after: Position
  isOpen(): boolean
}

/**
 * Yields pages in slices, with other work in between. The next page is requested with the last slice, so that
 * neither side waits, while the database and this process are rarely both busy with one export.
 */
async function* slices<Item>({
  read,
  toItem,
  positionOf,
  after,
  isOpen,
}: Listing<Item>): AsyncGenerator<Slice<Item>> {
  let asked = read(after)
  for (;;) {
    const rows = await asked
    const last = rows.at(-1)
    if (last === undefined) return
    for (let from = 0; from < rows.length; from += rowsPerTurn) {
      if (from + rowsPerTurn >= rows.length) {
        asked = read(positionOf(toItem(last)))
        // If the reader has stopped, the error is of no interest.
        asked.catch(() => {})
      }
      await nextTurn()
      const slice = rows.slice(from, from + rowsPerTurn)
      yield { rows: slice.map(toItem), last: positionOf(toItem(slice.at(-1) ?? last)) }
      if (!isOpen()) return
    }
  }
}
