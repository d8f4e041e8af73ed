import { postgresOnly } from '../nouns/statement.ts'
import { anyOverlap, maxPlainEvents, overlapsNeighbour, type SubjectGrowth } from '../rules/interleaving.ts'
import type { Run } from './transaction.ts'

interface GrownSubject extends SubjectGrowth {
  key: string
  isInterleaved: boolean
}

const hasOverlap = postgresOnly(`SELECT 1 WHERE ${anyOverlap('$1')}`)
const overlaps = postgresOnly(
  `SELECT 1 FROM unnest($2::text[], $3::bigint[], $4::bigint[]) AS changed (session_id, started_at, ended_at)
   WHERE ${overlapsNeighbour('$1', 'changed.session_id', 'changed.started_at', 'changed.ended_at')} LIMIT 1`,
)
const markSubject = postgresOnly('UPDATE subjects SET interleaved = 1 WHERE subject_key = $1')
const markEvents = postgresOnly('UPDATE events SET interleaved = 1 WHERE subject_key = $1')

/**
 * Marks a subject that has become interleaved. Call it for every subject that a batch has changed. New events
 * of a subject that was interleaved before are marked already.
 */
export async function keepInterleaved(run: Run, subject: GrownSubject): Promise<void> {
  const { key, before, after, sessions, isInterleaved } = subject
  if (after <= maxPlainEvents || isInterleaved || sessions.length === 0) return
  const { count } = await (before <= maxPlainEvents
    ? run(hasOverlap, [key])
    : run(overlaps, [
        key,
        sessions.map(({ sessionId }) => sessionId),
        sessions.map(({ startedAt }) => startedAt),
        sessions.map(({ endedAt }) => endedAt),
      ]))
  if (count === 0) return
  await run(markSubject, [key])
  await run(markEvents, [key])
}
