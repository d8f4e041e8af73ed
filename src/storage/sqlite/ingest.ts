import type { DatabaseSync } from 'node:sqlite'
import type { IncomingBatch, IncomingRow, IngestResult, IngestStore } from '../../domain/ingest.ts'
import type { TombstoneKey } from '../../domain/keyring.ts'
import { integer, integerOrNull, text } from '../nouns/row.ts'
import { checkKeys, listSecrets } from '../nouns/secret.ts'
import { broughtIdentifiers } from '../rules/identifier.ts'
import {
  bySubject,
  changeSubject,
  DailyChanges,
  type SessionLookup,
  type SessionState,
  type SubjectBatch,
  type SubjectChange,
  unchangedRows,
  withoutErased,
  withoutRefused,
} from '../rules/ingest-batch.ts'
import { maxPlainEvents } from '../rules/interleaving.ts'
import { transaction } from './connection.ts'
import { type Connections, type SqliteRun, statementRunner } from './connections.ts'
import { identifierNameWriting, identifierWriting } from './identifier.ts'
import { interleavingWriting } from './interleaving.ts'
import {
  type BatchDigests,
  digestReader,
  packRows,
  precomputeDigests,
  tombstoneLookup,
  unpackRows,
} from './prepare-ingest.ts'

export function ingestStore({
  reader,
  writer,
}: Connections<ReturnType<typeof ingestCommands>>): Pick<IngestStore, 'ingest' | 'ingestAll'> {
  const makeDigests = precomputeDigests(statementRunner(reader))
  async function ingestAll(batches: readonly IncomingBatch[], keys: readonly TombstoneKey[]) {
    const packed = batches.map((batch) => ({ pieces: packRows(batch), made: makeDigests(batch, keys) }))
    const moved = packed.flatMap(({ pieces, made }) => (made ? [...pieces, made.digests] : pieces))
    return writer.runMoving(moved, 'ingest', packed, keys)
  }
  return {
    ingestAll,
    async ingest(batch, keys) {
      const [result] = await ingestAll([batch], keys)
      if (!result) throw new Error('A batch was stored without a result.')
      return result
    },
  }
}

/** A batch on its way to the writer. */
interface PackedBatch {
  pieces: readonly ArrayBuffer[]
  made: BatchDigests | null
}

export function ingestCommands(db: DatabaseSync, run: SqliteRun) {
  const insertEvent = db.prepare(
    `INSERT INTO events (subject_key, occurred_at, event_id, session_id, name, properties)
     VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
  )
  const lookUpOwners = ownerLookup(db)
  const sessions = sessionWriting(db)
  const putSubject = subjectWriting(db)
  const putIdentifiers = identifierWriting(db)
  const putNames = identifierNameWriting(db)
  const writeTotals = dailyTotalWriting(db)
  const keepInterleaved = interleavingWriting(db)
  const lookUpTombstones = tombstoneLookup(db, run)

  /**
   * Stores a subject's sessions, events and identifiers and returns the change to its row, `null` if nothing
   * is new, and the number of rows that were already stored.
   */
  function ingestSubject(
    subject: SubjectBatch,
    organisationId: string,
    totals: DailyChanges,
    names: Map<string, Set<string>>,
  ): { change: SubjectChange | null; unchanged: number } {
    const { key, trackerId } = subject
    const newEvents = subject.events.filter(({ occurredAt, eventId, sessionId, name, properties }) => {
      const text = JSON.stringify(properties)
      return insertEvent.run(key, occurredAt, eventId, sessionId, name, text).changes === 1
    })
    for (const { occurredAt, name } of newEvents) totals.addEvent(trackerId, occurredAt, name)
    const lookup: SessionLookup = {
      find: (sessionId) => sessions.find(key, sessionId),
      put(sessionId, stored, state) {
        sessions.put(key, sessionId, stored, state)
        totals.addSession(trackerId, state.startedAt, stored?.startedAt ?? null)
      },
    }
    const identifiers = broughtIdentifiers(subject)
    putIdentifiers(organisationId, subject, identifiers)
    const known = names.get(organisationId) ?? new Set()
    for (const { name } of identifiers) known.add(name)
    names.set(organisationId, known)
    const change = changeSubject(subject, newEvents, identifiers, lookup)
    return { change, unchanged: unchangedRows(subject, newEvents.length, change) }
  }

  function ingestBatch(rows: readonly IncomingRow[], digests: ReturnType<typeof digestReader>): IngestResult {
    const added = { subjects: 0, sessions: 0, events: 0 }
    let unchanged = 0
    const totals = new DailyChanges()
    const names = new Map<string, Set<string>>()
    const ownerOf = lookUpOwners()
    const isThere = (trackerId: string) => ownerOf(trackerId) !== null
    const { accepted, ...refused } = withoutRefused(bySubject(rows), isThere)
    const { living, ofErased } = withoutErased(accepted, lookUpTombstones(digests))
    // Nothing else is kept per subject: objects that survive the batch are expensive to collect.
    const changes: { change: SubjectChange; subject: SubjectBatch }[] = []
    for (const subject of living) {
      const ingested = ingestSubject(subject, ownerOf(subject.trackerId) ?? '', totals, names)
      const { change } = ingested
      unchanged += ingested.unchanged
      if (change) changes.push({ change, subject })
    }
    for (const { change, subject } of changes.sort(bySubjectId)) {
      const known = putSubject(change)
      if (!known) added.subjects += 1
      const before = known?.eventCount ?? 0
      if (before + change.events > maxPlainEvents)
        keepInterleaved(subject, before, known?.isInterleaved ?? false)
      added.sessions += change.sessions
      added.events += change.events
    }
    writeTotals(totals)
    for (const [organisationId, own] of names) putNames(organisationId, own)
    return { ...added, ...refused, ...(ofErased > 0 && { ofErased }), ...(unchanged > 0 && { unchanged }) }
  }

  return {
    ingest: (batches: readonly PackedBatch[], keys: readonly TombstoneKey[]): IngestResult[] =>
      transaction(db, () => {
        checkKeys(run(listSecrets).rows, keys)
        return batches.map(({ pieces, made }) => ingestBatch(unpackRows(pieces), digestReader(keys, made)))
      }),
  }
}

/** Looks up the organisation of each tracker, once per transaction; `null` if it does not exist. */
function ownerLookup(db: DatabaseSync): () => (trackerId: string) => string | null {
  const find = db.prepare('SELECT organisation_id FROM trackers WHERE id = ? AND deleted_at IS NULL')
  return () => {
    const known = new Map<string, string | null>()
    return (trackerId) => {
      const cached = known.get(trackerId)
      if (cached !== undefined) return cached
      const row = find.get(trackerId)
      const owner = row ? text(row, 'organisation_id') : null
      known.set(trackerId, owner)
      return owner
    }
  }
}

function sessionWriting(db: DatabaseSync) {
  const find = db.prepare(
    `SELECT started_at, ended_at, event_count, attributes, attributes_at FROM sessions
     WHERE subject_key = ? AND session_id = ?`,
  )
  const insert = db.prepare(
    `INSERT INTO sessions (started_at, ended_at, event_count, attributes, attributes_at, subject_key, session_id)
     VALUES (?, ?, ?, ?, ?, ?, ?)`,
  )
  const set = (columns: string) =>
    db.prepare(`UPDATE sessions SET ${columns} WHERE subject_key = ? AND session_id = ?`)
  const update = set('started_at = ?, ended_at = ?, event_count = ?, attributes = ?, attributes_at = ?')
  // SQLite updates an index whenever one of its columns is named, even if unchanged.
  const updateAllButStart = set('ended_at = ?, event_count = ?, attributes = ?, attributes_at = ?')
  return {
    find(key: Uint8Array, sessionId: string): SessionState | null {
      const row = find.get(key, sessionId)
      if (!row) return null
      return {
        startedAt: integer(row, 'started_at'),
        endedAt: integer(row, 'ended_at'),
        eventCount: integer(row, 'event_count'),
        attributes: text(row, 'attributes'),
        attributesAt: integerOrNull(row, 'attributes_at'),
      }
    },
    put(key: Uint8Array, sessionId: string, stored: SessionState | null, state: SessionState): void {
      const { startedAt, endedAt, eventCount, attributes, attributesAt } = state
      if (stored?.startedAt === startedAt) {
        updateAllButStart.run(endedAt, eventCount, attributes, attributesAt, key, sessionId)
      } else {
        const statement = stored ? update : insert
        statement.run(startedAt, endedAt, eventCount, attributes, attributesAt, key, sessionId)
      }
    },
  }
}

interface KnownSubject {
  eventCount: number
  isInterleaved: boolean
}

/** Updates a subject's row and returns its state before; `null` for a new subject. */
function subjectWriting(db: DatabaseSync): (change: SubjectChange) => KnownSubject | null {
  const find = db.prepare(
    `SELECT first_seen_at, last_seen_at, oldest_at, event_count, interleaved FROM subjects
     WHERE tracker_id = ? AND subject_id = ?`,
  )
  const insert = db.prepare(
    `INSERT INTO subjects (first_seen_at, last_seen_at, oldest_at, session_count, event_count, tracker_id, subject_id,
       subject_key) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
  )
  const set = (columns: string) =>
    db.prepare(
      `UPDATE subjects SET ${columns}, session_count = session_count + ?, event_count = event_count + ?
       WHERE tracker_id = ? AND subject_id = ?`,
    )
  const update = set('first_seen_at = ?, last_seen_at = ?, oldest_at = ?')
  // As above: the other two columns are indexed.
  const updateFirstSeen = set('first_seen_at = ?')
  return ({ trackerId, subjectId, key, sessions, events, ...seen }) => {
    const row = find.get(trackerId, subjectId)
    const counts = [sessions, events] as const
    if (!row) {
      insert.run(seen.firstSeenAt, seen.lastSeenAt, seen.oldestAt, ...counts, trackerId, subjectId, key)
      return null
    }
    const firstSeenAt = Math.min(seen.firstSeenAt, integer(row, 'first_seen_at'))
    const lastSeenAt = Math.max(seen.lastSeenAt, integer(row, 'last_seen_at'))
    const oldestAt = Math.min(seen.oldestAt, integer(row, 'oldest_at'))
    if (lastSeenAt === row.last_seen_at && oldestAt === row.oldest_at) {
      updateFirstSeen.run(firstSeenAt, ...counts, trackerId, subjectId)
    } else {
      update.run(firstSeenAt, lastSeenAt, oldestAt, ...counts, trackerId, subjectId)
    }
    return { eventCount: integer(row, 'event_count'), isInterleaved: integer(row, 'interleaved') === 1 }
  }
}

/** Roughly the order of the subjects' rows on disk, so that neighbours are written together. */
function bySubjectId(a: { change: SubjectChange }, b: { change: SubjectChange }): number {
  return a.change.subjectId < b.change.subjectId ? -1 : 1
}

function dailyTotalWriting(db: DatabaseSync): (changes: DailyChanges) => void {
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
