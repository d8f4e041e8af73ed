import { setImmediate as nextTurn } from 'node:timers/promises'
import type { ActivityNote, ErasureFacts } from '../../domain/activity.ts'
import { batcher } from '../../domain/maybe-promise.ts'
import type { TreeHead } from '../../domain/merkle-tree.ts'
import { NotWaiting, type RequestItemRef } from '../../domain/privacy-request.ts'
import type { ErasedSubject, SubjectStore } from '../../domain/subject.ts'
import { activityParameters, insertActivity, insertActivityEntry } from '../nouns/activity.ts'
import { insertEntry, lockLedger } from '../nouns/ledger.ts'
import { settleRequestItems } from '../nouns/privacy-request.ts'
import { integer, integerOrNull, type Row, text } from '../nouns/row.ts'
import { countDeletion } from '../nouns/scrub.ts'
import { postgresOnly } from '../nouns/statement.ts'
import { insertTombstone } from '../nouns/tombstone.ts'
import { visible } from '../nouns/tracker.ts'
import { erasureRecords, type SubjectErasure } from '../rules/erasure.ts'
import type { Connections } from './connections.ts'
import { isConnectionLost } from './failures.ts'
import { deleteIdentifiers } from './identifier.ts'
import { lockTrackers, subjectKeyText } from './lock-subjects.ts'
import type { Run } from './transaction.ts'

// Every transaction that writes to a subject locks its row first, so nothing is added during an erasure. A
// subject that the caller cannot see is not locked: the waiting time would reveal that it exists.
const lock = postgresOnly(
  `SELECT oldest_at, last_seen_at FROM subjects WHERE subject_key = $1
   AND EXISTS (SELECT 1 FROM trackers WHERE id = $2 AND organisation_id = $3 AND deleted_at IS NULL) FOR UPDATE`,
  'never',
)
// If the subject does not exist, a row is inserted and deleted with the rest: this waits for a transaction
// that is storing the subject, and later ones find the tombstone.
export const claim = postgresOnly(
  `INSERT INTO subjects (subject_key, tracker_id, subject_id, first_seen_at, last_seen_at, oldest_at, session_count, event_count)
   VALUES ($1, $2, $3, 0, 0, 0, 0, 0) ON CONFLICT (subject_key) DO UPDATE SET oldest_at = subjects.oldest_at`,
)
const newestOf = postgresOnly(
  `SELECT greatest((SELECT max(started_at) FROM sessions WHERE subject_key = $1),
     (SELECT max(occurred_at) FROM events WHERE subject_key = $1)) AS newest`,
)
const deleteAgedEvents = postgresOnly('DELETE FROM events WHERE subject_key = $1 AND occurred_at < $2')
const deleteEvents = postgresOnly('DELETE FROM events WHERE subject_key = $1')
const deleteAgedSessions = postgresOnly('DELETE FROM sessions WHERE subject_key = $1 AND ended_at < $2')
const deleteSessions = postgresOnly('DELETE FROM sessions WHERE subject_key = $1')
const deleteSubject = postgresOnly('DELETE FROM subjects WHERE subject_key = $1')

// The usual case: the subject exists, is not large, has nothing expired or in the future, no request
// waits for it, and nobody writes to it.
const lockUsual = postgresOnly(
  `SELECT s.subject_key, s.session_count, s.event_count
   FROM unnest($1::uuid[], $2::text[], $3::bigint[], $4::bigint[]) AS asked (subject_key, tracker_id, since, erased_at)
   JOIN subjects s USING (subject_key)
   WHERE s.oldest_at >= asked.since AND s.last_seen_at <= asked.erased_at AND s.event_count <= $5 AND EXISTS (
     SELECT 1 FROM trackers t WHERE t.id = asked.tracker_id AND t.organisation_id = $6 AND t.deleted_at IS NULL)
   AND NOT EXISTS (SELECT 1 FROM privacy_request_items i WHERE i.tracker_id = s.tracker_id AND i.subject_id = s.subject_id)
   FOR UPDATE OF s SKIP LOCKED`,
  'never',
)
const insertRecords = `entry AS (${insertEntry.source}), tombstone AS (${insertTombstone.source})`
/** What an erasure leaves behind, in one statement, which is cheaper for the server. */
export const leaveUsual = postgresOnly(`WITH ${insertRecords} ${insertActivityEntry.source}`)
// Fails the transaction if the number of rows differs from what was counted: it is sent together with the
// commit.
const leaveUsualAndDelete = postgresOnly(
  `WITH ${insertRecords}, activity_entry AS (${insertActivityEntry.source}),
     gone_events AS (DELETE FROM events WHERE subject_key = ANY (:keys) RETURNING 1),
     gone_sessions AS (DELETE FROM sessions WHERE subject_key = ANY (:keys) RETURNING 1),
     gone_identifiers AS (DELETE FROM identifiers WHERE subject_key = ANY (:keys)),
     gone_subjects AS (DELETE FROM subjects WHERE subject_key = ANY (:keys)),
     counted AS (${countDeletion.source})
   SELECT 1 / ((SELECT count(*) FROM gone_sessions) = :allSessions AND (SELECT count(*) FROM gone_events) = :allEvents)::integer`,
  'never',
)

const ofSubject = 'WHERE tracker_id = $1 AND subject_id = $2'
const anyInRequests = postgresOnly(`SELECT 1 FROM privacy_request_items ${ofSubject} LIMIT 1`)
const lockInRequests = postgresOnly(
  `SELECT organisation_id, request_id, place FROM privacy_request_items ${ofSubject}
   ORDER BY organisation_id, request_id, place FOR UPDATE`,
)
// Changing a request locks its row and then the items, in the same order as here.
const keepRequestRunning = postgresOnly(
  `SELECT 1 FROM privacy_requests WHERE organisation_id = $1 AND id = $2 AND state = 'running' FOR KEY SHARE`,
)

const maxBatch = 16
/** A subject with more events is erased separately, so that others need not wait for it. */
const maxEvents = 1_000

interface KeyedErasure extends SubjectErasure {
  key: string
  onHead: ((head: TreeHead) => void) | undefined
}

interface UsualErasure extends KeyedErasure {
  note: ActivityNote
}

/**
 * Erasures of an organisation wait for each other from their ledger entry to their commit. Those that arrive
 * meanwhile share a transaction; unusual ones have their own.
 */
export function subjectErasure(connections: Connections): SubjectStore['erase'] {
  const gathered = new Map<string, (erasure: UsualErasure) => Promise<ErasedSubject | null>>()

  function gather(organisationId: string) {
    const known = gathered.get(organisationId)
    if (known) return known
    const fresh = batcher(
      maxBatch,
      async (erasures: readonly UsualErasure[]) => {
        const done = await eraseUsual(organisationId, erasures)
        return erasures.map((erasure) => done.get(erasure) ?? null)
      },
      { inTurn: true },
    )
    gathered.set(organisationId, fresh)
    return fresh
  }

  /**
   * Erases the usual subjects of one organisation in one transaction. Those missing in the result were not
   * erased.
   */
  async function eraseUsual(
    organisationId: string,
    erasures: readonly UsualErasure[],
  ): Promise<Map<UsualErasure, ErasedSubject>> {
    // If a subject is erased twice, the second erasure finds nothing.
    const byKey = new Map(erasures.map((erasure) => [erasure.key, erasure]))
    const asked = [...byKey.values()]
    const [first] = asked
    if (!first) return new Map()
    const minEntries = Math.max(...asked.map(({ mark }) => mark.guard.minEntries))
    const guard = { ...first.mark.guard, minEntries }
    const columns = [
      asked.map(({ key }) => key),
      asked.map(({ view }) => view.trackerId),
      asked.map(({ view }) => view.since),
      asked.map(({ mark }) => mark.erasedAt),
    ]
    let proven: Promise<Map<UsualErasure, ErasedSubject>>
    try {
      ;({ proven } = await connections.transaction(async (run) => {
        const [{ rows }, ledger] = await Promise.all([
          run(lockUsual, [...columns, maxEvents, organisationId]),
          lockLedger(run, organisationId, guard),
        ])
        const counted = { sessions: 0, events: 0 }
        const left = rows.flatMap((row) => {
          const erasure = byKey.get(text(row, 'subject_key'))
          if (!erasure) return []
          const counts = { sessions: integer(row, 'session_count'), events: integer(row, 'event_count') }
          counted.sessions += counts.sessions
          counted.events += counts.events
          const { entry, tombstone, facts, prove } = erasureRecords(
            ledger,
            erasure,
            counts,
            erasure.mark.erasedAt,
          )
          const parameters = { ...entry, ...tombstone, ...activityParameters(erasure.note, facts) }
          return { erasure, parameters, prove }
        })
        const last = left.at(-1)
        if (!last) return { proven: Promise.resolve(new Map()) }
        for (const { parameters } of left.slice(0, -1)) run(leaveUsual, parameters)
        const keys = left.map(({ erasure }) => erasure.key)
        const all = { keys, allSessions: counted.sessions, allEvents: counted.events }
        run(leaveUsualAndDelete, { ...last.parameters, ...all })
        // Computed while the server commits. The proofs share one head.
        const proven = nextTurn().then(() => {
          last.erasure.onHead?.(ledger.tree.head)
          return new Map(left.map(({ erasure, prove }) => [erasure, prove()]))
        })
        return { proven }
      }))
    } catch (error) {
      // If the connection is lost, the commit may have happened. Any other failure was rolled back, and one
      // erasure may have failed the others.
      if (isConnectionLost(error)) throw error
      return new Map()
    }
    // After the commit: a failure from here on must not erase again.
    return proven
  }

  function eraseAlone(erasure: KeyedErasure): Promise<ErasedSubject | null> {
    const { key, view, subjectId, mark } = erasure
    const { trackerId, organisationId, since } = view
    return connections.transaction(async (run) => {
      const [held] = (await run(lock, [key, trackerId, organisationId])).rows
      if (!held) {
        if ((await run(visible, { trackerId, organisationId })).count === 0) return null
        if (!(await lockTrackers(run, [trackerId])).has(trackerId)) return null
        await run(claim, [key, trackerId, subjectId])
      }
      const { erasedAt } = mark
      // Data in the future, from a clock that ran ahead, must not come back either. Data stored meanwhile may
      // be.
      const isAhead = !held || integer(held, 'last_seen_at') > erasedAt
      // Expired data is deleted first and not counted, because it was no longer visible.
      const hasAged = !held || integer(held, 'oldest_at') < since
      const [newest, , , events, sessions, , , settleWaiting, ledger] = await Promise.all([
        isAhead ? run(newestOf, [key]) : null,
        hasAged ? run(deleteAgedEvents, [key, since]) : null,
        hasAged ? run(deleteAgedSessions, [key, since]) : null,
        run(deleteEvents, [key]),
        run(deleteSessions, [key]),
        run(deleteIdentifiers, [key]),
        run(deleteSubject, [key]),
        lockWaitingItems(run, erasure),
        lockLedger(run, organisationId, mark.guard),
      ])
      // Only after the rows are deleted, which may take long, so that cancelling the request meanwhile
      // need not wait.
      if (settleWaiting === null) throw new NotWaiting()
      run(countDeletion)
      const counts = { sessions: sessions.count, events: events.count }
      const newestAt = newest?.rows[0] ? integerOrNull(newest.rows[0], 'newest') : null
      const refusedUntil = Math.max(erasedAt, newestAt ?? erasedAt)
      const { entry, tombstone, facts, prove } = erasureRecords(ledger, erasure, counts, refusedUntil)
      run(insertEntry, entry)
      run(insertTombstone, tombstone)
      insertActivity(run, erasure.note, facts)
      settleWaiting(facts)
      return prove()
    })
  }

  return async (view, subjectId, mark, note, { onHead, item } = {}) => {
    const key = subjectKeyText(view.trackerId, subjectId)
    const erasure = { key, view, subjectId, mark, note, onHead, item }
    if (note === undefined || item) return eraseAlone(erasure)
    return (await gather(view.organisationId)({ ...erasure, note })) ?? eraseAlone(erasure)
  }
}

/**
 * Locks the items that wait for a subject until the erasure ends, and returns a function that settles them;
 * `null` if the given item does not wait in a running request. Usually there are none, and nothing is locked.
 */
export async function lockWaitingItems(
  run: Run,
  { view: { trackerId }, subjectId, mark, item }: SubjectErasure,
): Promise<((facts: ErasureFacts) => void) | null> {
  if (item && !(await keepRunning(run, item))) return null
  const subject = [trackerId, subjectId]
  const isAwaited = (await run(anyInRequests, subject)).count !== 0
  const locked = isAwaited ? (await run(lockInRequests, subject)).rows : []
  if (item && !locked.some((row) => isItem(row, item))) return null
  return ({ counts, ledgerIndex }) => {
    if (!isAwaited) return
    const { sealedNonce } = mark
    run(settleRequestItems, { trackerId, subjectId, ...counts, ledgerIndex, sealedNonce })
  }
}

/** Keeps the request of an item from being changed. Returns `false` if it does not run. */
async function keepRunning(run: Run, { request }: RequestItemRef): Promise<boolean> {
  return (await run(keepRequestRunning, [request.organisationId, request.id])).count !== 0
}

function isItem(row: Row, { request, position }: RequestItemRef): boolean {
  return (
    integer(row, 'place') === position &&
    row.request_id === request.id &&
    row.organisation_id === request.organisationId
  )
}
