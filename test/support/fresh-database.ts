import { randomUUID } from 'node:crypto'
import { Socket } from 'node:net'
import { Client, escapeIdentifier } from 'pg'
import { openPostgresStore } from '../../src/storage/postgres/open-postgres-store.ts'
import { type PostgresServer, startPostgres } from './postgres.ts'
import type { Lifetime } from './service.ts'

let ownServer: Promise<PostgresServer> | null = null

/** The server in `LETHE_TEST_POSTGRES`, which a run sets for all files; otherwise one for this file. */
async function serverUrl(): Promise<string> {
  const named = process.env.LETHE_TEST_POSTGRES
  if (named) return named
  ownServer ??= startPostgres()
  return (await ownServer).url
}

/**
 * The address of an empty database, dropped with all its connections when the test ends. Like many servers,
 * it sorts text by language, not by bytes, so queries that rely on byte order must say so.
 */
export async function freshDatabase(lifetime: Lifetime, template = 'template0'): Promise<string> {
  const server = await serverUrl()
  const name = `lethe_${randomUUID()}`
  await createDatabase(server, name, template)
  lifetime.after(() => execute(server, `DROP DATABASE ${escapeIdentifier(name)} WITH (FORCE)`))
  return databaseAt(server, name)
}

/** The same with an empty store, copied if the run has prepared one, else created on first use. */
export function freshStore(lifetime: Lifetime): Promise<string> {
  return freshDatabase(lifetime, process.env.LETHE_TEST_POSTGRES_TEMPLATE)
}

/** Starts a server for the following test files, unless one is configured. The caller removes it. */
export async function sharePostgres(): Promise<PostgresServer | null> {
  if (process.env.LETHE_TEST_POSTGRES) return null
  const server = await startPostgres()
  process.env.LETHE_TEST_POSTGRES = server.url
  process.env.LETHE_TEST_POSTGRES_TEMPLATE = await createTemplate(server.url)
  return server
}

/** Creates the database that `freshStore` copies, which is twice as fast as creating a store. */
async function createTemplate(server: string): Promise<string> {
  const name = 'lethe_template'
  await createDatabase(server, name, 'template0')
  const store = await openPostgresStore(databaseAt(server, name))
  await store.close()
  // A database with connections, even one of autovacuum, cannot be copied.
  await execute(server, `ALTER DATABASE ${name} ALLOW_CONNECTIONS false`)
  return name
}

function createDatabase(server: string, name: string, template: string): Promise<void> {
  const locale = "ENCODING 'UTF8' LOCALE_PROVIDER icu ICU_LOCALE 'en' LOCALE 'C'"
  return execute(
    server,
    `CREATE DATABASE ${escapeIdentifier(name)} TEMPLATE ${template} STRATEGY file_copy ${locale}`,
  )
}

function databaseAt(server: string, name: string): string {
  const url = new URL(server)
  url.pathname = name
  return url.href
}

/** The client that creates and drops databases on a server. */
interface Administrator {
  client: Client
  socket: Socket
  /** The number of pending statements. */
  busy: number
}

/** One per server and process, because connecting costs as much as creating a database. */
const administrators = new Map<string, Promise<Administrator>>()

async function execute(url: string, sql: string): Promise<void> {
  const connecting = administrators.get(url) ?? connect(url)
  administrators.set(url, connecting)
  const administrator = await connecting
  administrator.busy += 1
  administrator.socket.ref()
  try {
    await administrator.client.query(sql)
  } finally {
    administrator.busy -= 1
    // An idle client does not keep the process running.
    if (administrator.busy === 0) administrator.socket.unref()
  }
}

async function connect(url: string): Promise<Administrator> {
  const socket = new Socket()
  const client = new Client({ connectionString: url, stream: () => socket })
  const forget = () => administrators.delete(url)
  // The server may stop first.
  client.on('error', forget)
  try {
    await client.connect()
  } catch (error) {
    forget()
    throw error
  }
  return { client, socket, busy: 0 }
}
