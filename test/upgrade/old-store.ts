import { readFileSync, writeFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import { Client } from 'pg'
import { freshDatabase } from '../support/fresh-database.ts'
import type { Lifetime } from '../support/service.ts'

interface Manifest {
  /** When 0.1.0 gave the answers: at another time, other things would have aged out. */
  recordedAt: string
  keys: { acme: string; globex: string; renewed: string; refused: Record<string, string> }
  member: { email: string; password: string }
}

/** What 0.1.0 answered to a request with the key of an organisation; without `data`, an error. */
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

/** Puts the embedded store of 0.1.0 at a path. */
export function putOldStore(path: string): void {
  writeFileSync(path, gunzipSync(fixture('store.sqlite.gz')), { mode: 0o600 })
}

/** A database with the store of 0.1.0 in it. */
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
