import { integer, type Row } from '../nouns/row.ts'
import { postgresOnly } from '../nouns/statement.ts'
import {
  anyCrowded,
  isCrowded,
  isOnePassFaster,
  longestSession,
  maxPlainEvents,
  type SubjectGrowth,
} from '../rules/interleaving.ts'
import type { Run } from './transaction.ts'

interface GrownSubject extends SubjectGrowth {
  key: string
  isInterleaved: boolean
}

const longest = postgresOnly(`SELECT ${longestSession('$1')} AS longest_ms`)
const hasCrowded = postgresOnly(
  `SELECT $2::bigint AS longest_ms, true AS is_longer, ${anyCrowded('$1', '$2')} AS is_crowded`,
)
const changed = {
  id: 'changed.session_id',
  startedAt: 'changed.started_at',
  endedAt: 'changed.ended_at',
  longestMs: 'longest_ms',
}
// Only what the changed sessions overlap has become more crowded. No row if the longest is not known.
const compareChanged = postgresOnly(
  `WITH changed AS (SELECT * FROM unnest($2::text[], $3::bigint[], $4::bigint[]) AS c (session_id, started_at, ended_at)),
   longest AS (SELECT longest_session_ms, greatest(longest_session_ms, (SELECT max(ended_at - started_at) + 1 FROM changed)) AS longest_ms
     FROM subjects WHERE subject_key = $1 AND longest_session_ms > 0)
   SELECT longest_ms, longest_ms > longest_session_ms AS is_longer, EXISTS (SELECT 1 FROM changed WHERE ${isCrowded('$1', changed)}) AS is_crowded FROM longest`,
)
const setLongest = postgresOnly('UPDATE subjects SET longest_session_ms = $2 WHERE subject_key = $1')
const markSubject = postgresOnly('UPDATE subjects SET interleaved = 1 WHERE subject_key = $1')
const markEvents = postgresOnly('UPDATE events SET interleaved = 1 WHERE subject_key = $1')

/**
 * Marks a subject that has become interleaved. Call it for every subject that a batch has changed. New events
 * of a subject that was interleaved before are marked already.
 */
export async function keepInterleaved(run: Run, subject: GrownSubject): Promise<void> {
  const { key, before, after, sessions, sessionCount, isInterleaved } = subject
  if (after <= maxPlainEvents || isInterleaved || sessions.length === 0) return
  const comparesAll = before <= maxPlainEvents || isOnePassFaster(sessions.length, sessionCount)
  const [found] = comparesAll ? [] : (await run(compareChanged, [key, ...toColumns(sessions)])).rows
  const compared = found ?? (await compareAll(run, key))
  if (compared.is_crowded === true) {
    await run(markSubject, [key])
    await run(markEvents, [key])
  } else if (compared.is_longer === true) {
    await run(setLongest, [key, integer(compared, 'longest_ms')])
  }
}

async function compareAll(run: Run, key: string): Promise<Row> {
  const [row = {}] = (await run(longest, [key])).rows
  const [compared = {}] = (await run(hasCrowded, [key, integer(row, 'longest_ms')])).rows
  return compared
}

function toColumns(sessions: GrownSubject['sessions']) {
  return [
    sessions.map(({ sessionId }) => sessionId),
    sessions.map(({ startedAt }) => startedAt),
    sessions.map(({ endedAt }) => endedAt),
  ]
}
