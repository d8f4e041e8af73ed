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

/** A `lethe serve` at work. */
export interface Server extends RunningProgram {
  url: string
  /** Whether it was us who ended it. */
  isKilled: boolean
  hasEnded: boolean
}

/** A place in the fleet: a process, and after that was killed the next one. */
interface Place {
  name: string
  server: Server
  /** With SIGKILL; resolves when it is gone. */
  kill(): Promise<void>
  start(): Promise<void>
}

export interface Fleet {
  cli: CommandLine
  /** Where the database is. */
  store: string
  places: readonly [Place, Place, Place]
  /** All processes there ever were, in whatever place. */
  servers: readonly Server[]
  /** A key that may do everything to the tracker `shop`. */
  key: string
}

interface Parts {
  /** A database that `buildShopAt` has filled. */
  store: string
  redis: string
  env?: Record<string, string>
}

/** Starts three processes on one PostgreSQL and one Redis, behind a proxy that tells them the addresses of clients. */
export async function startFleet(t: Lifetime, { store, redis, env = {} }: Parts): Promise<Fleet> {
  const cli = commandLine(t, store)
  const settings = {
    LETHE_LIMITER: redis,
    LETHE_TRUSTED_PROXIES: '127.0.0.1',
    LETHE_SCRUB_HOUR: 'off',
    // A process that takes the place of another starts in half the time with what that one has compiled.
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

/** The address of a database under which PostgreSQL tells who is connected. */
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

/** Sends a request through the proxy that stands before the fleet. Rejects when no answer came. */
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

/** The address of the n-th of many clients. */
export function clientAddress(number: number): string {
  return `10.${(number >> 16) & 255}.${(number >> 8) & 255}.${number & 255}`
}

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

/** A line that a process has logged of its limiter. */
interface LimiterLine {
  at: number
  state: 'lost' | 'found'
}

/** All such lines, in order. Fails unless losses and recoveries take turns. */
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
