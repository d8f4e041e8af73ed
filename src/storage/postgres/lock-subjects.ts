import { subjectKey } from '../../domain/subject.ts'
import { integer, keyText, type Row, text } from '../nouns/row.ts'
import { postgresOnly } from '../nouns/statement.ts'
import { chosen, type Grouping, ofSubjects } from './shard.ts'
import type { Run } from './transaction.ts'

/** A subject's row. */
export interface SubjectState {
  key: string
  trackerId: string
  subjectId: string
  firstSeenAt: number
  lastSeenAt: number
  oldestAt: number
  sessionCount: number
  eventCount: number
  isInterleaved: boolean
}

const written =
  'subject_key, tracker_id, subject_id, first_seen_at, last_seen_at, oldest_at, session_count, event_count'
const columns = `${written}, interleaved`

// Ordered by key, so that two transactions cannot deadlock.
const lock = postgresOnly(
  `SELECT ${columns} FROM subjects WHERE subject_key = ANY ($1) ORDER BY subject_key FOR UPDATE`,
  'colocated',
)
const insert = postgresOnly(
  `INSERT INTO subjects (${written}) SELECT * FROM unnest($1::uuid[], $2::text[], $3::text[], $4::bigint[],
     $5::bigint[], $6::bigint[], $7::bigint[], $8::bigint[]) AS given (${written}) ORDER BY subject_key
   ON CONFLICT (subject_key) DO NOTHING RETURNING subject_key`,
  'any',
)
const update = ofSubjects(
  (here) => `UPDATE subjects s SET first_seen_at = given.first_seen_at, last_seen_at = given.last_seen_at,
     oldest_at = given.oldest_at, session_count = given.session_count, event_count = given.event_count
   FROM unnest($1::uuid[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[])
     AS given (subject_key, first_seen_at, last_seen_at, oldest_at, session_count, event_count)
   WHERE s.subject_key = given.subject_key${here('s')}`,
)
const remove = postgresOnly('DELETE FROM subjects WHERE subject_key = ANY ($1)', 'any')

// Sorted, as above.
const lockSeveral = postgresOnly(
  'SELECT id, organisation_id FROM trackers WHERE id = ANY ($1) AND deleted_at IS NULL ORDER BY id FOR KEY SHARE',
)

/**
 * Keeps trackers from being deleted until the transaction ends; returns the organisation of each existing
 * one.
 */
export async function lockTrackers(run: Run, ids: readonly string[]): Promise<Map<string, string>> {
  const { rows } = await run(lockSeveral, [ids])
  return new Map(rows.map((row) => [text(row, 'id'), text(row, 'organisation_id')]))
}

/** Locks subjects until the transaction ends, and returns the rows of those that exist, by key. */
export async function lockSubjects(
  run: Run,
  keys: Iterable<string>,
  grouping: Grouping,
): Promise<Map<string, SubjectState>> {
  const locked = await Promise.all(grouping.of(keys).map((keys) => run(lock, [keys])))
  const states = locked.flatMap(({ rows }) => rows.map(toState))
  return new Map(states.map((state) => [state.key, state]))
}

/**
 * Inserts new subjects and returns their keys; others may have been inserted meanwhile by another process.
 */
export async function insertSubjects(run: Run, subjects: readonly SubjectState[]): Promise<Set<string>> {
  if (subjects.length === 0) return new Set()
  const { rows } = await run(insert, toColumns(subjects))
  return new Set(rows.map((row) => text(row, 'subject_key')))
}

/** Deletes the rows of subjects that hold no data. */
export async function deleteSubjects(run: Run, keys: readonly string[]): Promise<void> {
  await run(remove, [keys])
}

/** Writes the rows of subjects that this transaction has locked. */
export async function updateSubjects(
  run: Run,
  subjects: readonly SubjectState[],
  grouping: Grouping,
): Promise<void> {
  if (subjects.length === 0) return
  const byKey = new Map(subjects.map((subject) => [subject.key, subject]))
  const groups = grouping.of(byKey.keys()).map((keys) => keys.flatMap((key) => byKey.get(key) ?? []))
  await Promise.all(
    groups.map((group) => {
      const [keys = [], , , ...values] = toColumns(group)
      return run(chosen(update, grouping), [keys, ...values])
    }),
  )
}

function toColumns(subjects: readonly SubjectState[]) {
  return [
    subjects.map(({ key }) => key),
    subjects.map(({ trackerId }) => trackerId),
    subjects.map(({ subjectId }) => subjectId),
    subjects.map(({ firstSeenAt }) => firstSeenAt),
    subjects.map(({ lastSeenAt }) => lastSeenAt),
    subjects.map(({ oldestAt }) => oldestAt),
    subjects.map(({ sessionCount }) => sessionCount),
    subjects.map(({ eventCount }) => eventCount),
  ]
}

function toState(row: Row): SubjectState {
  return {
    key: text(row, 'subject_key'),
    trackerId: text(row, 'tracker_id'),
    subjectId: text(row, 'subject_id'),
    firstSeenAt: integer(row, 'first_seen_at'),
    lastSeenAt: integer(row, 'last_seen_at'),
    oldestAt: integer(row, 'oldest_at'),
    sessionCount: integer(row, 'session_count'),
    eventCount: integer(row, 'event_count'),
    isInterleaved: integer(row, 'interleaved') === 1,
  }
}

export function subjectKeyText(trackerId: string, subjectId: string): string {
  return keyText(subjectKey(trackerId, subjectId))
}
