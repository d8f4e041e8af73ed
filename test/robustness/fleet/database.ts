import assert from 'node:assert/strict'
import { Client } from 'pg'
import type { Row } from '../../../src/storage/nouns/row.ts'
import { subjectKeyText } from '../../../src/storage/postgres/lock-subjects.ts'
import type { Queryable } from '../kill/killable-store.ts'

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

/** A database as one whose promises can be held against what it stores. */
export function queryable(query: (sql: string) => Promise<{ rows: Row[] }>): Queryable {
  return { ask: async (sql) => (await query(sql)).rows, keyOf: subjectKeyText, rules: [] }
}

/** Fails unless nothing is left of these subjects of the shop. */
export async function assertGone(client: Client, subjectIds: readonly string[]): Promise<void> {
  const keys = subjectIds.map((subjectId) => subjectKeyText('shop', subjectId))
  for (const table of ['subjects', 'sessions', 'events']) {
    const { rowCount } = await client.query(`SELECT FROM ${table} WHERE subject_key = ANY ($1)`, [keys])
    assert.equal(rowCount, 0, `${table} of erased subjects`)
  }
}
