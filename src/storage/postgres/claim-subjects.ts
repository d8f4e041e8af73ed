import type { RefusedRows } from '../../domain/ingest.ts'
import type { TombstoneKey } from '../../domain/keyring.ts'
import type { BroughtIdentifier } from '../../domain/subject-identifier.ts'
import { integer, integerOrNull, keyText, text } from '../nouns/row.ts'
import { noteDeletion } from '../nouns/scrub.ts'
import { findTombstones } from '../nouns/tombstone.ts'
import { broughtIdentifiers } from '../rules/identifier.ts'
import {
  type BatchEvent,
  changeSubject,
  type SessionState,
  type SubjectBatch,
  type SubjectChange,
  withoutErased,
} from '../rules/ingest-batch.ts'
import { withinIdentifierLimits } from './identifier-limit.ts'
import {
  deleteSubjects,
  insertSubjects,
  lockSubjects,
  type SubjectState,
  updateSubjects,
} from './lock-subjects.ts'
import { chosen, type Grouping, groupingOf, ofSubjects } from './shard.ts'
import type { Run } from './transaction.ts'

export interface SessionChange {
  sessionId: string
  stored: SessionState | null
  state: SessionState
}

/** What a batch adds to one subject. */
export interface Addition {
  subject: SubjectBatch
  key: string
  /** Its row before; `null` for a new subject. */
  stored: SubjectState | null
  trackerId: string
  change: SubjectChange | null
  events: BatchEvent[]
  sessions: SessionChange[]
  identifiers: BroughtIdentifier[]
}

/** Claims the subjects of a batch, without the rows that an erasure or the limit on identifiers refuses. */
export async function claimLiving(
  run: Run,
  batch: readonly SubjectBatch[],
  owners: ReadonlyMap<string, string>,
  keys: readonly TombstoneKey[],
  shards: readonly number[],
): Promise<{ additions: Addition[]; ofErased: number; refused: RefusedRows[] }> {
  const early = withoutErased(batch, await findTombstones(run, batch, keys))
  const grouping = await groupingOf(
    run,
    early.living.map(({ key }) => keyText(key)),
    shards,
  )
  const additions = await claimSubjects(run, early.living, grouping)
  // From here on nobody can erase them, or give them identifiers, before the transaction ends, but somebody
  // may have done so before.
  const late = withoutErased(early.living, await findTombstones(run, early.living, keys))
  const { allowed, refused } = await withinIdentifierLimits(run, late.living, owners, grouping)
  const ofErased = early.ofErased + late.ofErased
  if (late.ofErased > 0) noteDeletion(run)
  if (late.ofErased === 0 && refused.length === 0) return { additions, ofErased, refused }
  return { additions: await claimLess(run, additions, allowed, grouping), ofErased, refused }
}

/**
 * Locks the subjects of a batch that are stored and inserts the others. Until the transaction ends nobody
 * else writes to them.
 */
async function claimSubjects(
  run: Run,
  batch: readonly SubjectBatch[],
  grouping: Grouping,
): Promise<Addition[]> {
  const additions: Addition[] = []
  let pending = new Map(batch.map((subject) => [keyText(subject.key), subject]))
  // Another round is needed for subjects that another process stored or erased meanwhile.
  while (pending.size > 0) {
    const stored = await lockSubjects(run, pending.keys(), grouping)
    const known = await findKnownRows(
      run,
      [...pending].flatMap(([key, subject]) => (stored.has(key) ? [subject] : [])),
      grouping,
    )
    const found = [...pending].map(([key, subject]) => addTo(known, key, subject, stored.get(key) ?? null))
    const grown = found.flatMap(({ key, change }) => {
      const state = stored.get(key)
      return state && change ? [grow(state, change)] : []
    })
    await updateSubjects(run, grown, grouping)
    const fresh = found.flatMap(({ key, change }) => (change && !stored.has(key) ? [begin(key, change)] : []))
    const inserted = await insertSubjects(run, fresh)
    additions.push(...found.filter(({ key }) => stored.has(key) || inserted.has(key)))
    pending = new Map([...pending].filter(([key]) => !stored.has(key) && !inserted.has(key)))
  }
  return additions
}

function addTo(known: KnownRows, key: string, subject: SubjectBatch, stored: SubjectState | null): Addition {
  const ownEvents = new KnownRows()
  const events = subject.events.filter(({ occurredAt, eventId }) => {
    if (known.hasEvent(key, occurredAt, eventId) || ownEvents.hasEvent(key, occurredAt, eventId)) return false
    ownEvents.addEvent(key, occurredAt, eventId)
    return true
  })
  const sessions: SessionChange[] = []
  const identifiers = broughtIdentifiers(subject)
  const change = changeSubject(subject, events, identifiers, {
    find: (sessionId) => known.session(key, sessionId),
    put: (sessionId, stored, state) => sessions.push({ sessionId, stored, state }),
  })
  return { subject, key, stored, trackerId: subject.trackerId, change, events, sessions, identifiers }
}

/** Undoes claims for rows that must not be stored after all. Of each subject, `left` is what remains. */
async function claimLess(
  run: Run,
  additions: readonly Addition[],
  left: readonly SubjectBatch[],
  grouping: Grouping,
): Promise<Addition[]> {
  const leftOf = new Map(left.map((subject) => [keyText(subject.key), subject]))
  const isWhole = ({ key, subject }: Addition) => leftOf.get(key) === subject
  const kept = additions.filter(isWhole)
  for (const { key, stored } of additions.filter((addition) => !isWhole(addition))) {
    const subject = leftOf.get(key)
    if (!subject) {
      await (stored ? updateSubjects(run, [stored], grouping) : deleteSubjects(run, [key]))
      continue
    }
    const known = stored ? await findKnownRows(run, [subject], grouping) : new KnownRows()
    const addition = addTo(known, key, subject, stored)
    const { change } = addition
    if (!stored && change) await updateSubjects(run, [begin(key, change)], grouping)
    if (stored) await updateSubjects(run, [change ? grow(stored, change) : stored], grouping)
    kept.push(addition)
  }
  return kept
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

/** The rows of a batch that are already stored. */
class KnownRows {
  readonly #events = new Set<string>()
  readonly #sessions = new Map<string, SessionState>()

  addEvent(key: string, occurredAt: number, eventId: string): void {
    this.#events.add(`${key} ${occurredAt} ${eventId}`)
  }

  hasEvent(key: string, occurredAt: number, eventId: string): boolean {
    return this.#events.has(`${key} ${occurredAt} ${eventId}`)
  }

  addSession(key: string, sessionId: string, state: SessionState): void {
    this.#sessions.set(`${key} ${sessionId}`, state)
  }

  session(key: string, sessionId: string): SessionState | null {
    return this.#sessions.get(`${key} ${sessionId}`) ?? null
  }
}

const findEvents = ofSubjects(
  (here) => `SELECT e.subject_key, e.occurred_at, e.event_id
   FROM unnest($2::uuid[], $3::bigint[], $4::text[]) AS given (subject_key, occurred_at, event_id)
   JOIN events e USING (subject_key, occurred_at, event_id) WHERE $1::uuid[] IS NOT NULL${here('e')}`,
)
const findSessions = ofSubjects(
  (here) => `SELECT s.subject_key, s.session_id, started_at, ended_at, event_count, attributes, attributes_at
   FROM unnest($2::uuid[], $3::text[]) AS given (subject_key, session_id)
   JOIN sessions s USING (subject_key, session_id) WHERE $1::uuid[] IS NOT NULL${here('s')}`,
)

/** Looks up the events and sessions that these parts of a batch name. */
async function findKnownRows(
  run: Run,
  subjects: readonly SubjectBatch[],
  grouping: Grouping,
): Promise<KnownRows> {
  const known = new KnownRows()
  const byKey = new Map(subjects.map((subject) => [keyText(subject.key), subject]))
  if (subjects.length === 0) return known
  await Promise.all(
    grouping.of(byKey.keys()).map((keys) => {
      const group = keys.flatMap((key) => {
        const subject = byKey.get(key)
        return subject ? [{ ...subject, key }] : []
      })
      return Promise.all([
        findStoredEvents(run, group, grouping, known),
        findStoredSessions(run, group, grouping, known),
      ])
    }),
  )
  return known
}

type KeyedBatch = Omit<SubjectBatch, 'key'> & { key: string }

async function findStoredEvents(
  run: Run,
  subjects: readonly KeyedBatch[],
  grouping: Grouping,
  known: KnownRows,
) {
  const events = subjects.flatMap(({ key, events }) => events.map((event) => ({ key, ...event })))
  if (events.length === 0) return
  const { rows } = await run(chosen(findEvents, grouping), [
    subjects.map(({ key }) => key),
    events.map(({ key }) => key),
    events.map(({ occurredAt }) => occurredAt),
    events.map(({ eventId }) => eventId),
  ])
  for (const row of rows) {
    known.addEvent(text(row, 'subject_key'), integer(row, 'occurred_at'), text(row, 'event_id'))
  }
}

async function findStoredSessions(
  run: Run,
  subjects: readonly KeyedBatch[],
  grouping: Grouping,
  known: KnownRows,
) {
  const named = subjects.flatMap(({ key, events, sessions }) =>
    Array.from(new Set([...events, ...sessions].map(({ sessionId }) => sessionId)), (id) => ({ key, id })),
  )
  const { rows } = await run(chosen(findSessions, grouping), [
    subjects.map(({ key }) => key),
    named.map(({ key }) => key),
    named.map(({ id }) => id),
  ])
  for (const row of rows) {
    known.addSession(text(row, 'subject_key'), text(row, 'session_id'), {
      startedAt: integer(row, 'started_at'),
      endedAt: integer(row, 'ended_at'),
      eventCount: integer(row, 'event_count'),
      attributes: text(row, 'attributes'),
      attributesAt: integerOrNull(row, 'attributes_at'),
    })
  }
}
