import { randomUUID } from 'node:crypto'
import { Client, escapeIdentifier } from 'pg'
import { type PostgresServer, startPostgres } from './postgres.ts'
import type { Lifetime } from './service.ts'

let ownServer: Promise<PostgresServer> | null = null

/** The server somebody has named, or `npm test` has started for all files; otherwise one for this file alone. */
async function serverUrl(): Promise<string> {
  const named = process.env.LETHE_TEST_POSTGRES
  if (named) return named
  ownServer ??= startPostgres()
  return (await ownServer).url
}

/**
 * The address of an empty database, dropped with whoever still uses it when the test is over. It sorts text as
 * English, not by bytes, as many servers do: what relies on the order of bytes has to say so.
 */
export async function freshDatabase(lifetime: Lifetime): Promise<string> {
  const server = await serverUrl()
  const name = `lethe_${randomUUID()}`
  await execute(
    server,
    `CREATE DATABASE ${escapeIdentifier(name)} TEMPLATE template0 ENCODING 'UTF8' LOCALE_PROVIDER icu ICU_LOCALE 'en' LOCALE 'C'`,
  )
  lifetime.after(() => execute(server, `DROP DATABASE ${escapeIdentifier(name)} WITH (FORCE)`))
  const url = new URL(server)
  url.pathname = name
  return url.href
}

async function execute(url: string, sql: string): Promise<void> {
  const client = new Client(url)
  await client.connect()
  try {
    await client.query(sql)
  } finally {
    await client.end()
  }
}
