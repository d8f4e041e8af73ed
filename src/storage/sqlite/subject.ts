import type { DatabaseSync } from 'node:sqlite'
import { NotWaiting } from '../../domain/erasure-batch.ts'
import { formatRecord } from '../../domain/receipt.ts'
import type {
  ErasedSubject,
  SubjectPosition,
  SubjectQuery,
  SubjectStore,
  SubjectSummary,
} from '../../domain/subject.ts'
import { subjectKey } from '../../domain/subject-key.ts'
import type { TrackerView } from '../../domain/tracker.ts'
import { type PageBuilder, readPage } from '../page.ts'
import { integer, type Values } from '../rows/row.ts'
import { subjectPosition, summaryColumns, toSummary } from '../rows/subject.ts'
import type { SubjectErasure } from '../subject-erasure.ts'
import { subjectRange } from '../subject-range.ts'
import { activityNotes } from './activity.ts'
import { snapshot, transaction } from './connection.ts'
import type { Connections } from './connections.ts'
import { batchSettling, waitingItem } from './erasure-batch.ts'
import { identifierDeletion } from './identifier.ts'
import { type AppendedLedgers, ledgerAppending } from './ledger.ts'
import { deletionNote } from './scrub.ts'
import { ageing, oldestAt } from './subject-ageing.ts'
import { subjectReading } from './subject-reading.ts'
import { tombstoneWriting } from './tombstone.ts'
import { trackerVisibility } from './tracker.ts'
import { prepareValues, type ValuesStatement } from './values-statement.ts'

const columns = `${summaryColumns}, oldest_at`

export function subjectStore({
  reader,
  writer,
}: Connections<ReturnType<typeof subjectCommands>>): SubjectStore {
  const isVisible = trackerVisibility(reader)
  const count = reader.prepare(
    `SELECT count(*) AS count FROM
       (SELECT 1 FROM subjects WHERE tracker_id = ? AND last_seen_at >= ? LIMIT ?)`,
  )
  const lists = new Map<string, ValuesStatement>()
  const withoutAged = ageing(reader)

  function addChunk(
    page: PageBuilder<SubjectSummary, SubjectPosition>,
    view: TrackerView,
    query: SubjectQuery,
    count: number,
  ): readonly Values[] {
    const { conditions, values, order } = subjectRange(view, query)
    const sql = `SELECT ${columns} FROM subjects WHERE ${conditions} ORDER BY ${order} LIMIT ?`
    const statement = lists.get(sql) ?? prepareValues(reader, sql)
    lists.set(sql, statement)
    const read = () => statement.all(...values, count)
    const rows = read()
    const isWhole = rows.every((row) => oldestAt(row) >= view.since)
    if (isWhole) {
      page.addAll(rows, toSummary)
      return rows
    }
    return snapshot(reader, () => {
      const rows = read()
      page.addAll(rows, withoutAged(view))
      return rows
    })
  }

  return {
    list(view, query) {
      if (!isVisible(view)) return null
      return readPage(
        query,
        (page, after, count) => addChunk(page, view, { ...query, after }, count),
        subjectPosition,
      )
    },
    read: subjectReading(reader),
    async count(view, atMost) {
      if (!isVisible(view)) return null
      return integer(count.get(view.trackerId, view.since, atMost) ?? {}, 'count')
    },
    async erase(view, subjectId, mark, note, { item } = {}) {
      const [outcome = null] = await writer.run('eraseSubjects', [{ view, subjectId, mark, note, item }])
      if (outcome === 'not-waiting') throw new NotWaiting()
      if (outcome instanceof Error) throw outcome
      return outcome
    },
  }
}

/** What was deleted, `null` where the tracker cannot be seen, that its item does not wait any more, or why it was not done. */
export type ErasureOutcome = ErasedSubject | null | 'not-waiting' | Error

export function subjectCommands(db: DatabaseSync) {
  const isVisible = trackerVisibility(db)
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
  const noteDeletion = deletionNote(db)
  const appending = ledgerAppending(db)
  const bury = tombstoneWriting(db)
  const leaveNote = activityNotes(db)
  const settleItems = batchSettling(db)
  const isWaiting = waitingItem(db)

  /** What was deleted, but for the proof, which comes when the ledger has all entries of the transaction. */
  function erase({ view, subjectId, mark, note, item }: SubjectErasure, ledgers: AppendedLedgers) {
    if (!isVisible(view)) return null
    if (item && !isWaiting(item)) return 'not-waiting'
    const { organisationId, trackerId } = view
    const { erasedAt, digest, commitment, sealedNonce } = mark
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
    if (deleteSubject.run(trackerId, subjectId).changes !== 0) noteDeletion()
    const counts = { sessions, events }
    const alreadyErased = sessions === 0 && events === 0
    const record = formatRecord({ alreadyErased, counts, erasedAt, subject: commitment, trackerId })
    const ledgerIndex = ledgers.append(organisationId, record, mark.guard)
    bury({ organisationId, trackerId, digest, erasedAt, refusedUntil, ledgerIndex })
    leaveNote(note, { counts, ledgerIndex })
    if (settleItems(trackerId, subjectId, { counts, ledgerIndex, sealedNonce })) noteDeletion()
    return { organisationId, ledgerIndex, counts, record, refusedUntil }
  }

  /** In one transaction. Should it fail, each in one of its own, so that an erasure that cannot be done takes no other with it. */
  function eraseSubjects(erasures: readonly SubjectErasure[]): ErasureOutcome[] {
    let hasBegun = false
    try {
      return transaction(db, () => {
        hasBegun = true
        const ledgers = appending()
        const erased = erasures.map((erasure) => erase(erasure, ledgers))
        return erased.map((one) => {
          if (one === null || one === 'not-waiting') return one
          const { organisationId, ledgerIndex, counts, record, refusedUntil } = one
          return { counts, record, proof: ledgers.prove(organisationId, ledgerIndex), refusedUntil }
        })
      })
    } catch (error) {
      // One that was never let in has waited long enough.
      if (hasBegun && erasures.length > 1) return erasures.flatMap((erasure) => eraseSubjects([erasure]))
      return erasures.map(() => (error instanceof Error ? error : new Error(String(error))))
    }
  }

  return { eraseSubjects }
}

/** Finds a subject that holds data which has not aged out. */
export function subjectPresence(
  db: DatabaseSync,
): (view: TrackerView, subjectId: string) => { isInterleaved: boolean } | null {
  const present = db.prepare(
    'SELECT interleaved FROM subjects WHERE tracker_id = ? AND subject_id = ? AND last_seen_at >= ?',
  )
  return ({ trackerId, since }, subjectId) => {
    const row = present.get(trackerId, subjectId, since)
    return row ? { isInterleaved: row.interleaved === 1 } : null
  }
}
