import type { PoolClient } from 'pg'
import { BatchBlocked, type IngestResult, type IngestStore } from '../../domain/ingest.ts'
import type { TombstoneKey } from '../../domain/keyring.ts'
import { refusedLineStore } from '../nouns/refused-line.ts'
import { postgresOnly } from '../nouns/statement.ts'
import {
  bySubject,
  DailyChanges,
  mergeRefused,
  rowCount,
  type SubjectBatch,
  unchangedRows,
  withoutRefused,
} from '../rules/ingest-batch.ts'
import { packRows, unpackRows, unpackSubjects } from '../rules/packed-rows.ts'
import { type Addition, claimLiving, type SessionChange } from './claim-subjects.ts'
import { type Connections, lockTimeoutMs } from './connections.ts'
import { commitInTwoPhases } from './distribute.ts'
import { isLockTimeout } from './failures.ts'
import { writeIdentifierNames, writeIdentifiers } from './identifier.ts'
import { keepInterleaved } from './interleaving.ts'
import { lockTrackers } from './lock-subjects.ts'
import { copyRows, type Run } from './transaction.ts'

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

const updateSessions = postgresOnly(
  `INSERT INTO sessions (${sessionColumns.join(', ')})
   SELECT * FROM unnest($1::uuid[], $2::text[], $3::bigint[], $4::bigint[], $5::bigint[], $6::text[], $7::bigint[])
   ON CONFLICT (subject_key, session_id) DO UPDATE SET started_at = excluded.started_at, ended_at = excluded.ended_at,
     event_count = excluded.event_count, attributes = excluded.attributes, attributes_at = excluded.attributes_at`,
  'any',
)

// Sorted, and written once in a transaction, so that two loads of the same days cannot deadlock.
const addEvents = postgresOnly(
  `INSERT INTO daily_events AS d (tracker_id, day, name, count)
   SELECT * FROM unnest($1::text[], $2::int[], $3::text[], $4::bigint[]) AS added (tracker_id, day, name, count)
   ORDER BY tracker_id COLLATE "C", day, name COLLATE "C"
   ON CONFLICT (tracker_id, day, name) DO UPDATE SET count = d.count + excluded.count`,
)
const addSessions = postgresOnly(
  `INSERT INTO daily_sessions AS d (tracker_id, day, count)
   SELECT * FROM unnest($1::text[], $2::int[], $3::bigint[]) AS added (tracker_id, day, count)
   ORDER BY tracker_id COLLATE "C", day
   ON CONFLICT (tracker_id, day) DO UPDATE SET count = d.count + excluded.count`,
)
// A session that turned out to have started earlier may have been the only one of its day.
const dropEmpty = postgresOnly(
  'DELETE FROM daily_sessions WHERE tracker_id = ANY ($1) AND day = ANY ($2) AND count = 0',
)

/** Work on this many pieces of a batch occupies the event loop for a few milliseconds. */
const piecesPerStep = 10

/**
 * While a large subject is erased, its row is locked for minutes; batches of other organisations that share
 * the transaction must not wait for it. Rows that all share are locked for no longer than a commit takes.
 */
const waitForSubjects = 'SET LOCAL lock_timeout = 300'
const waitForShared = `SET LOCAL lock_timeout = ${lockTimeoutMs}`

/** What the batches of a transaction change in rows that many subjects share. It is written at the end. */
interface SharedChanges {
  totals: DailyChanges
  /** By organisation. */
  identifierNames: Map<string, Set<string>>
}

export function ingestStore(connections: Connections): IngestStore {
  /** Stores subjects within a transaction, except for what they share with others. */
  async function ingestSubjects(
    client: PoolClient,
    run: Run,
    subjects: readonly SubjectBatch[],
    keys: readonly TombstoneKey[],
    shared: SharedChanges,
  ): Promise<IngestResult> {
    if (connections.isDistributed) commitInTwoPhases(run)
    const owners = await lockTrackers(run, [...new Set(subjects.map(({ trackerId }) => trackerId))].sort())
    const { accepted, refused: unowned = [] } = withoutRefused(subjects, (id) => owners.has(id), rowCount)
    const claimed = await claimLiving(run, accepted, owners, keys, connections.shards)
    const { additions, ofErased } = claimed
    const refused = mergeRefused([...unowned, ...claimed.refused])
    await writeAdditions(client, run, additions)
    await writeIdentifiers(client, run, additions, owners)
    for (const addition of additions) await keepInterleaved(run, toGrowth(addition))
    for (const addition of additions) share(addition, owners, shared)
    const { unchanged, ...added } = countAdded(additions)
    const others = { ...(ofErased > 0 && { ofErased }), ...(unchanged > 0 && { unchanged }) }
    return { ...added, ...refused, ...others }
  }

  return {
    ingest: (batch, keys) =>
      connections.load(async (client, run) => {
        const shared = nothingShared()
        const result = await ingestSubjects(client, run, bySubject(batch), keys, shared)
        await writeShared(run, shared)
        return result
      }),
    pack: packRows,
    /** A service stores the batches of its clients in steps, and serves others in between. */
    async ingestAll(batches, keys) {
      try {
        return await connections.load(async (client, run) => {
          await client.query(waitForSubjects)
          const shared = nothingShared()
          const results: IngestResult[] = []
          for (const { pieces } of batches) {
            let result: IngestResult = { subjects: 0, sessions: 0, events: 0 }
            for (let from = 0; from < pieces.length; from += piecesPerStep) {
              const subjects = unpackSubjects(pieces.slice(from, from + piecesPerStep)).map(unpackRows)
              result = sumOf(result, await ingestSubjects(client, run, subjects, keys, shared))
            }
            results.push(result)
          }
          await client.query(waitForShared)
          await writeShared(run, shared)
          return results
        })
      } catch (error) {
        throw isLockTimeout(error) ? new BatchBlocked({ cause: error }) : error
      }
    },
    ...refusedLineStore(connections),
  }
}

function sumOf(a: IngestResult, b: IngestResult): IngestResult {
  const [ofErased, unchanged] = [sumIf(a.ofErased, b.ofErased), sumIf(a.unchanged, b.unchanged)]
  return {
    subjects: a.subjects + b.subjects,
    sessions: a.sessions + b.sessions,
    events: a.events + b.events,
    ...mergeRefused([...(a.refused ?? []), ...(b.refused ?? [])]),
    ...(ofErased > 0 && { ofErased }),
    ...(unchanged > 0 && { unchanged }),
  }
}

const sumIf = (a = 0, b = 0) => a + b

function countAdded(additions: readonly Addition[]) {
  const sum = (count: (addition: Addition) => number) =>
    additions.reduce((total, addition) => total + count(addition), 0)
  return {
    subjects: additions.filter(({ stored, change }) => stored === null && change !== null).length,
    sessions: sum(({ change }) => change?.sessions ?? 0),
    events: sum(({ events }) => events.length),
    unchanged: sum(({ subject, events, change }) => unchangedRows(subject, events.length, change)),
  }
}

function toGrowth({ key, stored, events, sessions }: Addition) {
  const before = stored?.eventCount ?? 0
  const newSessions = sessions.filter(({ stored }) => stored === null).length
  const sessionCount = (stored?.sessionCount ?? 0) + newSessions
  const spans = sessions.map(({ sessionId, state: { startedAt, endedAt } }) => ({
    sessionId,
    startedAt,
    endedAt,
  }))
  const isInterleaved = stored?.isInterleaved ?? false
  return { key, before, after: before + events.length, sessions: spans, sessionCount, isInterleaved }
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
    properties,
  ])
}

function toSessionRow({ key, sessionId, state }: SessionChange & { key: string }) {
  const { startedAt, endedAt, eventCount, attributes, attributesAt } = state
  return [key, sessionId, startedAt, endedAt, eventCount, attributes, attributesAt]
}

function nothingShared(): SharedChanges {
  return { totals: new DailyChanges(), identifierNames: new Map() }
}

function share(
  { trackerId, events, sessions, identifiers }: Addition,
  owners: ReadonlyMap<string, string>,
  { totals, identifierNames }: SharedChanges,
): void {
  for (const { occurredAt, name } of events) totals.addEvent(trackerId, occurredAt, name)
  for (const { stored, state } of sessions) {
    totals.addSession(trackerId, state.startedAt, stored?.startedAt ?? null)
  }
  if (identifiers.length === 0) return
  const organisationId = owners.get(trackerId) ?? ''
  const names = identifierNames.get(organisationId) ?? new Set()
  for (const { name } of identifiers) names.add(name)
  identifierNames.set(organisationId, names)
}

/** Locks rows that every transaction with the same trackers needs, so it comes last. */
async function writeShared(run: Run, { totals, identifierNames }: SharedChanges): Promise<void> {
  await addToDailyTotals(run, totals)
  const named = [...identifierNames].flatMap(([organisationId, names]) =>
    Array.from(names, (name) => ({ organisationId, name })),
  )
  await writeIdentifierNames(run, named)
}

async function addToDailyTotals(run: Run, changes: DailyChanges): Promise<void> {
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
