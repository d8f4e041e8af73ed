import { setImmediate as nextTurn } from 'node:timers/promises'
import type { ActivityNote, ErasureFacts } from '../../domain/activity.ts'
import { batcher } from '../../domain/batcher.ts'
import { NotWaiting } from '../../domain/erasure-batch.ts'
import type { TreeHead } from '../../domain/merkle-tree.ts'
import { formatRecord } from '../../domain/receipt.ts'
import type { ErasedSubject, SubjectStore } from '../../domain/subject.ts'
import type { SubjectCounts } from '../../domain/subject-counts.ts'
import { noteValues } from '../rows/activity.ts'
import { integer, integerOrNull, text } from '../rows/row.ts'
import type { SubjectErasure } from '../subject-erasure.ts'
import { insertNote, leaveNote } from './activity.ts'
import type { Connections } from './connections.ts'
import { holdWaiting } from './erasure-batch.ts'
import { isConnectionLost } from './failures.ts'
import { holdTrackers, takeTurn } from './hold-owner.ts'
import { deleteIdentifiers } from './identifier.ts'
import { subjectKeyText } from './key-text.ts'
import { type HeldLedger, holdLedger, insertEntry } from './ledger.ts'
import { noteDeleted } from './scrub.ts'
import { combine, statement, type Value } from './statement.ts'
import { insertTombstone, tombstoneValues } from './tombstone.ts'
import { visible } from './tracker.ts'

// Whoever writes to a subject has its row to itself first, so nothing is added to it while it is erased. Others do not wait for the
// row of a subject they cannot see: how long they wait would tell that it is there.
const lock = statement(
  `SELECT oldest_at, last_seen_at FROM subjects WHERE subject_key = $1
   AND EXISTS (SELECT 1 FROM trackers WHERE id = $2 AND organisation_id = $3 AND deleted_at IS NULL) FOR UPDATE`,
)
// Of a subject that is not there a row is made, and deleted with the rest: whoever is storing it just now has to end first, and whoever
// comes later finds the tombstone.
const claim = statement(
  `INSERT INTO subjects (subject_key, tracker_id, subject_id, first_seen_at, last_seen_at, oldest_at, session_count, event_count)
   VALUES ($1, $2, $3, 0, 0, 0, 0, 0) ON CONFLICT (subject_key) DO UPDATE SET oldest_at = subjects.oldest_at`,
)
const newestOf = statement(
  `SELECT greatest((SELECT max(started_at) FROM sessions WHERE subject_key = $1),
     (SELECT max(occurred_at) FROM events WHERE subject_key = $1)) AS newest`,
)
const deleteAgedEvents = statement('DELETE FROM events WHERE subject_key = $1 AND occurred_at < $2')
const deleteEvents = statement('DELETE FROM events WHERE subject_key = $1')
const deleteAgedSessions = statement('DELETE FROM sessions WHERE subject_key = $1 AND ended_at < $2')
const deleteSessions = statement('DELETE FROM sessions WHERE subject_key = $1')
const deleteSubject = statement('DELETE FROM subjects WHERE subject_key = $1')

// What is as it mostly is: there, of usual size, nothing of it aged out or ahead of the clock, waited for by no batch, and nobody writing
// to it.
const lockUsual = statement(
  `SELECT s.subject_key, s.session_count, s.event_count
   FROM unnest($1::uuid[], $2::text[], $3::bigint[], $4::bigint[]) AS asked (subject_key, tracker_id, since, erased_at)
   JOIN subjects s USING (subject_key)
   WHERE s.oldest_at >= asked.since AND s.last_seen_at <= asked.erased_at AND s.event_count <= $5 AND EXISTS (
     SELECT 1 FROM trackers t WHERE t.id = asked.tracker_id AND t.organisation_id = $6 AND t.deleted_at IS NULL)
   AND NOT EXISTS (SELECT 1 FROM erasure_batch_items i WHERE i.tracker_id = s.tracker_id AND i.subject_id = s.subject_id)
   FOR UPDATE OF s SKIP LOCKED`,
  'never',
)
// Fails, and the transaction with it, when the rows are not as many as were counted: it is sent together with the commit.
const deleteUsual = statement(
  `WITH gone_events AS (DELETE FROM events WHERE subject_key = ANY ($1) RETURNING 1),
     gone_sessions AS (DELETE FROM sessions WHERE subject_key = ANY ($1) RETURNING 1),
     gone_identifiers AS (DELETE FROM identifiers WHERE subject_key = ANY ($1)),
     gone_subjects AS (DELETE FROM subjects WHERE subject_key = ANY ($1)),
     noted AS (${noteDeleted.text})
   SELECT 1 / ((SELECT count(*) FROM gone_sessions) = $2 AND (SELECT count(*) FROM gone_events) = $3)::integer`,
  'never',
)

const leaveUsual = combine(insertEntry, insertTombstone, insertNote)
const leaveUsualAndDelete = combine(insertEntry, insertTombstone, insertNote, deleteUsual)

const mostTogether = 16
/** A subject with more goes alone, so that nobody has to wait for it. */
const mostEvents = 1_000

interface KeyedErasure extends SubjectErasure {
  key: string
  onHead: ((head: TreeHead) => void) | undefined
}

interface UsualErasure extends KeyedErasure {
  note: ActivityNote
}

/**
 * Erasures of an organisation wait for each other from their entry in its ledger to their commit. So those that come while others are
 * under way share a transaction. What is not as usual has one of its own.
 */
export function subjectErasure(connections: Connections): SubjectStore['erase'] {
  const gathered = new Map<string, (erasure: UsualErasure) => Promise<ErasedSubject | null>>()

  function gather(organisationId: string) {
    const known = gathered.get(organisationId)
    if (known) return known
    const fresh = batcher(
      mostTogether,
      async (erasures: readonly UsualErasure[]) => {
        const done = await eraseUsual(organisationId, erasures)
        return erasures.map((erasure) => done.get(erasure) ?? null)
      },
      { inTurn: true },
    )
    gathered.set(organisationId, fresh)
    return fresh
  }

  /** Erases those of one organisation that are as usual, in one transaction. What is not in its result is not done. */
  async function eraseUsual(
    organisationId: string,
    erasures: readonly UsualErasure[],
  ): Promise<Map<UsualErasure, ErasedSubject>> {
    // Of two erasures of one subject the second finds nothing.
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
          run(lockUsual, [...columns, mostEvents, organisationId]),
          holdLedger(run, organisationId, guard),
        ])
        const counted = { sessions: 0, events: 0 }
        const left = rows.flatMap((row) => {
          const erasure = byKey.get(text(row, 'subject_key'))
          if (!erasure) return []
          const counts = { sessions: integer(row, 'session_count'), events: integer(row, 'event_count') }
          counted.sessions += counts.sessions
          counted.events += counts.events
          const { entry, tombstone, facts, prove } = leave(ledger, erasure, counts, erasure.mark.erasedAt)
          return { erasure, values: [...entry, ...tombstone, ...noteValues(erasure.note, facts)], prove }
        })
        const last = left.at(-1)
        if (!last) return { proven: Promise.resolve(new Map()) }
        for (const { values } of left.slice(0, -1)) run(leaveUsual, values)
        const keys = left.map(({ erasure }) => erasure.key)
        run(leaveUsualAndDelete, [...last.values, keys, counted.sessions, counted.events])
        // While the server is at it. They share their head.
        const proven = nextTurn().then(() => {
          last.erasure.onHead?.(ledger.tree.head)
          return new Map(left.map(({ erasure, prove }) => [erasure, prove()]))
        })
        return { proven }
      }))
    } catch (error) {
      // Whether a commit was done cannot be told when its answer is lost; all else was rolled back, and one may have failed the others.
      if (isConnectionLost(error)) throw error
      return new Map()
    }
    // Behind the commit: whatever fails from here on must not erase again.
    return proven
  }

  function eraseAlone(erasure: KeyedErasure): Promise<ErasedSubject | null> {
    const { key, view, subjectId, mark } = erasure
    const { trackerId, organisationId, since } = view
    return connections.transaction(async (run) => {
      const [held] = (await run(lock, [key, trackerId, organisationId])).rows
      if (!held) {
        if ((await run(visible, [trackerId, organisationId])).rowCount === 0) return null
        takeTurn(run)
        if (!(await holdTrackers(run, [trackerId])).has(trackerId)) return null
        await run(claim, [key, trackerId, subjectId])
      }
      const { erasedAt } = mark
      // What happened later than now, by a clock that ran ahead, stays away too. What was stored meanwhile may have.
      const isAhead = !held || integer(held, 'last_seen_at') > erasedAt
      // What has aged out goes before the rest, and uncounted: nobody could see it any more.
      const hasAged = !held || integer(held, 'oldest_at') < since
      const [newest, , , events, sessions, , , settleItems, ledger] = await Promise.all([
        isAhead ? run(newestOf, [key]) : null,
        hasAged ? run(deleteAgedEvents, [key, since]) : null,
        hasAged ? run(deleteAgedSessions, [key, since]) : null,
        run(deleteEvents, [key]),
        run(deleteSessions, [key]),
        run(deleteIdentifiers, [key]),
        run(deleteSubject, [key]),
        holdWaiting(run, erasure),
        holdLedger(run, organisationId, mark.guard),
      ])
      // Not before the rows are deleted, which may take long: whoever stops the batch meanwhile need not wait, and they are kept.
      if (settleItems === null) throw new NotWaiting()
      run(noteDeleted)
      const counts = { sessions: sessions.rowCount ?? 0, events: events.rowCount ?? 0 }
      const newestAt = newest?.rows[0] ? integerOrNull(newest.rows[0], 'newest') : null
      const refusedUntil = Math.max(erasedAt, newestAt ?? erasedAt)
      const { entry, tombstone, facts, prove } = leave(ledger, erasure, counts, refusedUntil)
      run(insertEntry, entry)
      run(insertTombstone, tombstone)
      leaveNote(run, erasure.note, facts)
      settleItems(facts)
      return prove()
    })
  }

  return async (view, subjectId, mark, note, { onHead, item } = {}) => {
    const key = subjectKeyText(view.trackerId, subjectId)
    const erasure = { key, view, subjectId, mark, note, onHead, item }
    // On a cluster each subject is on a shard of its own.
    if (note === undefined || item || connections.isDistributed) return eraseAlone(erasure)
    return (await gather(view.organisationId)({ ...erasure, note })) ?? eraseAlone(erasure)
  }
}

/** What an erasure leaves behind: the values that are inserted, and what tells of it once the ledger has all entries of the transaction. */
function leave(
  ledger: HeldLedger,
  { view, mark }: SubjectErasure,
  counts: SubjectCounts,
  refusedUntil: number,
): { entry: readonly Value[]; tombstone: readonly Value[]; facts: ErasureFacts; prove(): ErasedSubject } {
  const { trackerId, organisationId } = view
  const { erasedAt, digest, commitment } = mark
  const alreadyErased = counts.sessions === 0 && counts.events === 0
  const record = formatRecord({ alreadyErased, counts, erasedAt, subject: commitment, trackerId })
  const { index: ledgerIndex, values: entry } = ledger.append(record)
  const tombstone = { organisationId, trackerId, digest, erasedAt, refusedUntil, ledgerIndex }
  return {
    entry,
    tombstone: tombstoneValues(tombstone),
    facts: { counts, ledgerIndex },
    prove: () => ({ counts, record, proof: ledger.tree.prove(ledgerIndex), refusedUntil }),
  }
}
