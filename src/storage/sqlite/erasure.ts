import type { DatabaseSync } from 'node:sqlite'
import type { LedgerGuard } from '../../domain/ledger.ts'
import type { RequestItemRef } from '../../domain/privacy-request.ts'
import { type ErasedSubject, subjectKey } from '../../domain/subject.ts'
import { insertActivity } from '../nouns/activity.ts'
import { insertEntry, type LockedLedger, lastEntry, toLockedLedger } from '../nouns/ledger.ts'
import { settleRequestItems } from '../nouns/privacy-request.ts'
import { integer } from '../nouns/row.ts'
import { noteDeletion } from '../nouns/scrub.ts'
import { insertTombstone } from '../nouns/tombstone.ts'
import { visible } from '../nouns/tracker.ts'
import { erasureRecords, type SubjectErasure } from '../rules/erasure.ts'
import { transaction } from './connection.ts'
import type { SqliteRun } from './connections.ts'
import { identifierDeletion } from './identifier.ts'

/**
 * The result; `null` if the tracker is not visible, `not-waiting` if the item no longer waits, or the error.
 */
export type ErasureOutcome = ErasedSubject | null | 'not-waiting' | Error

export function erasureCommands(db: DatabaseSync, run: SqliteRun) {
  const deleteAgedEvents = db.prepare('DELETE FROM events WHERE subject_key = ? AND occurred_at < ?')
  const deleteEvents = db.prepare('DELETE FROM events WHERE subject_key = ?')
  const deleteAgedSessions = db.prepare('DELETE FROM sessions WHERE subject_key = ? AND ended_at < ?')
  const deleteSessions = db.prepare('DELETE FROM sessions WHERE subject_key = ?')
  const identifiers = identifierDeletion(db)
  const deleteSubject = db.prepare('DELETE FROM subjects WHERE tracker_id = ? AND subject_id = ?')
  const lastSeen = db.prepare('SELECT last_seen_at FROM subjects WHERE tracker_id = ? AND subject_id = ?')
  const newestOf = db.prepare(
    `SELECT max(coalesce((SELECT max(occurred_at) FROM events WHERE subject_key = ?1), started_at), started_at) AS newest
     FROM (SELECT max(started_at) AS started_at FROM sessions WHERE subject_key = ?1)`,
  )
  const inRequest = db.prepare(
    `SELECT 1 FROM privacy_request_items i JOIN privacy_requests r ON r.organisation_id = i.organisation_id AND r.id = i.request_id
     WHERE i.organisation_id = ? AND i.request_id = ? AND i.place = ? AND i.outcome = 'waiting' AND r.state = 'running'`,
  )
  const isWaiting = ({ request, position }: RequestItemRef) =>
    inRequest.get(request.organisationId, request.id, position)

  /** Erases one subject. The proof is made when the ledger has all entries of the transaction. */
  function erase(erasure: SubjectErasure, ledgers: Map<string, LockedLedger>) {
    const { view, subjectId, mark, note, item } = erasure
    const { organisationId, trackerId } = view
    if (run(visible, { trackerId, organisationId }).count === 0) return null
    if (item && !isWaiting(item)) return 'not-waiting'
    const { erasedAt, sealedNonce } = mark
    const key = subjectKey(trackerId, subjectId)
    const seen = lastSeen.get(trackerId, subjectId)
    // Data in the future, from a clock that ran ahead, must not come back either.
    const isAhead = seen && integer(seen, 'last_seen_at') > erasedAt
    const refusedUntil = isAhead ? Math.max(erasedAt, integer(newestOf.get(key) ?? {}, 'newest')) : erasedAt
    // Expired data is deleted first and not counted, because it was no longer visible.
    deleteAgedEvents.run(key, view.since)
    deleteAgedSessions.run(key, view.since)
    const events = Number(deleteEvents.run(key).changes)
    const sessions = Number(deleteSessions.run(key).changes)
    identifiers.deleteAll(key)
    if (deleteSubject.run(trackerId, subjectId).changes !== 0) noteDeletion(run)
    const ledger = ledgers.get(organisationId) ?? openLedger(organisationId, mark.guard)
    ledgers.set(organisationId, ledger)
    const records = erasureRecords(ledger, erasure, { sessions, events }, refusedUntil)
    run(insertEntry, records.entry)
    run(insertTombstone, records.tombstone)
    insertActivity(run, note, records.facts)
    const { ledgerIndex } = records.facts
    const settling = { trackerId, subjectId, sessions, events, ledgerIndex, sealedNonce }
    if (run(settleRequestItems, settling).count !== 0) noteDeletion(run)
    return records
  }

  function openLedger(organisationId: string, guard: LedgerGuard): LockedLedger {
    return toLockedLedger(run(lastEntry, { organisationId }).rows, organisationId, guard)
  }

  /**
   * Erases all in one transaction. If that fails, each in its own, so that one failing erasure does not
   * affect the others.
   */
  function eraseSubjects(erasures: readonly SubjectErasure[]): ErasureOutcome[] {
    let hasBegun = false
    try {
      return transaction(db, () => {
        hasBegun = true
        // All proofs are against the final state of a ledger, so they share its head.
        const ledgers = new Map<string, LockedLedger>()
        const erased = erasures.map((erasure) => erase(erasure, ledgers))
        return erased.map((one) => (one === null || one === 'not-waiting' ? one : one.prove()))
      })
    } catch (error) {
      // Waiting for the write lock has failed; do not wait again.
      if (hasBegun && erasures.length > 1) return erasures.flatMap((erasure) => eraseSubjects([erasure]))
      return erasures.map(() => (error instanceof Error ? error : new Error(String(error))))
    }
  }

  return { eraseSubjects }
}
