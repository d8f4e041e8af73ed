import assert from 'node:assert/strict'
import { text } from '../../../src/storage/nouns/row.ts'
import { assertProven, ledgerRules } from './assert-proven.ts'
import type { Queryable, Rule } from './killable-store.ts'

/** How daily totals stand to what is stored: equal as long as nothing was ever deleted, never below it. */
export type Totals = 'equal to what is stored' | 'not below what is stored'

/**
 * Fails unless a store keeps every promise its schema makes, whatever happened to it: it is intact, nothing hangs in the air, and
 * every number that is kept equals the rows it stands for. Each rule sees one moment.
 */
export async function assertSound(store: Queryable, totals: Totals): Promise<void> {
  for (const [rule, exceptions] of [...store.rules, ...rules, ...ledgerRules, totalRules[totals]]) {
    assert.deepEqual(await store.ask(`${exceptions} LIMIT 3`), [], rule)
  }
  const subjects = await store.ask('SELECT subject_key, tracker_id, subject_id FROM subjects')
  const strange = subjects.filter(
    (row) => row.subject_key !== store.keyOf(text(row, 'tracker_id'), text(row, 'subject_id')),
  )
  assert.deepEqual(strange.slice(0, 3), [], 'a subject is known by the key of its ids')
  await assertProven(store)
}

const rules: readonly Rule[] = [
  [
    'a subject has as many sessions as it counts, and was first and last seen when they began and ended',
    `SELECT * FROM subjects LEFT JOIN (
       SELECT subject_key, count(*) AS sessions, min(started_at) AS first, max(ended_at) AS last
       FROM sessions GROUP BY subject_key) x USING (subject_key)
     WHERE session_count IS DISTINCT FROM sessions
       OR first_seen_at IS DISTINCT FROM first OR last_seen_at IS DISTINCT FROM last`,
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
    SELECT tracker_id, occurred_at / 86400000 AS day, name, count(*) AS stored
    FROM events JOIN subjects USING (subject_key) GROUP BY 1, 2, 3
    UNION ALL SELECT tracker_id, started_at / 86400000, '', count(*)
    FROM sessions JOIN subjects USING (subject_key) GROUP BY 1, 2) now USING (tracker_id, day, name)`

const totalRules: Record<Totals, Rule> = {
  'equal to what is stored': [
    'daily totals are what is stored',
    `SELECT * ${heldAgainstStored} WHERE count IS DISTINCT FROM stored`,
  ],
  'not below what is stored': [
    'daily totals are at least what is stored',
    `SELECT * ${heldAgainstStored} WHERE coalesce(count, 0) < coalesce(stored, 1)`,
  ],
}
