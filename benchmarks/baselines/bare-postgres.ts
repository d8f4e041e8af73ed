// Plain SQL on PostgreSQL: only the rows.
import { type Client, Pool } from 'pg'
import { subjectKeyText } from '../../src/storage/postgres/lock-subjects.ts'
import { type CopyValue, copyRows } from '../../src/storage/postgres/transaction.ts'
import { subjectsIn, tracker, visits } from '../stores/visits.ts'

const subjectColumns = [
  ...['subject_key', 'tracker_id', 'subject_id', 'first_seen_at', 'last_seen_at', 'oldest_at'],
  ...['session_count', 'event_count'],
]
const sessionColumns = [
  ...['subject_key', 'session_id', 'started_at', 'ended_at', 'event_count', 'attributes', 'attributes_at'],
]
const eventColumns = ['subject_key', 'occurred_at', 'event_id', 'session_id', 'name', 'properties']
const copiedAtOnce = 20_000

export function readBarely(sql: Client, subjectId: string): Promise<unknown> {
  const values = [subjectKeyText(tracker, subjectId)]
  return sql.query({ name: 'read', text: 'SELECT * FROM subjects WHERE subject_key = $1', values })
}

export function listBarely(sql: Client, order: string): Promise<unknown> {
  const text = `SELECT * FROM subjects WHERE tracker_id = $1 ORDER BY ${order} LIMIT 51`
  return sql.query({ name: order, text, values: [tracker] })
}

/** Reads and discards all sessions and events of a subject, oldest first. */
export async function readAllBarely(sql: Client, subjectId: string): Promise<void> {
  const values = [subjectKeyText(tracker, subjectId)]
  await sql.query({ text: 'SELECT * FROM sessions WHERE subject_key = $1 ORDER BY started_at', values })
  const text = 'SELECT * FROM events WHERE subject_key = $1 ORDER BY occurred_at, event_id'
  await sql.query({ text, values, rowMode: 'array' })
}

/** Deletes the rows of a subject, in one transaction. */
export async function deleteBarely(sql: Client, subjectId: string): Promise<void> {
  const values = [subjectKeyText(tracker, subjectId)]
  await sql.query('BEGIN')
  for (const table of ['events', 'sessions', 'subjects']) {
    await sql.query({
      name: `delete ${table}`,
      text: `DELETE FROM ${table} WHERE subject_key = $1`,
      values,
    })
  }
  await sql.query('COMMIT')
}

/**
 * Rows per second of COPY into the tables of an empty store, in batches of the same size; generating the rows
 * is not timed.
 */
export async function copyBarely(address: string, lines: number): Promise<number> {
  const pool = new Pool({ connectionString: address, max: 1 })
  const client = await pool.connect()
  let spentMs = 0
  const seen = new Set<string>()
  const batch = { subjects: [] as CopyValue[][], sessions: [] as CopyValue[][], events: [] as CopyValue[][] }
  async function store(): Promise<void> {
    const from = performance.now()
    await client.query('BEGIN')
    await copyRows(client, 'subjects', subjectColumns, batch.subjects)
    await copyRows(client, 'sessions', sessionColumns, batch.sessions)
    await copyRows(client, 'events', eventColumns, batch.events)
    await client.query('COMMIT')
    spentMs += performance.now() - from
    for (const rows of Object.values(batch)) rows.length = 0
  }
  for (const row of visits(lines, 'by time')) {
    const key = subjectKeyText(row.trackerId, row.subjectId)
    if (row.type === 'event') {
      const { occurredAt, eventId, sessionId, name, properties } = row
      batch.events.push([key, occurredAt, eventId, sessionId, name, JSON.stringify(properties)])
    } else {
      const { sessionId, startedAt, endedAt, attributes } = row
      batch.sessions.push([key, sessionId, startedAt, endedAt, 4, JSON.stringify(attributes), endedAt])
      if (!seen.has(row.subjectId)) {
        seen.add(row.subjectId)
        batch.subjects.push([key, row.trackerId, row.subjectId, startedAt, endedAt, startedAt, 3, 12])
      }
    }
    if (batch.events.length + batch.sessions.length >= copiedAtOnce) await store()
  }
  await store()
  client.release()
  await pool.end()
  return (lines + subjectsIn(lines)) / (spentMs / 1_000)
}
