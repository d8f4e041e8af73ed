import type { ErasureFacts } from '../../domain/activity.ts'
import type { ErasureBatchStore, NewBatchItem } from '../../domain/erasure-batch.ts'
import type { Instant } from '../../domain/instant.ts'
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
import { integer, type Row, text } from '../rows/row.ts'
import type { SubjectErasure } from '../subject-erasure.ts'
import { leaveNote } from './activity.ts'
import type { Connections } from './connections.ts'
import { holdOrganisation, takeTurn } from './hold-owner.ts'
import { noteDeletion } from './scrub.ts'
import { statement } from './statement.ts'
import type { Run } from './transact.ts'

// Whoever writes here has its organisation first, then the activity, the items, the batch: one order, so that nobody waits in a circle.

const select = `SELECT b.*, ${settledColumn} FROM erasure_batches b`
const find = statement(`${select} WHERE b.id = $1 AND b.organisation_id = $2`)
const list = statement(
  `${select} WHERE b.organisation_id = $1 AND b.kind = $2 ORDER BY b.created_at DESC, b.id DESC LIMIT $3`,
)
const overdue = statement(
  `${select} WHERE b.finished_at IS NULL AND b.created_at < $1 ORDER BY b.created_at LIMIT 100`,
)
const open = statement(
  'SELECT count(*) AS open FROM erasure_batches WHERE organisation_id = $1 AND kind = $2 AND finished_at IS NULL',
)
const entries = statement(ofEntries('$1', '= ANY ($2)'))
const items = statement(
  'SELECT * FROM erasure_batch_items WHERE batch_id = $1 AND place > $2 ORDER BY place LIMIT $3',
)
const next = statement(
  `SELECT place, tracker_id, subject_id FROM erasure_batch_items
   WHERE batch_id = $1 AND outcome = 'waiting' ORDER BY place LIMIT 1`,
)
const held = statement(`SELECT 1 FROM erasure_batches WHERE id = $1 AND holder = $2 AND state = 'running'`)
const insert = statement(
  `INSERT INTO erasure_batches (${batchColumns.join(', ')})
   VALUES (${batchColumns.map((_, index) => `$${index + 1}`).join(', ')})`,
)
const insertItems = statement(
  `INSERT INTO erasure_batch_items (batch_id, place, ${itemColumns.join(', ')})
   SELECT $1, * FROM unnest($2::bigint[], $3::bigint[], $4::text[], $5::text[], $6::text[])`,
)
const lockIn = statement(
  `SELECT 1 FROM erasure_batches WHERE id = $1 AND organisation_id = $2 AND state = ANY ($3) FOR UPDATE`,
)
const setState = statement('UPDATE erasure_batches SET state = $2 WHERE id = $1')
const stopWaiting = statement(
  `UPDATE erasure_batch_items SET outcome = 'stopped', subject_id = NULL WHERE batch_id = $1 AND outcome = 'waiting'`,
)
const sums = statement(
  `SELECT count(*) AS erased, coalesce(sum(sessions), 0)::bigint AS sessions, coalesce(sum(events), 0)::bigint AS events
   FROM erasure_batch_items WHERE batch_id = $1 AND outcome = 'erased'`,
)
const end = statement(
  `UPDATE erasure_batches SET state = $2, finished_at = $3, erased = $4, sessions = $5, events = $6, left_subjects = $7,
   holder = NULL, resumes_at = NULL, person = NULL WHERE id = $1`,
)
const free = `state = 'running' AND (holder IS NULL OR holder = $1 OR held_until <= $2 OR held_until > $3)`
const toLend = statement(
  `SELECT id FROM erasure_batches WHERE ${free} AND (stepped_at > $2 OR (
     stepped_at <= $4 AND (resumes_at IS NULL OR resumes_at <= $2)))
   ORDER BY stepped_at <= $2, stepped_at, id LIMIT 1`,
)
const lend = statement(
  `UPDATE erasure_batches SET holder = $1, held_until = $4, resumes_at = NULL WHERE id = $5 AND ${free}`,
)
const lent = statement(`${select} WHERE b.id = $1`)
const giveBack = statement(
  'UPDATE erasure_batches SET holder = NULL, stepped_at = $1, resumes_at = $4 WHERE id = $2 AND holder = $3',
)
const settleGone = statement(
  `UPDATE erasure_batch_items SET outcome = 'gone', subject_id = NULL
   WHERE batch_id = $1 AND place = $2 AND outcome = 'waiting'`,
)
const lockHeld = statement(
  `SELECT subjects FROM erasure_batches WHERE id = $1 AND holder = $2 AND state = 'running' AND checked_at IS NULL FOR UPDATE`,
)
const extend = statement('UPDATE erasure_batches SET subjects = $2, checked_at = $3 WHERE id = $1')
const owner = statement(`SELECT organisation_id FROM erasure_batches WHERE id = $1`)
const finished = statement(
  'SELECT id FROM erasure_batches WHERE finished_at < $1 ORDER BY finished_at LIMIT 1',
)
const removeItems = statement(
  `DELETE FROM erasure_batch_items WHERE batch_id = $1 AND place IN (
     SELECT place FROM erasure_batch_items WHERE batch_id = $1 ORDER BY place LIMIT $2)`,
)
const remove = statement('DELETE FROM erasure_batches WHERE id = $1')

const ofSubject = 'FROM erasure_batch_items WHERE tracker_id = $1 AND subject_id = $2'
const anyWaiting = statement(`SELECT 1 ${ofSubject} LIMIT 1`)
const lockWaiting = statement(`SELECT batch_id, place ${ofSubject} ORDER BY batch_id, place FOR UPDATE`)
// Whoever pauses or stops a batch has its row to itself, and then the items: in the same order as here.
const keepRunning = statement(
  `SELECT 1 FROM erasure_batches WHERE id = $1 AND state = 'running' FOR KEY SHARE`,
)
const settle = statement(
  `UPDATE erasure_batch_items SET outcome = 'erased', subject_id = NULL, sessions = $3, events = $4, ledger_index = $5,
   sealed_nonce = $6 WHERE tracker_id = $1 AND subject_id = $2`,
)
const forget = statement(
  `UPDATE erasure_batch_items SET outcome = 'gone', subject_id = NULL WHERE tracker_id = $1 AND subject_id IS NOT NULL`,
)
export const removeBatchItems = statement(
  `DELETE FROM erasure_batch_items WHERE batch_id IN (SELECT id FROM erasure_batches WHERE organisation_id = $1)`,
)
export const removeBatches = statement('DELETE FROM erasure_batches WHERE organisation_id = $1')

export function erasureBatchStore(connections: Connections): ErasureBatchStore {
  return {
    create: (batch, given, note) =>
      connections.transaction(async (run) => {
        if (!(await holdOrganisation(run, batch.organisationId))) return false
        leaveNote(run, note)
        await run(insert, batchValues(batch))
        await addItems(run, batch.id, 0, inTurn(given))
        return true
      }),
    async find(organisationId, id) {
      const [row] = await connections.read(find, [id, organisationId])
      return row ? toBatch(row) : null
    },
    list: async (organisationId, kind, limit) =>
      (await connections.read(list, [organisationId, kind, limit])).map(toBatch),
    async countOpen(organisationId, kind) {
      const [row = {}] = await connections.read(open, [organisationId, kind])
      return integer(row, 'open')
    },
    ofEntries: async (organisationId, indexes) =>
      toBatchesOfEntries(await connections.read(entries, [organisationId, indexes])),
    items: async (batchId, after, limit) =>
      (await connections.read(items, [batchId, after, limit])).map(toBatchItem),
    change: ({ id, organisationId }, { from, to }, now, note) =>
      connections.transaction(async (run) => {
        await holdOrganisation(run, organisationId)
        if ((await run(lockIn, [id, organisationId, from])).rowCount === 0) return false
        leaveNote(run, note)
        if (to === 'stopped') {
          await run(stopWaiting, [id])
          noteDeletion(run)
          await conclude(run, id, to, now, null)
        } else await run(setState, [id, to])
        return true
      }),
    async lend(holder, loan) {
      const by = [holder, loan.now, latestEnd(loan)]
      const [row] = await connections.read(toLend, [...by, loan.steppedBefore])
      if (!row) return null
      const id = text(row, 'id')
      const isLent = await connections.transaction(async (run) => {
        takeTurn(run)
        return (await run(lend, [...by, loan.until, id])).rowCount === 1
      })
      const [batch] = isLent ? await connections.read(lent, [id]) : []
      return batch ? toBatch(batch) : null
    },
    giveBack: (holder, id, now, resumesAt = null) =>
      connections.transaction(async (run) => {
        takeTurn(run)
        await run(giveBack, [now, id, holder, resumesAt])
      }),
    async next(holder, id) {
      const [mine, waiting] = await Promise.all([
        connections.read(held, [id, holder]),
        connections.read(next, [id]),
      ])
      if (mine.length === 0) return false
      const [row] = waiting
      return row ? toWaitingItem(row) : null
    },
    settleGone: (id, place) =>
      connections.transaction(async (run) => {
        takeTurn(run)
        await run(settleGone, [id, place])
        noteDeletion(run)
      }),
    extend: (holder, id, subjects, now) =>
      connections.transaction(async (run) => {
        takeTurn(run)
        const [row] = (await run(lockHeld, [id, holder])).rows
        if (!row || (await run(next, [id])).rowCount !== 0) return false
        const first = integer(row, 'subjects')
        await addItems(run, id, first, subjects.map(addedItem))
        await run(extend, [id, first + subjects.length, now])
        return true
      }),
    finish: (id, now, note, left = null) =>
      connections.transaction(async (run) => {
        const [row] = (await run(owner, [id])).rows
        if (!row) return
        const organisationId = text(row, 'organisation_id')
        await holdOrganisation(run, organisationId)
        if ((await run(lockIn, [id, organisationId, ['running']])).rowCount === 0) return
        if ((await run(next, [id])).rowCount !== 0) return
        leaveNote(run, note)
        noteDeletion(run)
        await conclude(run, id, 'done', now, left)
      }),
    listOverdue: async (before) => (await connections.read(overdue, [before])).map(toBatch),
    sweep: (before, maxRows) =>
      connections.transaction(async (run) => {
        takeTurn(run)
        const [row] = (await run(finished, [before])).rows
        if (!row) return 0
        const id = text(row, 'id')
        const count = (await run(removeItems, [id, maxRows])).rowCount ?? 0
        noteDeletion(run)
        if (count === maxRows) return count
        await run(remove, [id])
        return count + 1
      }),
  }
}

async function conclude(
  run: Run,
  id: string,
  to: 'done' | 'stopped',
  now: Instant,
  left: number | null,
): Promise<void> {
  const row = (await run(sums, [id])).rows[0] ?? {}
  const erased = [integer(row, 'erased'), integer(row, 'sessions'), integer(row, 'events')]
  await run(end, [id, to, now, ...erased, left])
}

/** Adds items to a batch, in their order, from a place on. */
async function addItems(
  run: Run,
  batchId: string,
  first: number,
  items: readonly NewBatchItem[],
): Promise<void> {
  const rows = items.map(itemValues)
  const column = <Index extends 0 | 1 | 2 | 3>(index: Index) => rows.map((row) => row[index])
  const places = rows.map((_, i) => first + i)
  await run(insertItems, [batchId, places, column(0), column(1), column(2), column(3)])
}

/**
 * Keeps the items that wait for a subject from being stopped until the transaction of its erasure ends, and hands back what settles
 * them; `null` when the erasure is for one that does not wait in a running batch. Mostly there are none: then nothing is locked, which
 * on a cluster would lock the table.
 */
export async function holdWaiting(
  run: Run,
  { view: { trackerId }, subjectId, mark, item }: SubjectErasure,
): Promise<((facts: ErasureFacts) => void) | null> {
  if (item && (await run(keepRunning, [item.batchId])).rowCount === 0) return null
  const isWaiting = (await run(anyWaiting, [trackerId, subjectId])).rowCount !== 0
  const { rows } = isWaiting ? await run(lockWaiting, [trackerId, subjectId]) : { rows: [] }
  const isItem = (row: Row) => row.batch_id === item?.batchId && integer(row, 'place') === item?.place
  if (item && !rows.some(isItem)) return null
  return ({ counts, ledgerIndex }) => {
    const values = [counts.sessions, counts.events, ledgerIndex, mark.sealedNonce]
    if (isWaiting) run(settle, [trackerId, subjectId, ...values])
  }
}

/** Forgets who waits in a tracker that is being removed. */
export async function forgetWaiting(run: Run, trackerId: string): Promise<void> {
  await run(forget, [trackerId])
}
