import type { ActivityNote } from '../../domain/activity.ts'
import type { BatchLease, WaitingItem } from '../../domain/erasure-batch.ts'
import type { Instant } from '../../domain/instant.ts'
import type { SubjectRef } from '../../domain/person.ts'
import { insertActivity } from './activity.ts'
import type { Engine, Run } from './engine.ts'
import {
  addItems,
  type BatchLeaseStore,
  endBatch,
  lockInState,
  nextWaiting,
  selectBatch,
  toBatch,
} from './erasure-batch.ts'
import { lockOrganisation, lockReferenceTables } from './locks.ts'
import { integer, type Row, text } from './row.ts'
import { noteDeletion } from './scrub.ts'
import { statement } from './statement.ts'

const leased = statement(
  `SELECT 1 FROM erasure_batches WHERE id = :id AND holder = :leaseOwner AND state = 'running'`,
)
const isFree = `state = 'running' AND (holder IS NULL OR holder = :leaseOwner OR held_until <= :now OR held_until > :latestEnd)`
const steppedAhead = statement(
  `SELECT id FROM erasure_batches WHERE ${isFree} AND stepped_at > :now ORDER BY stepped_at, id LIMIT 1`,
)
const steppedBefore = statement(
  `SELECT id FROM erasure_batches WHERE ${isFree} AND stepped_at <= :steppedBefore
     AND (resumes_at IS NULL OR resumes_at <= :now) ORDER BY stepped_at, id LIMIT 1`,
)
const takeLease = statement(
  `UPDATE erasure_batches SET holder = :leaseOwner, held_until = :until, resumes_at = NULL WHERE id = :id AND ${isFree}`,
)
const findLeased = statement(`${selectBatch} WHERE b.id = :id`)
const release = statement(
  `UPDATE erasure_batches SET holder = NULL, stepped_at = :now, resumes_at = :resumesAt
   WHERE id = :id AND holder = :leaseOwner`,
)
const markTrackerDeleted = statement(
  `UPDATE erasure_batch_items SET outcome = 'gone', subject_id = NULL
   WHERE batch_id = :id AND place = :position AND outcome = 'waiting'`,
)
const lockUnchecked = statement(
  `SELECT subjects FROM erasure_batches
   WHERE id = :id AND holder = :leaseOwner AND state = 'running' AND checked_at IS NULL FOR UPDATE`,
)
const extend = statement('UPDATE erasure_batches SET subjects = :subjects, checked_at = :now WHERE id = :id')
const owner = statement('SELECT organisation_id FROM erasure_batches WHERE id = :id')

export const batchLeaseTransactions = {
  async leaseErasureBatch(run: Run, leaseOwner: string, id: string, lease: BatchLease): Promise<boolean> {
    lockReferenceTables(run)
    return (await run(takeLease, { ...leaseParameters(leaseOwner, lease), id })).count === 1
  },
  async releaseErasureBatch(
    run: Run,
    leaseOwner: string,
    id: string,
    now: Instant,
    resumesAt: Instant | null,
  ): Promise<void> {
    lockReferenceTables(run)
    await run(release, { leaseOwner, id, now, resumesAt })
  },
  async markTrackerDeleted(run: Run, id: string, position: number): Promise<void> {
    lockReferenceTables(run)
    if ((await run(markTrackerDeleted, { id, position })).count !== 0) noteDeletion(run)
  },
  async extendErasureBatch(
    run: Run,
    leaseOwner: string,
    id: string,
    subjects: readonly SubjectRef[],
    now: Instant,
  ): Promise<boolean> {
    lockReferenceTables(run)
    const [row] = (await run(lockUnchecked, { id, leaseOwner })).rows
    if (!row || (await run(nextWaiting, { id })).count !== 0) return false
    const first = integer(row, 'subjects')
    // A batch for a person has one line.
    const added = subjects.map((subject) => ({ ...subject, line: 1, outcome: 'waiting' as const }))
    await addItems(run, id, first, added)
    await run(extend, { id, subjects: first + added.length, now })
    return true
  },
  async finishErasureBatch(
    run: Run,
    id: string,
    now: Instant,
    note: ActivityNote,
    left: number | null,
  ): Promise<void> {
    const [row] = (await run(owner, { id })).rows
    if (!row) return
    const organisationId = text(row, 'organisation_id')
    await lockOrganisation(run, organisationId)
    if ((await run(lockInState, { id, organisationId, states: ['running'] })).count === 0) return
    if ((await run(nextWaiting, { id })).count !== 0) return
    insertActivity(run, note)
    await endBatch(run, id, 'done', now, left)
  },
}

export function batchLeaseStore(engine: Engine<typeof batchLeaseTransactions>): BatchLeaseStore {
  return {
    async lease(leaseOwner, lease) {
      const parameters = leaseParameters(leaseOwner, lease)
      const [ahead] = await engine.read(steppedAhead, parameters)
      const [row = ahead] = ahead ? [] : await engine.read(steppedBefore, parameters)
      if (!row) return null
      const id = text(row, 'id')
      if (!(await engine.transact('leaseErasureBatch', leaseOwner, id, lease))) return null
      const [batch] = await engine.read(findLeased, { id })
      return batch ? toBatch(batch) : null
    },
    release: (leaseOwner, id, now, resumesAt = null) =>
      engine.transact('releaseErasureBatch', leaseOwner, id, now, resumesAt),
    async next(leaseOwner, id) {
      const [isLeased, [row]] = await Promise.all([
        engine.read(leased, { id, leaseOwner }),
        engine.read(nextWaiting, { id }),
      ])
      if (isLeased.length === 0) return false
      return row ? toWaitingItem(row) : null
    },
    markTrackerDeleted: (id, position) => engine.transact('markTrackerDeleted', id, position),
    extend: (leaseOwner, id, subjects, now) =>
      engine.transact('extendErasureBatch', leaseOwner, id, subjects, now),
    finish: (id, now, note, left = null) => engine.transact('finishErasureBatch', id, now, note, left),
  }
}

/**
 * No valid lease ends after `latestEnd`, even if its owner's clock is ahead by the length of a lease. Later
 * ones are ignored.
 */
function leaseParameters(leaseOwner: string, lease: BatchLease) {
  return { ...lease, leaseOwner, latestEnd: lease.until + (lease.until - lease.now) }
}

function toWaitingItem(row: Row): WaitingItem {
  return {
    position: integer(row, 'place'),
    trackerId: text(row, 'tracker_id'),
    subjectId: text(row, 'subject_id'),
  }
}
