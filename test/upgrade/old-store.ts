import { readFileSync, writeFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import { Client } from 'pg'
import { freshDatabase } from '../support/fresh-database.ts'
import type { Lifetime } from '../support/service.ts'

interface Manifest {
  /** When the answers were recorded: at another time, other data would have aged out. */
  recordedAt: string
  keys: { acme: string; globex: string; renewed: string; refused: Record<string, string> }
  member: { email: string; password: string }
}

/** An answer of 0.1.0 to a request with an organisation's key. Errors have no `data`. */
interface OldAnswer {
  org: 'acme' | 'globex'
  path: string
  status: number
  data?: object
}

const fixture = (file: string) => readFileSync(new URL(`../fixtures/0.1.0/${file}`, import.meta.url))

export const manifest: Manifest = JSON.parse(fixture('manifest.json').toString())

export const oldAnswers: OldAnswer[] = fixture('answers.ndjson')
  .toString()
  .trimEnd()
  .split('\n')
  .map((line) => JSON.parse(line))

/** Writes the embedded store of 0.1.0 to a path. */
export function putOldStore(path: string): void {
  writeFileSync(path, gunzipSync(fixture('store.sqlite.gz')), { mode: 0o600 })
}

/** A database with the store of 0.1.0. */
export async function oldDatabase(lifetime: Lifetime): Promise<string> {
  const url = await freshDatabase(lifetime)
  await putOldTables(url)
  return url
}

/** Fills an empty database with the store of 0.1.0. */
export async function putOldTables(url: string): Promise<void> {
  const client = new Client(url)
  await client.connect()
  await client.query(fixture('store.postgres.sql').toString())
  await client.end()
}
