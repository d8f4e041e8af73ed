import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import type { RunningProcess } from '../processes/start-process.ts'
import { cpuMicroseconds } from '../processes/usage.ts'
import { autocannonLoad } from './autocannon.ts'
import { wrkLoad } from './wrk.ts'

const addresses = 1_000

/** Requests without a pause, over so many connections, for so long. */
export interface Load {
  url: string
  method: 'GET' | 'DELETE'
  headers: Record<string, string>
  /** What is asked for, one path after the other and over again. */
  paths: readonly string[]
  connections: number
  seconds: number
}

export interface LoadResult {
  requests: number
  seconds: number
  p50Ms: number
  p99Ms: number
  /** How many were answered with a status from 400 on. */
  refused: number
  /** How many were not answered. */
  failed: number
}

/** Who makes the load. Requests come, for a server that trusts its peer to tell, from a thousand addresses in turn. */
export interface LoadGenerator {
  name: string
  run(load: Load): Promise<LoadResult>
}

/** The generator of that name; without a name wrk where it is on the path, which leaves more of the machine to the server. */
export function loadGenerator(name: string | undefined): LoadGenerator {
  const isThere = (process.env.PATH ?? '').split(delimiter).some((folder) => existsSync(join(folder, 'wrk')))
  if (name === 'wrk' || (name === undefined && isThere)) return wrkLoad()
  if (name === 'autocannon' || name === undefined) return autocannonLoad()
  throw new Error(`${name} is no load generator that is known: wrk, autocannon.`)
}

/** The figures of one round. */
export interface Round {
  requests: number
  requestsPerSecond: number
  p50Ms: number
  p99Ms: number
  /** What the server's process worked for each request; `null` where nobody can tell. */
  cpuMicros: number | null
}

/**
 * Puts a load on a server, which must answer all of it, and refuse all of it or nothing. A limiter in Redis that is slow for a
 * moment lets each address pass once: a 429 has that many exceptions.
 */
export async function measureRound(
  generator: LoadGenerator,
  server: RunningProcess,
  load: Omit<Load, 'url'>,
  status = 200,
): Promise<Round> {
  const before = cpuMicroseconds(server.pid)
  const result = await generator.run({ ...load, url: server.url })
  const after = cpuMicroseconds(server.pid)
  const others = status < 400 ? result.refused : result.requests - result.refused
  const exceptions = status === 429 ? addresses : 0
  if (result.requests === 0 || result.failed > 0 || others > exceptions) {
    throw new Error(`of ${result.requests} requests ${result.refused} were refused, ${result.failed} failed`)
  }
  return {
    requests: result.requests,
    requestsPerSecond: result.requests / result.seconds,
    p50Ms: result.p50Ms,
    p99Ms: result.p99Ms,
    cpuMicros: before === null || after === null ? null : (after - before) / result.requests,
  }
}

/** Where the request of that number seems to come from. */
export function addressOf(number: number): string {
  const one = number % addresses
  return `10.0.${Math.floor(one / 250)}.${(one % 250) + 1}`
}

/** Every address that requests seem to come from. */
export function allAddresses(): string[] {
  return Array.from({ length: addresses }, (_, number) => addressOf(number))
}
