import { addCounts, type DataCounts } from '../../domain/activity.ts'
import type { Instant } from '../../domain/instant.ts'
import { lockSweptBefore, sweptBefore, windowOf } from '../nouns/retention.ts'
import { integer, type Row, text } from '../nouns/row.ts'
import { noteDeletion } from '../nouns/scrub.ts'
import { postgresOnly } from '../nouns/statement.ts'
import type { TrackerSweep } from '../nouns/stores.ts'
import type { Connections } from './connections.ts'
import { ofSubjects, shardOf } from './shard.ts'
import type { Run } from './transaction.ts'

/** The most subjects per step: one may have very little to delete. */
const maxSubjects = 1_000
/** The most subjects per step and shard: a worker compares each row with all keys of a statement. */
const maxOnShard = 100
/** How many transactions of a step run at the same time on a cluster. */
const maxConcurrent = 4

const agedSubjects = postgresOnly(
  `SELECT subject_key, session_count + event_count AS rows FROM subjects WHERE tracker_id = $1 AND oldest_at < $2
   ORDER BY oldest_at LIMIT $3`,
  'never',
)
// Shard by shard, so that a transaction is about few of them.
const agedOnShards = postgresOnly(
  `SELECT subject_key, rows, worker_hash(subject_key) AS hash FROM (
     SELECT subject_key, session_count + event_count AS rows, oldest_at FROM subjects
     WHERE tracker_id = $1 AND oldest_at < $2 ORDER BY oldest_at LIMIT $3) s ORDER BY hash LIMIT $4`,
  'any',
)
const lock = postgresOnly(
  `SELECT subject_key, last_seen_at, session_count, event_count FROM subjects
   WHERE subject_key = ANY ($1) ORDER BY subject_key FOR UPDATE`,
  'colocated',
)
const withKeys = 'WHERE subject_key = ANY ($1)'
const overlapping = 'started_at < $2 AND ended_at >= $2'
/**
 * Deletes what has expired of subjects that are locked. All parts see what was stored before. What ended
 * before the window also started before it, so the index by start can be used.
 */
const sweepWhole = ofSubjects(
  (here) =>
    `WITH gone_events AS (DELETE FROM events ${withKeys} AND occurred_at < $2 RETURNING subject_key),
     gone_sessions AS (DELETE FROM sessions ${withKeys} AND started_at < $2 AND ended_at < $2 RETURNING subject_key),
     recounted AS (UPDATE sessions s SET event_count = (
         SELECT count(*) FROM events e WHERE e.subject_key = s.subject_key${here('e')} AND e.session_id = s.session_id
         AND e.occurred_at >= $2 AND e.occurred_at <= s.ended_at)
       ${withKeys} AND ${overlapping}),
     left_over AS (SELECT s.subject_key, least(x.start, y.start) AS first_start, least(x.end, y.start, e.at, i.at) AS oldest
       FROM subjects s,
         LATERAL (SELECT min(started_at) AS start, min(ended_at) AS end FROM sessions x
           WHERE x.subject_key = s.subject_key${here('x')} AND ${overlapping}) x,
         LATERAL (SELECT min(started_at) AS start FROM sessions y
           WHERE y.subject_key = s.subject_key${here('y')} AND started_at >= $2) y,
         LATERAL (SELECT min(occurred_at) AS at FROM events e
           WHERE e.subject_key = s.subject_key${here('e')} AND occurred_at >= $2) e,
         LATERAL (SELECT min(brought_at) AS at FROM identifiers i
           WHERE i.subject_key = s.subject_key${here('i')} AND brought_at >= $2) i
       WHERE s.subject_key = ANY ($1)),
     gone AS (SELECT subject_key FROM left_over WHERE first_start IS NULL),
     gone_identifiers AS (DELETE FROM identifiers ${withKeys}
       AND (brought_at < $2 OR subject_key IN (SELECT subject_key FROM gone)) RETURNING 1),
     gone_subjects AS (DELETE FROM subjects ${withKeys} AND subject_key IN (SELECT subject_key FROM gone) RETURNING 1),
     changes AS (SELECT subject_key, sum(sessions) AS sessions, sum(events) AS events,
         max(first_start) AS first_start, max(oldest) AS oldest FROM (
           SELECT subject_key, first_start, oldest, 0 AS sessions, 0 AS events FROM left_over
           UNION ALL SELECT subject_key, NULL, NULL, 1, 0 FROM gone_sessions
           UNION ALL SELECT subject_key, NULL, NULL, 0, 1 FROM gone_events) each GROUP BY subject_key),
     kept AS (UPDATE subjects s SET first_seen_at = c.first_start, oldest_at = c.oldest,
         session_count = session_count - c.sessions, event_count = event_count - c.events
       FROM changes c WHERE s.subject_key = ANY ($1) AND s.subject_key = c.subject_key AND c.first_start IS NOT NULL)
   SELECT (SELECT count(*) FROM gone_subjects) AS subjects, (SELECT count(*) FROM gone_sessions) AS sessions,
     (SELECT count(*) FROM gone_events) AS events, (SELECT count(*) FROM gone_identifiers) AS identifiers`,
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
 * found within the transaction. On a cluster a step is several transactions, each about a few shards.
 */
async function sweepBefore(
  connections: Connections,
  trackerId: string,
  likelySince: Instant,
  maxRows: number,
  findSince: (run: Run) => Promise<Instant | null>,
): Promise<DataCounts & { isDone: boolean }> {
  const { shards, isDistributed } = connections
  const maxOfEach = isDistributed ? maxOnShard : maxSubjects
  const aged = await (isDistributed
    ? connections.read(agedOnShards, [trackerId, likelySince, maxOfEach, maxSubjects])
    : connections.read(agedSubjects, [trackerId, likelySince, maxSubjects]))
  const fit = within(aged, maxRows)
  const groups = isDistributed
    ? [...Map.groupBy(fit, (row) => shardOf(shards, integer(row, 'hash'))).values()]
    : [fit]
  const isAll = fit.length === aged.length && fit.length < maxSubjects
  const total = { ...nothing, isDone: isAll && groups.every(({ length }) => length < maxOfEach) }
  if (fit.length === 0) return total
  const transactions = Array.from({ length: Math.min(maxConcurrent, groups.length) }, (_, place) =>
    connections.transaction(async (run) => {
      const since = await findSince(run)
      if (since === null) return { ...nothing, isWhole: true }
      const own = groups.filter((_, i) => i % maxConcurrent === place)
      const swept = await sweepSubjects(run, own.map(toKeys), since, maxRows, isDistributed)
      if (swept.isAny) noteDeletion(run)
      return swept
    }),
  )
  for (const swept of await Promise.all(transactions)) {
    addCounts(total, swept)
    total.isDone &&= swept.isWhole
  }
  return total
}

/** The first subjects that together have about `maxRows` rows; a larger first one comes alone. */
function within(aged: readonly Row[], maxRows: number): readonly Row[] {
  let rows = 0
  const beyond = aged.findIndex((row) => {
    rows += integer(row, 'rows')
    return rows > maxRows
  })
  return aged.slice(0, beyond === -1 ? aged.length : Math.max(beyond, 1))
}

function toKeys(subjects: readonly Row[]): string[] {
  return subjects.map((row) => text(row, 'subject_key'))
}

/** Sweeps groups of subjects; each is on one shard. A large one comes alone. */
async function sweepSubjects(
  run: Run,
  groups: readonly string[][],
  since: Instant,
  maxRows: number,
  areOnShards: boolean,
): Promise<DataCounts & { isWhole: boolean; isAny: boolean }> {
  const locked = groups.map((keys) => run(lock, [keys]))
  const isAlone = groups.length === 1 && groups[0]?.length === 1
  const part = isAlone ? await sweepPart(run, (await locked[0])?.rows ?? [], since, maxRows) : null
  if (part && !part.isWhole) return { subjects: 0, ...part, isAny: true }
  const swept = { subjects: 0, sessions: part?.sessions ?? 0, events: part?.events ?? 0, identifiers: 0 }
  const sweep = areOnShards ? sweepWhole.onShard : sweepWhole.local
  for (const { rows } of await Promise.all(groups.map((keys) => run(sweep, [keys, since])))) {
    const [row = {}] = rows
    swept.subjects += integer(row, 'subjects')
    swept.sessions += integer(row, 'sessions')
    swept.events += integer(row, 'events')
    swept.identifiers += integer(row, 'identifiers')
  }
  const { identifiers, ...counts } = swept
  const isAny = counts.subjects + counts.sessions + counts.events + identifiers > 0
  return { ...counts, isWhole: true, isAny }
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
// Until nothing expired is left, the subject counts as old as its oldest row.
const settlePart = postgresOnly(
  `UPDATE subjects SET session_count = session_count - $2, event_count = event_count - $3,
     first_seen_at = coalesce((SELECT min(started_at) FROM sessions WHERE subject_key = $1), first_seen_at),
     oldest_at = coalesce(least((SELECT min(started_at) FROM sessions WHERE subject_key = $1),
       (SELECT min(occurred_at) FROM events WHERE subject_key = $1),
       (SELECT min(brought_at) FROM identifiers WHERE subject_key = $1)), oldest_at)
   WHERE subject_key = $1`,
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
async function sweepPart(
  run: Run,
  [subject]: readonly Row[],
  since: Instant,
  room: number,
): Promise<Part | null> {
  if (!subject) return null
  const sessionCount = integer(subject, 'session_count')
  if (sessionCount + integer(subject, 'event_count') <= room) return null
  const key = text(subject, 'subject_key')
  const events = await sweepEvents(run, key, since, room)
  const roomForSessions = room - events
  const lastSeenAt = integer(subject, 'last_seen_at')
  const keepsLast = lastSeenAt < since && sessionCount > roomForSessions
  const kept = keepsLast ? (await run(lastToEnd, [key, lastSeenAt])).rows[0] : undefined
  const keptId = kept ? text(kept, 'session_id') : ''
  const { count: sessions } = await run(deleteSomeSessions, [key, since, keptId, roomForSessions])
  run(settlePart, [key, sessions, events])
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
