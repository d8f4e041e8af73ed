import type { DatabaseSync } from 'node:sqlite'
import type { IngestResult, IngestStore, PackedBatch } from '../../domain/ingest.ts'
import type { TombstoneKey } from '../../domain/keyring.ts'
import { asInteger, asText, text } from '../nouns/row.ts'
import { checkKeys, listSecrets } from '../nouns/secret.ts'
import { broughtIdentifiers, countIdentifiers, withinIdentifierLimit } from '../rules/identifier.ts'
import {
  changeSubject,
  DailyChanges,
  mergeRefused,
  rowCount,
  rowsAfter,
  type SessionLookup,
  type SessionState,
  type SubjectBatch,
  type SubjectChange,
  tooManyIdentifiers,
  unchangedRows,
  withoutRefused,
} from '../rules/ingest-batch.ts'
import { maxPlainEvents } from '../rules/interleaving.ts'
import { type PackedSubject, packRows, unpackRows, unpackSubjects } from '../rules/packed-rows.ts'
import { transaction } from './connection.ts'
import { type Connections, prepareValues, type SqliteRun, statementRunner } from './connections.ts'
import { identifierCounting, identifierNameWriting, identifierWriting } from './identifier.ts'
import { interleavingWriting, type KnownSubject } from './interleaving.ts'
import { type BatchDigests, digestReader, precomputeDigests, tombstoneLookup } from './prepare-ingest.ts'

/** Memory of this size is returned to the system when freed; malloc keeps much larger blocks. */
const rowsPerPiece = 500

export function ingestStore({
  reader,
  writer,
}: Connections<ReturnType<typeof ingestCommands>>): Pick<IngestStore, 'ingest' | 'pack' | 'ingestAll'> {
  const makeDigests = precomputeDigests(statementRunner(reader))
  return {
    async ingest(batch, keys) {
      const pieces: ArrayBuffer[] = []
      for (let from = 0; from < batch.length; from += rowsPerPiece)
        pieces.push(packRows(batch.slice(from, from + rowsPerPiece)))
      const made = makeDigests(batch, keys)
      const moved = made ? [...pieces, made.digests] : pieces
      const [result] = await writer.runMoving(moved, 'ingest', [{ pieces, made }], keys)
      if (!result) throw new Error('A batch was stored without a result.')
      return result
    },
    pack: packRows,
    // Copied to the thread, because they are stored again, one by one, if they cannot be stored together.
    ingestAll: (batches, keys) => writer.run('ingest', batches, keys),
  }
}

/** A batch on its way to the writer. */
interface SentBatch extends Pick<PackedBatch, 'pieces'> {
  /** Only those of an import were precomputed. */
  made?: BatchDigests | null
}

/** Frees each piece after it was read, instead of at the next collection. */
function* freeing(pieces: readonly ArrayBuffer[]): Generator<ArrayBuffer> {
  for (const piece of pieces) {
    yield piece
    piece.transfer(0)
  }
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
  const identifiersOf = identifierCounting(db)
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
      return insertEvent.run(key, occurredAt, eventId, sessionId, name, properties).changes === 1
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
    if (identifiers.length > 0) {
      putIdentifiers(organisationId, subject, identifiers)
      const known = names.get(organisationId) ?? new Set()
      for (const { name } of identifiers) known.add(name)
      names.set(organisationId, known)
    }
    const change = changeSubject(subject, newEvents, identifiers, lookup)
    return { change, unchanged: unchangedRows(subject, newEvents.length, change) }
  }

  function withinLimit(subject: SubjectBatch, organisationId: string): SubjectBatch {
    if (countIdentifiers(subject) === 0) return subject
    return withinIdentifierLimit(subject, identifiersOf(organisationId, subject.key))
  }

  function ingestBatch(
    subjects: readonly PackedSubject[],
    digests: ReturnType<typeof digestReader>,
  ): IngestResult {
    const added = { subjects: 0, sessions: 0, events: 0 }
    let [unchanged, ofErased] = [0, 0]
    const totals = new DailyChanges()
    const names = new Map<string, Set<string>>()
    const ownerOf = lookUpOwners()
    const isThere = (trackerId: string) => ownerOf(trackerId) !== null
    const { accepted, refused: unowned = [] } = withoutRefused(subjects, isThere, ({ lines }) => lines.length)
    const refusedUntil = lookUpTombstones(digests)
    const living = (packed: PackedSubject) => rowsAfter(unpackRows(packed), refusedUntil(packed))
    // Nothing else is kept per subject: objects that survive the batch are expensive to collect.
    const changes: { change: SubjectChange; packed: PackedSubject }[] = []
    const refused = [...unowned]
    for (const packed of accepted) {
      const sent = living(packed)
      ofErased += packed.lines.length - rowCount(sent)
      const organisationId = ownerOf(sent.trackerId) ?? ''
      const subject = withinLimit(sent, organisationId)
      const excess = rowCount(sent) - rowCount(subject)
      if (excess > 0) refused.push(tooManyIdentifiers(sent, excess))
      if (rowCount(subject) === 0) continue
      const ingested = ingestSubject(subject, organisationId, totals, names)
      const { change } = ingested
      unchanged += ingested.unchanged
      if (change) changes.push({ change, packed })
    }
    for (const { change, packed } of changes.sort(bySubjectId)) {
      const known = putSubject(change)
      if (!known) added.subjects += 1
      const before = known?.eventCount ?? 0
      if (before + change.events > maxPlainEvents) keepInterleaved(living(packed), known)
      added.sessions += change.sessions
      added.events += change.events
    }
    writeTotals(totals)
    for (const [organisationId, own] of names) putNames(organisationId, own)
    const others = mergeRefused(refused)
    return { ...added, ...others, ...(ofErased > 0 && { ofErased }), ...(unchanged > 0 && { unchanged }) }
  }

  return {
    ingest(batches: readonly SentBatch[], keys: readonly TombstoneKey[]): IngestResult[] {
      // Before the transaction, which keeps other writers waiting.
      const decoded = batches.map(({ pieces, made = null }) => ({
        subjects: unpackSubjects(freeing(pieces)),
        made,
      }))
      return transaction(db, () => {
        checkKeys(run(listSecrets).rows, keys)
        return decoded.map(({ subjects, made }) => ingestBatch(subjects, digestReader(keys, made)))
      })
    },
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
  const find = prepareValues(
    db,
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
      const [startedAt, endedAt, eventCount, attributes, attributesAt] = row
      return {
        startedAt: asInteger(startedAt, 'started_at'),
        endedAt: asInteger(endedAt, 'ended_at'),
        eventCount: asInteger(eventCount, 'event_count'),
        attributes: asText(attributes, 'attributes'),
        attributesAt: attributesAt === null ? null : asInteger(attributesAt, 'attributes_at'),
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

/** Updates a subject's row and returns its state before; `null` for a new subject. */
function subjectWriting(db: DatabaseSync): (change: SubjectChange) => KnownSubject | null {
  const find = prepareValues(
    db,
    `SELECT first_seen_at, last_seen_at, oldest_at, session_count, event_count, interleaved, longest_session_ms
     FROM subjects WHERE tracker_id = ? AND subject_id = ?`,
  )
  const insert = db.prepare(
    `INSERT INTO subjects (tracker_id, subject_id, subject_key, first_seen_at, last_seen_at, oldest_at, session_count,
       event_count) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
  )
  const set = (columns: string) =>
    db.prepare(
      `UPDATE subjects SET session_count = session_count + ?, event_count = event_count + ?, first_seen_at = ?${columns}
       WHERE tracker_id = ? AND subject_id = ?`,
    )
  // As above: the other two columns are indexed.
  const update = set('')
  const updateLastSeen = set(', last_seen_at = ?')
  const updateOldest = set(', oldest_at = ?')
  const updateBoth = set(', last_seen_at = ?, oldest_at = ?')
  return (change) => {
    const { trackerId, subjectId, key, sessions, events } = change
    const row = find.get(trackerId, subjectId)
    if (!row) {
      const { firstSeenAt, lastSeenAt, oldestAt } = change
      insert.run(trackerId, subjectId, key, firstSeenAt, lastSeenAt, oldestAt, sessions, events)
      return null
    }
    const [firstBefore, lastBefore, oldestBefore, sessionCount, eventCount, interleaved, longest] = row
    const first = Math.min(change.firstSeenAt, asInteger(firstBefore, 'first_seen_at'))
    const last = Math.max(change.lastSeenAt, asInteger(lastBefore, 'last_seen_at'))
    const oldest = Math.min(change.oldestAt, asInteger(oldestBefore, 'oldest_at'))
    if (last === lastBefore && oldest === oldestBefore) {
      update.run(sessions, events, first, trackerId, subjectId)
    } else if (oldest === oldestBefore) {
      updateLastSeen.run(sessions, events, first, last, trackerId, subjectId)
    } else if (last === lastBefore) {
      updateOldest.run(sessions, events, first, oldest, trackerId, subjectId)
    } else {
      updateBoth.run(sessions, events, first, last, oldest, trackerId, subjectId)
    }
    return {
      sessionCount: asInteger(sessionCount, 'session_count'),
      eventCount: asInteger(eventCount, 'event_count'),
      isInterleaved: interleaved === 1,
      longestSessionMs: asInteger(longest, 'longest_session_ms'),
    }
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
