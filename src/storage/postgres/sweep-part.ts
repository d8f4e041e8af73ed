import type { Instant } from '../../domain/instant.ts'
import { integer, text } from '../nouns/row.ts'
import { statement } from '../nouns/statement.ts'
import type { SubjectState } from './lock-subjects.ts'
import type { Run } from './transact.ts'

const eventBeyond = statement(
  `SELECT occurred_at, event_id FROM events WHERE subject_key = $1 AND occurred_at < $2
   ORDER BY occurred_at, event_id LIMIT 1 OFFSET $3`,
)
const deleteEvents = statement(
  'DELETE FROM events WHERE subject_key = $1 AND (occurred_at, event_id) < ($2, $3) RETURNING session_id',
)
const takeOff = statement(
  'UPDATE sessions SET event_count = event_count - $3 WHERE subject_key = $1 AND session_id = $2',
)
const lastToEnd = statement(
  `SELECT session_id FROM sessions WHERE subject_key = $1 AND ended_at = $2
   ORDER BY started_at DESC, session_id DESC LIMIT 1`,
)
const deleteSessions = statement(
  `DELETE FROM sessions WHERE subject_key = $1 AND session_id IN (
     SELECT session_id FROM sessions WHERE subject_key = $1 AND started_at < $2 AND ended_at < $2 AND session_id <> $3
     ORDER BY started_at, session_id LIMIT $4)`,
)
/** What was deleted; not whole when something may be left that has aged out. */
export interface Part {
  sessions: number
  events: number
  isWhole: boolean
}

/**
 * Deletes the earliest rows that have aged out of a subject that has more rows than a step may delete, and takes the events off
 * their sessions' counts. When all its sessions have aged out the one that ended last stays for another step: what is left was then
 * seen last when the subject's row says.
 */
export async function sweepPart(
  run: Run,
  subject: SubjectState,
  since: Instant,
  room: number,
): Promise<Part> {
  const events = await sweepEvents(run, subject.key, since, room)
  if (events === room) return { sessions: 0, events, isWhole: false }
  const { key, lastSeenAt, sessionCount } = subject
  const roomForSessions = room - events
  const keepsLast = lastSeenAt < since && sessionCount > roomForSessions
  const kept = keepsLast ? (await run(lastToEnd, [key, lastSeenAt])).rows[0] : undefined
  const keptId = kept ? text(kept, 'session_id') : ''
  const { count: sessions } = await run(deleteSessions, [key, since, keptId, roomForSessions])
  return { sessions, events, isWhole: sessions < roomForSessions && !keepsLast }
}

async function sweepEvents(run: Run, key: string, since: Instant, room: number): Promise<number> {
  const [beyond] = (await run(eventBeyond, [key, since, room])).rows
  const until = beyond ? [integer(beyond, 'occurred_at'), text(beyond, 'event_id')] : [since, '']
  const { rows } = await run(deleteEvents, [key, ...until])
  const counts = new Map<string, number>()
  for (const row of rows) {
    const sessionId = text(row, 'session_id')
    counts.set(sessionId, (counts.get(sessionId) ?? 0) + 1)
  }
  await Promise.all(Array.from(counts, ([sessionId, count]) => run(takeOff, [key, sessionId, count])))
  return rows.length
}
