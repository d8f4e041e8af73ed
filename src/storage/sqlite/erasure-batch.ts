import type { DatabaseSync } from 'node:sqlite'
import type { ActivityNote, ErasureFacts } from '../../domain/activity.ts'
import type {
  BatchChange,
  BatchItemRef,
  BatchLoan,
  ErasureBatch,
  ErasureBatchStore,
  NewBatch,
  NewBatchItem,
} from '../../domain/erasure-batch.ts'
import type { Instant } from '../../domain/instant.ts'
import type { SubjectRef } from '../../domain/person.ts'
import {
  addedItem,
  batchColumns,
  batchValues,
  inTurn,
  itemColumns,
  itemValues,
  latestEnd,
  ofEntries,
  settledColumn,
  toBatch,
  toBatchesOfEntries,
  toBatchItem,
  toWaitingItem,
} from '../rows/erasure-batch.ts'
import { integer } from '../rows/row.ts'
import { activityNotes } from './activity.ts'
import { transaction } from './connection.ts'
import type { Connections } from './connections.ts'
import { deletionNote } from './scrub.ts'

export function erasureBatchStore({
  reader,
  writer,
}: Connections<ReturnType<typeof erasureBatchCommands>>): ErasureBatchStore {
  const select = `SELECT b.*, ${settledColumn} FROM erasure_batches b`
  const find = reader.prepare(`${select} WHERE b.id = ? AND b.organisation_id = ?`)
  const list = reader.prepare(
    `${select} WHERE b.organisation_id = ? AND b.kind = ? ORDER BY b.created_at DESC, b.id DESC LIMIT ?`,
  )
  const overdue = reader.prepare(
    `${select} WHERE b.finished_at IS NULL AND b.created_at < ? ORDER BY b.created_at LIMIT 100`,
  )
  const open = reader.prepare(
    'SELECT count(*) AS open FROM erasure_batches WHERE organisation_id = ? AND kind = ? AND finished_at IS NULL',
  )
  const ofEntry = reader.prepare(ofEntries('?', '= ?'))
  const items = reader.prepare(
    'SELECT * FROM erasure_batch_items WHERE batch_id = ? AND place > ? ORDER BY place LIMIT ?',
  )
  const running = reader.prepare(`SELECT 1 FROM erasure_batches WHERE state = 'running' LIMIT 1`)
  const held = reader.prepare(
    `SELECT 1 FROM erasure_batches WHERE id = ? AND holder = ? AND state = 'running'`,
  )
  const next = reader.prepare(
    `SELECT place, tracker_id, subject_id FROM erasure_batch_items
     WHERE batch_id = ? AND outcome = 'waiting' ORDER BY place LIMIT 1`,
  )
  return {
    create: (batch, items, note) => writer.run('createErasureBatch', batch, items, note),
    async find(organisationId, id) {
      const row = find.get(id, organisationId)
      return row ? toBatch(row) : null
    },
    list: async (organisationId, kind, limit) => list.all(organisationId, kind, limit).map(toBatch),
    countOpen: async (organisationId, kind) => integer(open.get(organisationId, kind) ?? {}, 'open'),
    ofEntries: async (organisationId, indexes) =>
      toBatchesOfEntries(indexes.flatMap((index) => ofEntry.all(organisationId, index))),
    items: async (batchId, after, limit) => items.all(batchId, after, limit).map(toBatchItem),
    change: (batch, change, now, note) =>
      change.to === 'stopped'
        ? writer.run('stopErasureBatch', batch, change, now, note)
        : writer.run('changeErasureBatch', batch, change, note),
    // Mostly there is none, and to look costs no write.
    lend: async (holder, loan) => (running.get() ? writer.run('lendErasureBatch', holder, loan) : null),
    giveBack: (holder, id, now, resumesAt = null) =>
      writer.run('giveBackErasureBatch', holder, id, now, resumesAt),
    async next(holder, id) {
      if (!held.get(id, holder)) return false
      const row = next.get(id)
      return row ? toWaitingItem(row) : null
    },
    settleGone: (id, place) => writer.run('settleGone', id, place),
    extend: (holder, id, subjects, now) => writer.run('extendErasureBatch', holder, id, subjects, now),
    finish: (id, now, note, left = null) => writer.run('finishErasureBatch', id, now, note, left),
    listOverdue: async (before) => overdue.all(before).map(toBatch),
    sweep: (before, maxRows) => writer.run('sweepErasureBatches', before, maxRows),
  }
}

export function erasureBatchCommands(db: DatabaseSync) {
  const leaveNote = activityNotes(db)
  const noteDeletion = deletionNote(db)
  const owner = db.prepare('SELECT 1 FROM organisations WHERE id = ? AND deleted_at IS NULL')
  const marks = (columns: readonly string[]) => columns.map(() => '?').join(', ')
  const insert = db.prepare(
    `INSERT INTO erasure_batches (${batchColumns.join(', ')}) VALUES (${marks(batchColumns)})`,
  )
  const insertItem = db.prepare(
    `INSERT INTO erasure_batch_items (batch_id, place, ${itemColumns.join(', ')}) VALUES (?, ?, ${marks(itemColumns)})`,
  )
  const state = db.prepare('SELECT state FROM erasure_batches WHERE id = ? AND organisation_id = ?')
  const setState = db.prepare('UPDATE erasure_batches SET state = ? WHERE id = ?')
  const stopWaiting = db.prepare(
    `UPDATE erasure_batch_items SET outcome = 'stopped', subject_id = NULL WHERE batch_id = ? AND outcome = 'waiting'`,
  )
  const sums = db.prepare(
    `SELECT count(*) AS erased, coalesce(sum(sessions), 0) AS sessions, coalesce(sum(events), 0) AS events
     FROM erasure_batch_items WHERE batch_id = ? AND outcome = 'erased'`,
  )
  const end = db.prepare(
    `UPDATE erasure_batches SET state = ?, finished_at = ?, erased = ?, sessions = ?, events = ?, left_subjects = ?,
     holder = NULL, resumes_at = NULL, person = NULL WHERE id = ?`,
  )
  const free = (stepped: string) =>
    db.prepare(
      `SELECT b.*, ${settledColumn} FROM erasure_batches b WHERE b.state = 'running'
       AND (b.holder IS NULL OR b.holder = ?1 OR b.held_until <= ?2 OR b.held_until > ?3) AND b.stepped_at ${stepped}
       ORDER BY b.stepped_at, b.id LIMIT 1`,
    )
  const aheadOf = free('> ?4')
  const steppedBy = free('<= ?4 AND (b.resumes_at IS NULL OR b.resumes_at <= ?2)')
  const lend = db.prepare(
    'UPDATE erasure_batches SET holder = ?, held_until = ?, resumes_at = NULL WHERE id = ?',
  )
  const giveBack = db.prepare(
    'UPDATE erasure_batches SET holder = NULL, stepped_at = ?, resumes_at = ? WHERE id = ? AND holder = ?',
  )
  const settleGone = db.prepare(
    `UPDATE erasure_batch_items SET outcome = 'gone', subject_id = NULL
     WHERE batch_id = ? AND place = ? AND outcome = 'waiting'`,
  )
  const nobodyWaits = `state = 'running' AND NOT EXISTS (
    SELECT 1 FROM erasure_batch_items WHERE batch_id = b.id AND outcome = 'waiting')`
  const finishable = db.prepare(`SELECT 1 FROM erasure_batches b WHERE id = ? AND ${nobodyWaits}`)
  const extensible = db.prepare(
    `SELECT subjects FROM erasure_batches b WHERE id = ? AND holder = ? AND checked_at IS NULL AND ${nobodyWaits}`,
  )
  const extend = db.prepare('UPDATE erasure_batches SET subjects = ?, checked_at = ? WHERE id = ?')
  const finished = db.prepare(
    'SELECT id FROM erasure_batches WHERE finished_at < ? ORDER BY finished_at LIMIT 1',
  )
  const removeItems = db.prepare(
    `DELETE FROM erasure_batch_items WHERE batch_id = ?1 AND place IN (
       SELECT place FROM erasure_batch_items WHERE batch_id = ?1 ORDER BY place LIMIT ?2)`,
  )
  const remove = db.prepare('DELETE FROM erasure_batches WHERE id = ?')

  function conclude(id: string, to: 'done' | 'stopped', now: Instant, left: number | null): void {
    const row = sums.get(id) ?? {}
    end.run(to, now, integer(row, 'erased'), integer(row, 'sessions'), integer(row, 'events'), left, id)
    // Its person, or who waited, was there until now.
    noteDeletion()
  }

  function isIn(
    { id, organisationId }: Pick<ErasureBatch, 'id' | 'organisationId'>,
    { from }: BatchChange,
  ): boolean {
    const row = state.get(id, organisationId)
    return from.some((one) => one === row?.state)
  }

  return {
    createErasureBatch: (batch: NewBatch, items: readonly NewBatchItem[], note: ActivityNote): boolean =>
      transaction(db, () => {
        if (!owner.get(batch.organisationId)) return false
        insert.run(...batchValues(batch))
        for (const [place, item] of inTurn(items).entries())
          insertItem.run(batch.id, place, ...itemValues(item))
        leaveNote(note)
        return true
      }),
    changeErasureBatch: (
      batch: Pick<ErasureBatch, 'id' | 'organisationId'>,
      change: BatchChange,
      note: ActivityNote,
    ): boolean =>
      transaction(db, () => {
        if (!isIn(batch, change)) return false
        setState.run(change.to, batch.id)
        leaveNote(note)
        return true
      }),
    stopErasureBatch: (
      batch: Pick<ErasureBatch, 'id' | 'organisationId'>,
      change: BatchChange,
      now: Instant,
      note: ActivityNote,
    ): boolean =>
      transaction(db, () => {
        if (!isIn(batch, change)) return false
        stopWaiting.run(batch.id)
        conclude(batch.id, 'stopped', now, null)
        leaveNote(note)
        return true
      }),
    lendErasureBatch: (holder: string, loan: BatchLoan): ErasureBatch | null =>
      transaction(db, () => {
        const { now, steppedBefore } = loan
        const by = [holder, now, latestEnd(loan)]
        const row = aheadOf.get(...by, now) ?? steppedBy.get(...by, steppedBefore)
        if (!row) return null
        const batch = toBatch(row)
        lend.run(holder, loan.until, batch.id)
        return batch
      }),
    giveBackErasureBatch: (holder: string, id: string, now: Instant, resumesAt: Instant | null): void =>
      transaction(db, () => {
        giveBack.run(now, resumesAt, id, holder)
      }),
    settleGone: (id: string, place: number): void =>
      transaction(db, () => {
        if (settleGone.run(id, place).changes !== 0) noteDeletion()
      }),
    extendErasureBatch: (
      holder: string,
      id: string,
      subjects: readonly SubjectRef[],
      now: Instant,
    ): boolean =>
      transaction(db, () => {
        const row = extensible.get(id, holder)
        if (!row) return false
        const first = integer(row, 'subjects')
        for (const [i, subject] of subjects.entries())
          insertItem.run(id, first + i, ...itemValues(addedItem(subject)))
        extend.run(first + subjects.length, now, id)
        return true
      }),
    finishErasureBatch: (id: string, now: Instant, note: ActivityNote, left: number | null): void =>
      transaction(db, () => {
        if (!finishable.get(id)) return
        conclude(id, 'done', now, left)
        leaveNote(note)
      }),
    sweepErasureBatches: (before: Instant, maxRows: number): number =>
      transaction(db, () => {
        const row = finished.get(before)
        if (!row) return 0
        const items = Number(removeItems.run(String(row.id), maxRows).changes)
        noteDeletion()
        if (items === maxRows) return items
        remove.run(String(row.id))
        return items + 1
      }),
  }
}

/** What an erasure leaves in the items of batches that wait for its subject. */
export interface SettledErasure extends ErasureFacts {
  sealedNonce: string
}

/** Settles the items that wait for a subject, within the transaction of its erasure. `false` when there are none. */
export function batchSettling(db: DatabaseSync) {
  const settle = db.prepare(
    `UPDATE erasure_batch_items SET outcome = 'erased', subject_id = NULL, sessions = ?, events = ?, ledger_index = ?,
     sealed_nonce = ? WHERE tracker_id = ? AND subject_id = ?`,
  )
  return (trackerId: string, subjectId: string, erasure: SettledErasure): boolean => {
    const { counts, ledgerIndex, sealedNonce } = erasure
    const values = [counts.sessions, counts.events, ledgerIndex, sealedNonce]
    return settle.run(...values, trackerId, subjectId).changes !== 0
  }
}

/** Whether an item waits in a batch that runs. */
export function waitingItem(db: DatabaseSync): (item: BatchItemRef) => boolean {
  const find = db.prepare(
    `SELECT 1 FROM erasure_batch_items i JOIN erasure_batches b ON b.id = i.batch_id
     WHERE i.batch_id = ? AND i.place = ? AND i.outcome = 'waiting' AND b.state = 'running'`,
  )
  return ({ batchId, place }) => find.get(batchId, place) !== undefined
}

/** Forgets who waits in a tracker that is being removed. */
export function batchForgetting(db: DatabaseSync): (trackerId: string) => void {
  const forget = db.prepare(
    `UPDATE erasure_batch_items SET outcome = 'gone', subject_id = NULL WHERE tracker_id = ? AND subject_id IS NOT NULL`,
  )
  return (trackerId) => {
    forget.run(trackerId)
  }
}
