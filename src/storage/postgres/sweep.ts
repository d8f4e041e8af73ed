import type { SubjectCounts } from '../../domain/activity.ts'
import type { Instant } from '../../domain/instant.ts'
import type { SweptCounts } from '../../domain/retention.ts'
import { lockSweptBefore, sweptBefore, windowOf } from '../nouns/retention.ts'
import { integer, type Row, text } from '../nouns/row.ts'
import { noteDeletion } from '../nouns/scrub.ts'
import { postgresOnly } from '../nouns/statement.ts'
import type { TrackerSweep } from '../nouns/stores.ts'
import type { Connections } from './connections.ts'
import { lockSubjects, type SubjectState, updateSubjects } from './lock-subjects.ts'
import type { Run } from './transaction.ts'

/** The most subjects per step: one may have very little to delete. */
const maxSubjects = 1_000

const agedSubjects = postgresOnly(
  `SELECT subject_key, session_count + event_count AS rows FROM subjects WHERE tracker_id = $1 AND oldest_at < $2
   ORDER BY oldest_at LIMIT $3`,
  'any',
)
const ofSubjects = 'WHERE subject_key = ANY ($1)'
const deleteEvents = postgresOnly(
  `DELETE FROM events ${ofSubjects} AND occurred_at < $2 RETURNING subject_key`,
  'any',
)
// What ended before the window also started before it, so the index by start can be used.
const deleteSessions = postgresOnly(
  `DELETE FROM sessions ${ofSubjects} AND started_at < $2 AND ended_at < $2 RETURNING subject_key`,
  'any',
)
const deleteAgedIdentifiers = postgresOnly(`DELETE FROM identifiers ${ofSubjects} AND brought_at < $2`, 'any')
const deleteIdentifiers = postgresOnly(`DELETE FROM identifiers ${ofSubjects}`, 'any')
const deleteSubjects = postgresOnly(`DELETE FROM subjects ${ofSubjects}`, 'any')
// Of what started before the window, only what ends within it is left.
const recountSessions = postgresOnly(
  `UPDATE sessions s SET event_count = (
     SELECT count(*) FROM events e WHERE e.subject_key = s.subject_key AND e.session_id = s.session_id
     AND e.occurred_at >= s.started_at AND e.occurred_at <= s.ended_at)
   ${ofSubjects} AND started_at < $2`,
  'any',
)
// When the next of the remaining rows expires, or earlier. Of the sessions that started before the window
// only those that end within it are left, which are few, unless this step was partial ($3 is false).
const whatIsLeft = postgresOnly(
  `SELECT subject_key,
     (SELECT min(started_at) FROM sessions x WHERE x.subject_key = s.subject_key) AS first_start,
     least((SELECT min(CASE WHEN $3 THEN ended_at ELSE started_at END) FROM sessions x
            WHERE x.subject_key = s.subject_key AND x.started_at < $2),
           (SELECT min(started_at) FROM sessions x WHERE x.subject_key = s.subject_key AND x.started_at >= $2),
           (SELECT min(occurred_at) FROM events e WHERE e.subject_key = s.subject_key),
           (SELECT min(brought_at) FROM identifiers i WHERE i.subject_key = s.subject_key)) AS oldest
   FROM subjects s ${ofSubjects}`,
  'any',
)

const countSubjects = postgresOnly(
  'SELECT count(*) AS count FROM subjects WHERE tracker_id = $1 AND last_seen_at < $2',
  'any',
)
const ofTracker = 'JOIN subjects s USING (subject_key) WHERE s.tracker_id = $1 AND s.oldest_at < $2'
const countSessions = postgresOnly(
  `SELECT count(*) AS count FROM sessions x ${ofTracker} AND x.started_at < $2 AND x.ended_at < $2`,
  'any',
)
const countEvents = postgresOnly(
  `SELECT count(*) AS count FROM events e ${ofTracker} AND e.occurred_at < $2`,
  'any',
)

/** After everything that was collected. */
const afterEverything = Number.MAX_SAFE_INTEGER

const nothing = { subjects: 0, sessions: 0, events: 0, isDone: true }

/** Deletes and counts expired data of trackers. */
export function trackerSweep(connections: Connections): TrackerSweep {
  return {
    sweepAll: (trackerId, maxRows) =>
      sweepBefore(connections, trackerId, afterEverything, maxRows, async () => afterEverything),
    async countBefore(trackerId, since) {
      const [subjects = 0, sessions = 0, events = 0] = await Promise.all(
        [countSubjects, countSessions, countEvents].map(async (count) => {
          const [row] = await connections.readLong(count, [trackerId, since])
          return integer(row ?? {}, 'count')
        }),
      )
      return { subjects, sessions, events }
    },
    async sweep(trackerId, step) {
      const likelySince = sweptBefore(
        await connections.read(windowOf.visitors, { id: trackerId }),
        'visitors',
        step,
      )
      if (likelySince === null) return nothing
      return sweepBefore(connections, trackerId, likelySince, step.maxRows, (run) =>
        lockSweptBefore(run, 'visitors', trackerId, step),
      )
    },
  }
}

/**
 * One step of deleting a tracker's data from before an instant: probably `likelySince`, and certainly the one
 * found within the transaction.
 */
async function sweepBefore(
  connections: Connections,
  trackerId: string,
  likelySince: Instant,
  maxRows: number,
  findSince: (run: Run) => Promise<Instant | null>,
): Promise<SweptCounts & { isDone: boolean }> {
  const aged = await connections.read(agedSubjects, [trackerId, likelySince, maxSubjects])
  const keys = keysWithin(aged, maxRows)
  if (keys.length === 0) return nothing
  return connections.transaction(async (run) => {
    const since = await findSince(run)
    if (since === null) return nothing
    const locked = await lockSubjects(run, keys, connections.isDistributed)
    const subjects = [...locked.values()].filter(({ oldestAt }) => oldestAt < since)
    const { isWhole, ...swept } = await sweepSubjects(run, subjects, since, maxRows)
    if (swept.subjects + swept.sessions + swept.events > 0) noteDeletion(run)
    return { ...swept, isDone: isWhole && keys.length === aged.length && aged.length < maxSubjects }
  })
}

/** The first subjects that together have about `maxRows` rows; a larger first one comes alone. */
function keysWithin(aged: readonly Row[], maxRows: number): string[] {
  let rows = 0
  const beyond = aged.findIndex((row) => {
    rows += integer(row, 'rows')
    return rows > maxRows
  })
  const fit = aged.slice(0, beyond === -1 ? aged.length : Math.max(beyond, 1))
  return fit.map((row) => text(row, 'subject_key'))
}

async function sweepSubjects(
  run: Run,
  subjects: readonly SubjectState[],
  since: Instant,
  maxRows: number,
): Promise<SweptCounts & { isWhole: boolean }> {
  const [first] = subjects
  if (first && first.sessionCount + first.eventCount > maxRows) {
    const { sessions, events, isWhole } = await sweepPart(run, first, since, maxRows)
    const gone = await settle(run, [first], since, isWhole, new Map([[first.key, { sessions, events }]]))
    return { subjects: gone, sessions, events, isWhole }
  }
  const keys = subjects.map(({ key }) => key)
  const [events, sessions] = await Promise.all([
    run(deleteEvents, [keys, since]),
    run(deleteSessions, [keys, since]),
    run(recountSessions, [keys, since]),
  ])
  const swept = new Map(keys.map((key) => [key, { sessions: 0, events: 0 }]))
  const of = (row: Row) => swept.get(text(row, 'subject_key')) ?? { sessions: 0, events: 0 }
  for (const row of sessions.rows) of(row).sessions += 1
  for (const row of events.rows) of(row).events += 1
  const gone = await settle(run, subjects, since, true, swept)
  return { subjects: gone, sessions: sessions.rows.length, events: events.rows.length, isWhole: true }
}

/** Updates the rows of subjects after a sweep; deletes those with nothing left, and counts them. */
async function settle(
  run: Run,
  subjects: readonly SubjectState[],
  since: Instant,
  isWhole: boolean,
  swept: ReadonlyMap<string, SubjectCounts>,
): Promise<number> {
  const keys = subjects.map(({ key }) => key)
  const [aged, { rows }] = await Promise.all([
    run(deleteAgedIdentifiers, [keys, since]),
    run(whatIsLeft, [keys, since, isWhole]),
  ])
  if (aged.count > 0) noteDeletion(run)
  const left = new Map(rows.map((row) => [text(row, 'subject_key'), row]))
  const gone: string[] = []
  const kept: SubjectState[] = []
  for (const subject of subjects) {
    const row = left.get(subject.key) ?? {}
    const { sessions, events } = swept.get(subject.key) ?? { sessions: 0, events: 0 }
    if (row.first_start === null) gone.push(subject.key)
    else {
      kept.push({
        ...subject,
        firstSeenAt: integer(row, 'first_start'),
        oldestAt: integer(row, 'oldest'),
        sessionCount: subject.sessionCount - sessions,
        eventCount: subject.eventCount - events,
      })
    }
  }
  await updateSubjects(run, kept)
  if (gone.length > 0) {
    run(deleteIdentifiers, [gone])
    await run(deleteSubjects, [gone])
  }
  return gone.length
}

const eventBeyond = postgresOnly(
  `SELECT occurred_at, event_id FROM events WHERE subject_key = $1 AND occurred_at < $2
   ORDER BY occurred_at, event_id LIMIT 1 OFFSET $3`,
)
const deleteEventsUpTo = postgresOnly(
  'DELETE FROM events WHERE subject_key = $1 AND (occurred_at, event_id) < ($2, $3) RETURNING session_id',
)
const takeOff = postgresOnly(
  'UPDATE sessions SET event_count = event_count - $3 WHERE subject_key = $1 AND session_id = $2',
)
const lastToEnd = postgresOnly(
  `SELECT session_id FROM sessions WHERE subject_key = $1 AND ended_at = $2
   ORDER BY started_at DESC, session_id DESC LIMIT 1`,
)
const deleteSomeSessions = postgresOnly(
  `DELETE FROM sessions WHERE subject_key = $1 AND session_id IN (
     SELECT session_id FROM sessions WHERE subject_key = $1 AND started_at < $2 AND ended_at < $2 AND session_id <> $3
     ORDER BY started_at, session_id LIMIT $4)`,
)
/** What was deleted; not whole if expired rows may be left. */
interface Part {
  sessions: number
  events: number
  isWhole: boolean
}

/**
 * Deletes the oldest expired rows of a subject that has more rows than a step may delete, and subtracts the
 * events from their sessions' counts. If all sessions have expired, the one that ended last stays for another
 * step, so that `last_seen_at` remains true.
 */
async function sweepPart(run: Run, subject: SubjectState, since: Instant, room: number): Promise<Part> {
  const events = await sweepEvents(run, subject.key, since, room)
  if (events === room) return { sessions: 0, events, isWhole: false }
  const { key, lastSeenAt, sessionCount } = subject
  const roomForSessions = room - events
  const keepsLast = lastSeenAt < since && sessionCount > roomForSessions
  const kept = keepsLast ? (await run(lastToEnd, [key, lastSeenAt])).rows[0] : undefined
  const keptId = kept ? text(kept, 'session_id') : ''
  const { count: sessions } = await run(deleteSomeSessions, [key, since, keptId, roomForSessions])
  return { sessions, events, isWhole: sessions < roomForSessions && !keepsLast }
}

async function sweepEvents(run: Run, key: string, since: Instant, room: number): Promise<number> {
  const [beyond] = (await run(eventBeyond, [key, since, room])).rows
  const until = beyond ? [integer(beyond, 'occurred_at'), text(beyond, 'event_id')] : [since, '']
  const { rows } = await run(deleteEventsUpTo, [key, ...until])
  const counts = new Map<string, number>()
  for (const row of rows) {
    const sessionId = text(row, 'session_id')
    counts.set(sessionId, (counts.get(sessionId) ?? 0) + 1)
  }
  await Promise.all(Array.from(counts, ([sessionId, count]) => run(takeOff, [key, sessionId, count])))
  return rows.length
}
