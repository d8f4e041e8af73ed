import type { DatabaseSync } from 'node:sqlite'
import type { LedgerGuard } from '../../domain/ledger.ts'
import { type ErasedSubject, subjectKey } from '../../domain/subject.ts'
import { insertActivity } from '../nouns/activity.ts'
import { settleItems } from '../nouns/erasure-batch.ts'
import { insertEntry, type LockedLedger, lastEntry, toLockedLedger } from '../nouns/ledger.ts'
import { integer } from '../nouns/row.ts'
import { noteDeletion } from '../nouns/scrub.ts'
import { insertTombstone } from '../nouns/tombstone.ts'
import { visible } from '../nouns/tracker.ts'
import { erasureRecords, type SubjectErasure } from '../rules/erasure.ts'
import { transaction } from './connection.ts'
import type { SqliteRun } from './connections.ts'
import { identifierDeletion } from './identifier.ts'

/** What was deleted, `null` where the tracker cannot be seen, that its item does not wait any more, or why it was not done. */
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
  const waiting = db.prepare(
    `SELECT 1 FROM erasure_batch_items i JOIN erasure_batches b ON b.id = i.batch_id
     WHERE i.batch_id = ? AND i.place = ? AND i.outcome = 'waiting' AND b.state = 'running'`,
  )

  /** What was deleted, but for the proof, which comes when the ledger has all entries of the transaction. */
  function erase(erasure: SubjectErasure, ledgers: Map<string, LockedLedger>) {
    const { view, subjectId, mark, note, item } = erasure
    if (run(visible, { ...view }).count === 0) return null
    if (item && !waiting.get(item.batchId, item.position)) return 'not-waiting'
    const { organisationId, trackerId } = view
    const { erasedAt, sealedNonce } = mark
    const key = subjectKey(trackerId, subjectId)
    const seen = lastSeen.get(trackerId, subjectId)
    // What happened later than now, by a clock that ran ahead, stays away too.
    const isAhead = seen && integer(seen, 'last_seen_at') > erasedAt
    const refusedUntil = isAhead ? Math.max(erasedAt, integer(newestOf.get(key) ?? {}, 'newest')) : erasedAt
    // What has aged out goes first, and uncounted: nobody could see it any more.
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
    const settled = run(settleItems, { trackerId, subjectId, sessions, events, ledgerIndex, sealedNonce })
    if (settled.count !== 0) noteDeletion(run)
    return records
  }

  function openLedger(organisationId: string, guard: LedgerGuard): LockedLedger {
    return toLockedLedger(run(lastEntry, { organisationId }).rows, organisationId, guard)
  }

  /** In one transaction. Should it fail, each in one of its own, so that an erasure that cannot be done takes no other with it. */
  function eraseSubjects(erasures: readonly SubjectErasure[]): ErasureOutcome[] {
    let hasBegun = false
    try {
      return transaction(db, () => {
        hasBegun = true
        // Every proof is against a ledger as the transaction leaves it, so they share its head.
        const ledgers = new Map<string, LockedLedger>()
        const erased = erasures.map((erasure) => erase(erasure, ledgers))
        return erased.map((one) => (one === null || one === 'not-waiting' ? one : one.prove()))
      })
    } catch (error) {
      // One that was never let in has waited long enough.
      if (hasBegun && erasures.length > 1) return erasures.flatMap((erasure) => eraseSubjects([erasure]))
      return erasures.map(() => (error instanceof Error ? error : new Error(String(error))))
    }
  }

  return { eraseSubjects }
}
