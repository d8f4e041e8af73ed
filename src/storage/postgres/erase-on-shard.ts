import { NotWaiting } from '../../domain/privacy-request.ts'
import type { SubjectStore } from '../../domain/subject.ts'
import { activityParameters } from '../nouns/activity.ts'
import { insertEntry, lockLedger } from '../nouns/ledger.ts'
import { integer, integerOrNull } from '../nouns/row.ts'
import { countDeletion } from '../nouns/scrub.ts'
import { postgresOnly } from '../nouns/statement.ts'
import { insertTombstone } from '../nouns/tombstone.ts'
import { visible } from '../nouns/tracker.ts'
import { erasureRecords } from '../rules/erasure.ts'
import type { Connections } from './connections.ts'
import { claim, leaveUsual, lockWaitingItems } from './erasure.ts'
import { lockTrackers, subjectKeyText } from './lock-subjects.ts'

const lock = postgresOnly('SELECT 1 FROM subjects WHERE subject_key = $1 FOR UPDATE')
// The subject is locked. Expired data is not counted, because it was no longer visible.
const deleteAll = postgresOnly(
  `WITH gone_events AS (DELETE FROM events WHERE subject_key = $1 RETURNING occurred_at),
     gone_sessions AS (DELETE FROM sessions WHERE subject_key = $1 RETURNING started_at, ended_at),
     gone_identifiers AS (DELETE FROM identifiers WHERE subject_key = $1),
     gone_subject AS (DELETE FROM subjects WHERE subject_key = $1)
   SELECT (SELECT count(*) FROM gone_events WHERE occurred_at >= $2) AS events,
     (SELECT count(*) FROM gone_sessions WHERE ended_at >= $2) AS sessions,
     greatest((SELECT max(started_at) FROM gone_sessions), (SELECT max(occurred_at) FROM gone_events)) AS newest`,
)

/**
 * Erases a subject on a cluster. What was collected is on one shard, and everything that an erasure leaves
 * behind on the coordinator: one worker takes part, and it waits for as few statements as possible.
 */
export function eraseOnShard(connections: Connections): SubjectStore['erase'] {
  return (view, subjectId, mark, note, { item } = {}) => {
    const { trackerId, organisationId, since } = view
    const key = subjectKeyText(trackerId, subjectId)
    const erasure = { view, subjectId, mark, note, item }
    return connections.transaction(async (run) => {
      // A subject that the caller cannot see is not locked: the waiting time would reveal that it exists.
      if ((await run(visible, { trackerId, organisationId })).count === 0) return null
      const [held, first] = await Promise.all([run(lock, [key]), run(deleteAll, [key, since])])
      const deleted = [...first.rows]
      if (held.count === 0) {
        // It may have been stored between the two statements, and may be being stored.
        if (!(await lockTrackers(run, [trackerId])).has(trackerId)) return null
        await run(claim, [key, trackerId, subjectId])
        deleted.push(...(await run(deleteAll, [key, since])).rows)
      }
      const [settleWaiting, ledger] = await Promise.all([
        lockWaitingItems(run, erasure),
        lockLedger(run, organisationId, mark.guard),
      ])
      if (settleWaiting === null) throw new NotWaiting()
      const sumOf = (column: string) => deleted.reduce((sum, row) => sum + integer(row, column), 0)
      const counts = { sessions: sumOf('sessions'), events: sumOf('events') }
      // Data in the future, from a clock that ran ahead, must not come back either.
      const newest = deleted.map((row) => integerOrNull(row, 'newest') ?? mark.erasedAt)
      const refusedUntil = Math.max(mark.erasedAt, ...newest)
      const { entry, tombstone, facts, prove } = erasureRecords(ledger, erasure, counts, refusedUntil)
      run(countDeletion)
      if (note) run(leaveUsual, { ...entry, ...tombstone, ...activityParameters(note, facts) })
      else {
        run(insertEntry, entry)
        run(insertTombstone, tombstone)
      }
      settleWaiting(facts)
      return prove()
    })
  }
}
