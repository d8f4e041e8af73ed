import { join } from 'node:path'
import type { IncomingRow } from '../../src/domain/ingest.ts'
import { openPostgresStore } from '../../src/storage/postgres/open-postgres-store.ts'
import { createKey } from '../kill/server.ts'
import { fillShop } from '../kill/shop-store.ts'
import { type CommandLine, commandLine, type RunningProgram, startServe } from '../support/command-line.ts'
import type { Answer } from '../support/documented.ts'
import type { Lifetime } from '../support/service.ts'

/** A `lethe serve` at work. */
export interface Server extends RunningProgram {
  url: string
  /** Whether it was us who ended it. */
  isKilled: boolean
}

/** A place in the fleet: a process, and after that was killed the next one. */
export interface Place {
  name: string
  server: Server
  /** With SIGKILL; resolves when it is gone. */
  kill(): Promise<void>
  start(): Promise<void>
}

export interface Fleet {
  cli: CommandLine
  places: readonly [Place, Place, Place]
  /** A key that may do everything to the tracker `shop`. */
  key: string
}

interface Parts {
  /** A database that `fillDatabase` has filled. */
  store: string
  redis: string
  env?: Record<string, string>
}

/** Makes the tables of an empty database, with an organisation that has the tracker `shop`, and fills that. */
export async function fillDatabase(url: string, rows: readonly IncomingRow[] = []): Promise<void> {
  const store = await openPostgresStore(url)
  try {
    await fillShop(store, rows)
  } finally {
    await store.close()
  }
}

/** Starts three processes on one PostgreSQL and one Redis, behind a proxy that tells them the addresses of clients. */
export async function startFleet(t: Lifetime, { store, redis, env = {} }: Parts): Promise<Fleet> {
  const cli = commandLine(t, store)
  const settings = {
    LETHE_LIMITER: redis,
    LETHE_TRUSTED_PROXIES: '127.0.0.1',
    LETHE_SCRUB_HOUR: 'off',
    // A process that takes the place of another starts in half the time with what that one has compiled.
    NODE_COMPILE_CACHE: join(cli.folder, 'compiled'),
    ...env,
  }
  const key = await createKey(cli)
  const [a, b, c] = await Promise.all(
    (['a', 'b', 'c'] as const).map((name) =>
      openPlace(cli, name, { ...settings, LETHE_STORE: named(store, `lethe-${name}`) }),
    ),
  )
  if (!a || !b || !c) throw new Error('there are three names')
  return { cli, places: [a, b, c], key }
}

async function openPlace(cli: CommandLine, name: string, env: Record<string, string>): Promise<Place> {
  const next = async (): Promise<Server> => ({ ...(await startServe(cli, env)), isKilled: false })
  const place: Place = {
    name,
    server: await next(),
    async kill() {
      place.server.isKilled = true
      place.server.kill('SIGKILL')
      await place.server.ended
    },
    async start() {
      place.server = await next()
    },
  }
  return place
}

/** The address of a database under which PostgreSQL tells who is connected. */
function named(store: string, name: string): string {
  const url = new URL(store)
  url.searchParams.set('application_name', name)
  return url.href
}

interface Ask {
  key: string
  /** The client's address. */
  from?: string
  method?: 'GET' | 'DELETE'
}

/** Sends a request through the proxy that stands before the fleet. Rejects when no answer came. */
export async function ask(url: string, path: string, { key, from, method = 'GET' }: Ask): Promise<Answer> {
  const headers = { authorization: `Bearer ${key}`, ...(from !== undefined && { 'x-forwarded-for': from }) }
  const response = await fetch(url + path, { method, headers })
  return { status: response.status, headers: response.headers, body: await response.json() }
}

/** The address of the n-th of many clients. */
export function clientAddress(number: number): string {
  return `10.${(number >> 16) & 255}.${(number >> 8) & 255}.${number & 255}`
}
