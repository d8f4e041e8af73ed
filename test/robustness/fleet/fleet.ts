import assert from 'node:assert/strict'
import { join } from 'node:path'
import { Client } from 'pg'
import type { Row } from '../../../src/storage/nouns/row.ts'
import { subjectKeyText } from '../../../src/storage/postgres/lock-subjects.ts'
import { type CommandLine, commandLine, type RunningProgram, startServe } from '../../support/command-line.ts'
import type { Answer } from '../../support/documented.ts'
import type { Lifetime } from '../../support/service.ts'
import type { Queryable } from '../kill/killable-store.ts'
import { createKey } from '../kill/server.ts'

/** A running `lethe serve`. */
export interface Server extends RunningProgram {
  url: string
  /** Whether the test killed it. */
  isKilled: boolean
  hasEnded: boolean
}

/** A member of the fleet: a process, and its successor after it is killed. */
interface Place {
  name: string
  server: Server
  /** Kills it with SIGKILL. Resolves when it has ended. */
  kill(): Promise<void>
  start(): Promise<void>
}

export interface Fleet {
  cli: CommandLine
  /** The address of the database. */
  store: string
  places: readonly [Place, Place, Place]
  /** All processes so far. */
  servers: readonly Server[]
  /** A key with every scope for the tracker `shop`. */
  key: string
}

interface Parts {
  /** The address of a database filled by `buildShopAt`. */
  store: string
  redis: string
  env?: Record<string, string>
}

/** Starts three processes on one PostgreSQL and one Redis, behind a proxy that forwards client addresses. */
export async function startFleet(t: Lifetime, { store, redis, env = {} }: Parts): Promise<Fleet> {
  const cli = commandLine(t, store)
  const settings = {
    LETHE_LIMITER: redis,
    LETHE_TRUSTED_PROXIES: '127.0.0.1',
    LETHE_SCRUB_HOUR: 'off',
    // A replacement starts in half the time with the code that another process has compiled.
    NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? join(cli.folder, 'compiled'),
    ...env,
  }
  const key = await createKey(cli)
  const servers: Server[] = []

  async function openServer(name: string): Promise<Server> {
    const program = await startServe(cli, { ...settings, LETHE_STORE: named(store, `lethe-${name}`) })
    const server = { ...program, isKilled: false, hasEnded: false }
    program.ended.then(() => {
      server.hasEnded = true
    })
    servers.push(server)
    return server
  }
  async function openPlace(name: string): Promise<Place> {
    const place: Place = {
      name,
      server: await openServer(name),
      async kill() {
        place.server.isKilled = true
        place.server.kill('SIGKILL')
        await place.server.ended
      },
      async start() {
        place.server = await openServer(name)
      },
    }
    return place
  }
  return {
    cli,
    store,
    places: await Promise.all([openPlace('a'), openPlace('b'), openPlace('c')]),
    servers,
    key,
  }
}

/** The address of a database with a name that PostgreSQL shows for its connections. */
function named(store: string, name: string): string {
  const url = new URL(store)
  url.searchParams.set('application_name', name)
  return url.href
}

interface Ask {
  key?: string
  /** The client's address. */
  from?: string
  method?: 'GET' | 'DELETE'
  signal?: AbortSignal
}

/** Sends a request as the proxy in front of the fleet. Rejects if there is no response. */
export async function ask(
  url: string,
  path: string,
  { key, from, method = 'GET', signal }: Ask,
): Promise<Answer> {
  const authorization = key !== undefined && { authorization: `Bearer ${key}` }
  const headers = { ...authorization, ...(from !== undefined && { 'x-forwarded-for': from }) }
  const response = await fetch(url + path, { method, headers, ...(signal && { signal }) })
  return { status: response.status, headers: response.headers, body: await response.json() }
}

/** The address of the n-th client. */
export function clientAddress(number: number): string {
  return `10.${(number >> 16) & 255}.${(number >> 8) & 255}.${number & 255}`
}

/** Runs `work` with a separate connection. */
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

/** A database that can be checked against the invariants. */
export function queryable(query: (sql: string) => Promise<{ rows: Row[] }>): Queryable {
  return { ask: async (sql) => (await query(sql)).rows, keyOf: subjectKeyText, rules: [] }
}

/** Fails if the database holds anything of these subjects of the shop. */
export async function assertGone(client: Client, subjectIds: readonly string[]): Promise<void> {
  const keys = subjectIds.map((subjectId) => subjectKeyText('shop', subjectId))
  for (const table of ['subjects', 'sessions', 'events']) {
    const { rowCount } = await client.query(`SELECT FROM ${table} WHERE subject_key = ANY ($1)`, [keys])
    assert.equal(rowCount, 0, `${table} of erased subjects`)
  }
}

/** A log line about the limiter. */
interface LimiterLine {
  at: number
  state: 'lost' | 'found'
}

/** All log lines about the limiter, in order. Fails unless losses and recoveries alternate. */
export function limiterLines(program: RunningProgram): LimiterLine[] {
  const said = program
    .stdout()
    .matchAll(/"time":(\d+),.*"msg":"the limiter (?:(cannot be reached: )|can be reached again)/g)
  return Array.from(said, ([, at, lost], number) => {
    const state = lost === undefined ? 'found' : 'lost'
    assert.equal(state, number % 2 === 0 ? 'lost' : 'found')
    return { at: Number(at), state }
  })
}
