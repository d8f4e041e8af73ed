import type { PoolClient } from 'pg'
import type { IncomingEvent, IngestStore } from '../../domain/ingest.ts'
import { DailyChanges } from '../daily-changes.ts'
import {
  bySubject,
  changeSubject,
  type SessionState,
  type SubjectBatch,
  type SubjectChange,
  withoutRefused,
} from '../ingest-batch.ts'
import type { Connections } from './connections.ts'
import { copyRows } from './copy-rows.ts'
import { addToDailyTotals } from './daily-total.ts'
import { holdTrackers, takeTurn } from './hold-owner.ts'
import { keepInterleaved } from './interleaving.ts'
import { keyText } from './key-text.ts'
import { findKnownRows, KnownRows } from './known-rows.ts'
import { insertSubjects, lockSubjects, type SubjectState, updateSubjects } from './lock-subjects.ts'
import { statement } from './statement.ts'
import type { Run } from './transact.ts'

const sessionColumns = [
  'subject_key',
  'session_id',
  'started_at',
  'ended_at',
  'event_count',
  'attributes',
  'attributes_at',
]
const eventColumns = ['subject_key', 'occurred_at', 'event_id', 'session_id', 'name', 'properties']

const updateSessions = statement(
  `INSERT INTO sessions (${sessionColumns.join(', ')})
   SELECT * FROM unnest($1::uuid[], $2::text[], $3::bigint[], $4::bigint[], $5::bigint[], $6::text[], $7::bigint[])
   ON CONFLICT (subject_key, session_id) DO UPDATE SET started_at = excluded.started_at, ended_at = excluded.ended_at,
     event_count = excluded.event_count, attributes = excluded.attributes, attributes_at = excluded.attributes_at`,
  'any',
)

interface SessionChange {
  sessionId: string
  stored: SessionState | null
  state: SessionState
}

/** What a subject's part of a batch adds to what is known. */
interface Addition {
  key: string
  /** Its row as it was; `null` for a new one. */
  stored: SubjectState | null
  trackerId: string
  change: SubjectChange | null
  events: IncomingEvent[]
  sessions: SessionChange[]
}

export function ingestStore(connections: Connections): IngestStore {
  return {
    ingest: (batch) =>
      connections.load(async (client, run) => {
        takeTurn(run)
        const there = await holdTrackers(run, [...new Set(batch.map(({ trackerId }) => trackerId))].sort())
        const { accepted, ...refused } = withoutRefused(bySubject(batch), (id) => there.has(id))
        const { additions, newSubjects } = await claimSubjects(run, accepted, connections.isDistributed)
        await writeAdditions(client, run, additions)
        for (const addition of additions) await keepInterleaved(run, toGrowth(addition))
        await addToDailyTotals(run, toDailyChanges(additions))
        return {
          subjects: newSubjects,
          sessions: additions.reduce((sum, { change }) => sum + (change?.sessions ?? 0), 0),
          events: additions.reduce((sum, { events }) => sum + events.length, 0),
          ...refused,
        }
      }),
  }
}

/**
 * Locks the subjects of a batch that are stored and stores those that are not, each with what the batch makes of it. From then on
 * nobody else writes to them until the transaction ends, so what was found out about them stays true.
 */
async function claimSubjects(run: Run, batch: readonly SubjectBatch[], isDistributed: boolean) {
  const additions: Addition[] = []
  let newSubjects = 0
  let pending = new Map(batch.map((subject) => [keyText(subject.key), subject]))
  // A second round is for subjects that another process stored or erased in between.
  while (pending.size > 0) {
    const stored = await lockSubjects(run, [...pending.keys()], isDistributed)
    const known = await findKnownRows(
      run,
      [...pending].flatMap(([key, subject]) => (stored.has(key) ? [subject] : [])),
    )
    const found = [...pending].map(([key, subject]) => addTo(known, key, subject, stored.get(key) ?? null))
    const grown = found.flatMap(({ key, change }) => {
      const state = stored.get(key)
      return state && change ? [grow(state, change)] : []
    })
    await updateSubjects(run, grown)
    const fresh = found.flatMap(({ key, change }) => (change && !stored.has(key) ? [begin(key, change)] : []))
    const inserted = await insertSubjects(run, fresh)
    newSubjects += inserted.size
    additions.push(...found.filter(({ key }) => stored.has(key) || inserted.has(key)))
    pending = new Map([...pending].filter(([key]) => !stored.has(key) && !inserted.has(key)))
  }
  return { additions, newSubjects }
}

function addTo(known: KnownRows, key: string, subject: SubjectBatch, stored: SubjectState | null): Addition {
  const ownEvents = new KnownRows()
  const events = subject.events.filter(({ occurredAt, eventId }) => {
    if (known.hasEvent(key, occurredAt, eventId) || ownEvents.hasEvent(key, occurredAt, eventId)) return false
    ownEvents.addEvent(key, occurredAt, eventId)
    return true
  })
  const sessions: SessionChange[] = []
  const change = changeSubject(subject, events, {
    find: (sessionId) => known.session(key, sessionId),
    put: (sessionId, stored, state) => sessions.push({ sessionId, stored, state }),
  })
  return { key, stored, trackerId: subject.trackerId, change, events, sessions }
}

function toGrowth({ key, stored, events, sessions }: Addition) {
  const before = stored?.eventCount ?? 0
  const spans = sessions.map(({ sessionId, state: { startedAt, endedAt } }) => ({
    sessionId,
    startedAt,
    endedAt,
  }))
  const isInterleaved = stored?.isInterleaved ?? false
  return { key, before, after: before + events.length, sessions: spans, newEvents: events, isInterleaved }
}

function begin(key: string, { sessions, events, ...seen }: SubjectChange): SubjectState {
  return { ...seen, key, sessionCount: sessions, eventCount: events, isInterleaved: false }
}

function grow(stored: SubjectState, change: SubjectChange): SubjectState {
  return {
    ...stored,
    firstSeenAt: Math.min(stored.firstSeenAt, change.firstSeenAt),
    lastSeenAt: Math.max(stored.lastSeenAt, change.lastSeenAt),
    oldestAt: Math.min(stored.oldestAt, change.oldestAt),
    sessionCount: stored.sessionCount + change.sessions,
    eventCount: stored.eventCount + change.events,
  }
}

async function writeAdditions(client: PoolClient, run: Run, additions: readonly Addition[]): Promise<void> {
  const isInterleaved = ({ stored }: Addition) => stored?.isInterleaved === true
  const plain = additions.filter((addition) => !isInterleaved(addition))
  await copyRows(client, 'events', eventColumns, plain.flatMap(toEventRows))
  const interleaved = additions.filter(isInterleaved).flatMap(toEventRows)
  const marked = interleaved.map((row) => [...row, 1])
  await copyRows(client, 'events', [...eventColumns, 'interleaved'], marked)
  const sessions = additions.flatMap(({ key, sessions }) => sessions.map((session) => ({ key, ...session })))
  const isNew = ({ stored }: SessionChange) => stored === null
  await copyRows(client, 'sessions', sessionColumns, sessions.filter(isNew).map(toSessionRow))
  const changed = sessions.filter((session) => !isNew(session)).map(toSessionRow)
  if (changed.length > 0) {
    await run(
      updateSessions,
      sessionColumns.map((_, column) => changed.map((row) => row[column] ?? null)),
    )
  }
}

function toEventRows({ key, events }: Addition) {
  return events.map(({ occurredAt, eventId, sessionId, name, properties }) => [
    key,
    occurredAt,
    eventId,
    sessionId,
    name,
    JSON.stringify(properties),
  ])
}

function toSessionRow({ key, sessionId, state }: SessionChange & { key: string }) {
  const { startedAt, endedAt, eventCount, attributes, attributesAt } = state
  return [key, sessionId, startedAt, endedAt, eventCount, attributes, attributesAt]
}

function toDailyChanges(additions: readonly Addition[]): DailyChanges {
  const totals = new DailyChanges()
  for (const { trackerId, events, sessions } of additions) {
    for (const { occurredAt, name } of events) totals.addEvent(trackerId, occurredAt, name)
    for (const { stored, state } of sessions) {
      totals.addSession(trackerId, state.startedAt, stored?.startedAt ?? null)
    }
  }
  return totals
}
