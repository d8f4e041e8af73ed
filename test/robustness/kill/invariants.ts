import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { subjectKey } from '../../../src/domain/subject-key.ts'
import { legible } from './legible-rows.ts'

/** How daily totals stand to what is stored: equal as long as nothing was ever deleted, never below it. */
export type Totals = 'equal to what is stored' | 'not below what is stored'

/**
 * Fails unless a store keeps every promise its schema makes, whatever happened to it: the file is intact, nothing hangs in the air,
 * and every number that is kept equals the rows it stands for. For a store that no process writes to: one that was closed, or
 * whose process died. To open it is to recover it, so look at a copy where the next process shall find it as the last one left it.
 */
export function assertSound(path: string, totals: Totals): void {
  const db = new DatabaseSync(path)
  try {
    assert.deepEqual(db.prepare('PRAGMA integrity_check').all().flatMap(Object.values), ['ok'])
    assert.deepEqual(legible(db.prepare('PRAGMA foreign_key_check').all()), [])
    db.function('key_of', { deterministic: true }, (trackerId, subjectId) =>
      subjectKey(String(trackerId), String(subjectId)),
    )
    db.exec(storedTotals)
    for (const [rule, exceptions] of [...rules, ...totalRules[totals]]) {
      const found = legible(db.prepare(`${exceptions} LIMIT 3`).all())
      assert.deepEqual(found, [], rule)
    }
  } finally {
    db.close()
  }
}

/** A sentence about the store, and a query for what contradicts it. */
type Rule = readonly [rule: string, exceptions: string]

const rules: readonly Rule[] = [
  [
    'a subject is known by the key of its ids',
    'SELECT * FROM subjects WHERE subject_key <> key_of(tracker_id, subject_id)',
  ],
  [
    'a subject has as many sessions as it counts, and was first and last seen when they began and ended',
    `SELECT * FROM subjects LEFT JOIN (
       SELECT subject_key, count(*) AS sessions, min(started_at) AS first, max(ended_at) AS last
       FROM sessions GROUP BY subject_key) USING (subject_key)
     WHERE session_count IS NOT sessions OR first_seen_at IS NOT first OR last_seen_at IS NOT last`,
  ],
  [
    'a subject has as many events as it counts',
    `SELECT * FROM subjects LEFT JOIN (
       SELECT subject_key, count(*) AS events FROM events GROUP BY subject_key) USING (subject_key)
     WHERE event_count <> coalesce(events, 0)`,
  ],
  [
    'nothing of a subject ages out before the instant noted for that',
    `SELECT * FROM subjects JOIN (
       SELECT subject_key, min(ended_at) AS oldest FROM sessions GROUP BY subject_key
       UNION ALL SELECT subject_key, min(occurred_at) FROM events GROUP BY subject_key) USING (subject_key)
     WHERE oldest_at > oldest`,
  ],
  [
    'a session has as many events as it counts, all of them within its span',
    `SELECT * FROM sessions LEFT JOIN (
       SELECT subject_key, session_id, count(*) AS events, min(occurred_at) AS first, max(occurred_at) AS last
       FROM events GROUP BY subject_key, session_id) USING (subject_key, session_id)
     WHERE event_count <> coalesce(events, 0) OR started_at > ended_at OR started_at > first OR ended_at < last`,
  ],
  [
    'a session has a subject',
    'SELECT * FROM sessions WHERE subject_key NOT IN (SELECT subject_key FROM subjects)',
  ],
  [
    'an event has a session',
    'SELECT * FROM events WHERE (subject_key, session_id) NOT IN (SELECT subject_key, session_id FROM sessions)',
  ],
]

/** What daily totals would be if they were counted now, sessions under the name NULL. */
const storedTotals = `
  CREATE TEMP TABLE owners (subject_key BLOB PRIMARY KEY, tracker_id TEXT NOT NULL) WITHOUT ROWID;
  INSERT INTO owners SELECT subject_key, tracker_id FROM subjects;
  CREATE TEMP TABLE stored_totals AS
    SELECT tracker_id, occurred_at / 86400000 AS day, name, count(*) AS stored
    FROM events JOIN owners USING (subject_key) GROUP BY 1, 2, 3
    UNION ALL SELECT tracker_id, started_at / 86400000, NULL, count(*)
    FROM sessions JOIN owners USING (subject_key) GROUP BY 1, 2;
  CREATE TEMP VIEW kept_totals AS
    SELECT tracker_id, day, name, count FROM main.daily_events
    UNION ALL SELECT tracker_id, day, NULL, count FROM main.daily_sessions`

const heldAgainstStored = `FROM kept_totals AS kept FULL JOIN stored_totals AS stored
  ON kept.tracker_id = stored.tracker_id AND kept.day = stored.day AND kept.name IS stored.name`

const totalRules: Record<Totals, readonly Rule[]> = {
  'equal to what is stored': [
    ['daily totals are what is stored', `SELECT * ${heldAgainstStored} WHERE count IS NOT stored`],
  ],
  'not below what is stored': [
    [
      'daily totals are at least what is stored',
      `SELECT * ${heldAgainstStored} WHERE coalesce(count, 0) < coalesce(stored, 1)`,
    ],
  ],
}
