import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import type { RunningProcess } from '../processes/start-process.ts'
import { cpuMicroseconds } from '../processes/usage.ts'
import { UsageError } from '../usage-error.ts'
import { autocannonLoad } from './autocannon.ts'
import { wrkLoad } from './wrk.ts'

const addresses = 1_000

/** Requests without a pause over a number of connections. */
export interface Load {
  url: string
  method: 'GET' | 'DELETE'
  headers: Record<string, string>
  /** The requested paths, in turn. */
  paths: readonly string[]
  connections: number
  seconds: number
}

export interface LoadResult {
  requests: number
  seconds: number
  p50Ms: number
  p99Ms: number
  /** The number of responses with a status of 400 or above. */
  refused: number
  /** The number of requests without a response. */
  failed: number
}

/** A load generator. To a server that trusts it, requests come from a thousand addresses in turn. */
export interface LoadGenerator {
  name: string
  run(load: Load): Promise<LoadResult>
}

/**
 * The generator with that name; by default wrk if it is on the PATH, because it leaves more processor time to
 * the server.
 */
export function loadGenerator(name: string | undefined): LoadGenerator {
  const isThere = (process.env.PATH ?? '').split(delimiter).some((folder) => existsSync(join(folder, 'wrk')))
  if (name === 'wrk' || (name === undefined && isThere)) return wrkLoad()
  if (name === 'autocannon' || name === undefined) return autocannonLoad()
  throw new UsageError(`${name} is no load generator that is known: wrk, autocannon.`)
}

/** The measurements of one round. */
interface Round {
  requests: number
  requestsPerSecond: number
  p50Ms: number
  p99Ms: number
  /** The server's CPU time per request; `null` if unknown. */
  cpuMicros: number | null
}

/**
 * Puts load on a server that must answer all requests with the same status. A slow limiter in Redis can let
 * each address pass once, so a 429 may have that many exceptions.
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

/** The apparent address of the request with that number. */
export function addressOf(number: number): string {
  const one = number % addresses
  return `10.0.${Math.floor(one / 250)}.${(one % 250) + 1}`
}

/** All apparent addresses of requests. */
export function allAddresses(): string[] {
  return Array.from({ length: addresses }, (_, number) => addressOf(number))
}
