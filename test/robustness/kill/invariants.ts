import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { appendLeaf, type Frontier, formatFrontier, hashLeaf } from '../../../src/domain/merkle-tree.ts'
import { text } from '../../../src/storage/nouns/row.ts'
import { testKeyring } from '../../support/test-keyring.ts'
import type { Queryable, Rule, Snapshot } from './killable-store.ts'

/** How daily totals compare to the stored rows: equal if nothing was ever deleted, never below. */
type Totals = 'equal to the stored rows' | 'not below the stored rows'

/**
 * Fails unless a store is consistent: the database is intact, references exist, and every stored count equals
 * the number of its rows. Each rule reads one snapshot.
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

/** Stored daily totals, joined with the totals of the stored rows; those of sessions have an empty name. */
const keptAndStored = `FROM (
    SELECT tracker_id, day, name, count FROM daily_events
    UNION ALL SELECT tracker_id, day, '', count FROM daily_sessions) kept
  FULL JOIN (
    SELECT tracker_id, occurred_at / 86400000 AS day, name, count(*) AS stored
    FROM events JOIN subjects USING (subject_key) GROUP BY 1, 2, 3
    UNION ALL SELECT tracker_id, started_at / 86400000, '', count(*)
    FROM sessions JOIN subjects USING (subject_key) GROUP BY 1, 2) now USING (tracker_id, day, name)`

const totalRules: Record<Totals, Rule> = {
  'equal to the stored rows': [
    'daily totals are what is stored',
    `SELECT * ${keptAndStored} WHERE count IS DISTINCT FROM stored`,
  ],
  'not below the stored rows': [
    'daily totals are at least what is stored',
    `SELECT * ${keptAndStored} WHERE coalesce(count, 0) < coalesce(stored, 1)`,
  ],
}

/** The relation of the ledger to the tombstones. */
const ledgerRules: readonly Rule[] = [
  [
    'an entry of an erasure has a tombstone, and a tombstone an entry',
    `SELECT * FROM ledger_entries FULL JOIN tombstones USING (organisation_id, ledger_index)
     WHERE record IS NULL OR (digest IS NULL AND record NOT LIKE '%"kind":"nothing-held"%')`,
  ],
]

/** Fails unless ledgers are the trees of their entries, and no data is older than its tombstone. */
async function assertProven(store: Queryable): Promise<void> {
  const last = new Map<string, Frontier>()
  const entries = await store.ask('SELECT * FROM ledger_entries ORDER BY organisation_id, ledger_index')
  for (const row of entries) {
    const before = last.get(text(row, 'organisation_id')) ?? null
    const frontier = appendLeaf(before, hashLeaf(text(row, 'record')))
    assert.equal(Number(row.ledger_index), frontier.size - 1, 'the ledger has no gap')
    assert.equal(text(row, 'edge'), formatFrontier(frontier), 'the ledger is the tree of its entries')
    last.set(text(row, 'organisation_id'), frontier)
  }
  const tombstones = await store.ask('SELECT digest, max(refused_until) AS until FROM tombstones GROUP BY 1')
  const until = new Map(tombstones.map((row) => [plain(text(row, 'digest')), Number(row.until)]))
  if (until.size === 0) return
  const subjects = await store.ask('SELECT tracker_id, subject_id, first_seen_at FROM subjects')
  const risen = subjects.filter((row) => {
    const digests = testKeyring.tombstoneDigests(text(row, 'tracker_id'), text(row, 'subject_id'))
    const refused = digests.map((digest) => until.get(digest.toString('hex')) ?? Number.NEGATIVE_INFINITY)
    return Number(row.first_seen_at) <= Math.max(...refused)
  })
  assert.deepEqual(risen.slice(0, 3), [], 'nothing is older than the tombstone of its subject')
}

function plain(uuid: string): string {
  return uuid.replaceAll('-', '')
}

/** Data that depends on the steps of the work, not on its result: bounds, times, counts, notes, proofs. */
const incidental = {
  columns: ['oldest_at', 'last_used_at'],
  tables: [
    ...['scrubs', 'sweeps', 'activity', 'ledger_entries', 'tombstones', 'secrets', 'refused_lines'],
    ...['key_days'],
    ...['privacy_requests', 'privacy_request_items', 'privacy_request_people'],
    ...['privacy_request_notes', 'privacy_request_exclusions'],
  ],
}

/** The contents of a store: the number of rows and a hash for each table. */
export async function contentOf(store: Snapshot): Promise<Record<string, string>> {
  const content: Record<string, string> = {}
  for (const table of (await store.ask(store.tables)).map((row) => text(row, 'name'))) {
    if (incidental.tables.includes(table)) continue
    const rows = [...(await rowsOf(store, table, { without: incidental.columns }))].sort()
    const hash = createHash('sha256').update(rows.join('\n')).digest('base64url')
    content[table] = `${rows.length} rows, ${hash}`
  }
  return content
}

/** Which rows to read, and which of their columns; by default everything. */
interface Lookup {
  columns?: string
  without?: readonly string[]
  where?: string
}

/** The rows of a table as text. */
export async function rowsOf(
  store: Snapshot,
  table: string,
  { columns = '*', without = [], where = 'TRUE' }: Lookup = {},
): Promise<Set<string>> {
  const rows = await store.ask(`SELECT ${columns} FROM ${table} WHERE ${where}`)
  for (const row of rows) for (const column of without) delete row[column]
  return new Set(rows.map((row) => JSON.stringify(row)))
}

/** Fails unless these rows are a subset of those. */
export function assertAmong(these: ReadonlySet<string>, those: ReadonlySet<string>, what: string): void {
  const others = [...these].filter((row) => !those.has(row))
  assert.deepEqual(others.slice(0, 3), [], what)
}

const totals = ['daily_events', 'daily_sessions']

/** The daily totals as text, which no deletion may change. */
export async function totalsOf(store: Snapshot): Promise<Set<string>[]> {
  return Promise.all(totals.map((table) => rowsOf(store, table)))
}

export async function countRows(store: Snapshot, table: string, where = 'TRUE'): Promise<number> {
  const [row] = await store.ask(`SELECT count(*) AS count FROM ${table} WHERE ${where}`)
  return Number(row?.count)
}

export async function subjectIdsIn(store: Snapshot): Promise<Set<string>> {
  const rows = await store.ask('SELECT subject_id FROM subjects')
  return new Set(rows.map((row) => text(row, 'subject_id')))
}
