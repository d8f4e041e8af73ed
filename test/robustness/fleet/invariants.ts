import assert from 'node:assert/strict'
import { Client } from 'pg'
import { subjectKeyText } from '../../../src/storage/postgres/key-text.ts'
import type { Totals } from '../kill/invariants.ts'

/** Does `work` with a connection of its own. */
export async function withDatabase<Result>(
  url: string,
  work: (client: Client) => Promise<Result>,
): Promise<Result> {
  const client = new Client(url)
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}

/**
 * Fails unless a database keeps every promise its schema makes, whatever happened to it or happens at this moment: nothing hangs in
 * the air, and every number that is kept equals the rows it stands for. Each rule sees one moment.
 */
export async function assertSound(client: Client, totals: Totals): Promise<void> {
  for (const [rule, exceptions] of [...rules, ...totalRules[totals]]) {
    const { rows } = await client.query(`${exceptions} LIMIT 3`)
    assert.deepEqual(rows, [], rule)
  }
  const { rows } = await client.query<{ subject_key: string; tracker_id: string; subject_id: string }>(
    'SELECT subject_key, tracker_id, subject_id FROM subjects',
  )
  for (const row of rows) assert.equal(row.subject_key, subjectKeyText(row.tracker_id, row.subject_id))
}

/** Fails unless nothing is left of these subjects of the shop. */
export async function assertGone(client: Client, subjectIds: readonly string[]): Promise<void> {
  const keys = subjectIds.map((subjectId) => subjectKeyText('shop', subjectId))
  for (const table of ['subjects', 'sessions', 'events']) {
    const { rowCount } = await client.query(`SELECT FROM ${table} WHERE subject_key = ANY ($1)`, [keys])
    assert.equal(rowCount, 0, `${table} of erased subjects`)
  }
}

/** A sentence about the store, and a query for what contradicts it. */
type Rule = readonly [rule: string, exceptions: string]

const rules: readonly Rule[] = [
  [
    'a subject has as many sessions as it counts, and was first and last seen when they began and ended',
    `SELECT * FROM subjects LEFT JOIN (
       SELECT subject_key, count(*) AS sessions, min(started_at) AS first, max(ended_at) AS last
       FROM sessions GROUP BY subject_key) x USING (subject_key)
     WHERE (session_count, first_seen_at, last_seen_at) IS DISTINCT FROM (sessions, first, last)`,
  ],
  [
    'a subject has as many events as it counts',
    `SELECT * FROM subjects LEFT JOIN (
       SELECT subject_key, count(*) AS events FROM events GROUP BY subject_key) e USING (subject_key)
     WHERE event_count <> coalesce(events, 0)`,
  ],
  [
    'nothing of a subject ages out before the instant noted for that',
    `SELECT * FROM subjects JOIN (
       SELECT subject_key, min(ended_at) AS oldest FROM sessions GROUP BY subject_key
       UNION ALL SELECT subject_key, min(occurred_at) FROM events GROUP BY subject_key) o USING (subject_key)
     WHERE oldest_at > oldest`,
  ],
  [
    'a session has as many events as it counts, all of them within its span',
    `SELECT * FROM sessions LEFT JOIN (
       SELECT subject_key, session_id, count(*) AS events, min(occurred_at) AS first, max(occurred_at) AS last
       FROM events GROUP BY subject_key, session_id) e USING (subject_key, session_id)
     WHERE event_count <> coalesce(events, 0) OR started_at > ended_at OR started_at > first OR ended_at < last`,
  ],
  [
    'a session has a subject',
    'SELECT * FROM sessions LEFT JOIN subjects s USING (subject_key) WHERE s.tracker_id IS NULL',
  ],
  [
    'an event has a session',
    'SELECT * FROM events LEFT JOIN sessions s USING (subject_key, session_id) WHERE s.event_count IS NULL',
  ],
]

/** Daily totals as they are kept, beside what they would be if they were counted now; those of sessions under no name. */
const heldAgainstStored = `FROM (
    SELECT tracker_id, day, name, count FROM daily_events
    UNION ALL SELECT tracker_id, day, '', count FROM daily_sessions) kept
  FULL JOIN (
    SELECT tracker_id, (occurred_at / 86400000)::integer AS day, name, count(*) AS stored
    FROM events JOIN subjects USING (subject_key) GROUP BY 1, 2, 3
    UNION ALL SELECT tracker_id, (started_at / 86400000)::integer, '', count(*)
    FROM sessions JOIN subjects USING (subject_key) GROUP BY 1, 2) now USING (tracker_id, day, name)`

const totalRules: Record<Totals, readonly Rule[]> = {
  'equal to what is stored': [
    ['daily totals are what is stored', `SELECT * ${heldAgainstStored} WHERE count IS DISTINCT FROM stored`],
  ],
  'not below what is stored': [
    [
      'daily totals are at least what is stored',
      `SELECT * ${heldAgainstStored} WHERE coalesce(count, 0) < coalesce(stored, 0)`,
    ],
  ],
}
