import { pino } from 'pino'
import { readConfig } from '../../src/config.ts'
import { allScopes, type Scope } from '../../src/domain/api-key.ts'
import type { IncomingRow } from '../../src/domain/ingest.ts'
import type { Instant } from '../../src/domain/instant.ts'
import type { Services } from '../../src/domain/services.ts'
import { createKey, type IssuedKey } from '../../src/operations/api-key.ts'
import { createOrganisation } from '../../src/operations/organisation.ts'
import { createTracker } from '../../src/operations/tracker.ts'
import { openServices, startService } from '../../src/start.ts'
import { type Answer, assertDocumented } from './documented.ts'
import { emptyStore } from './empty-store.ts'
import { inReverse } from './in-reverse.ts'
import { testSecretFile } from './test-keyring.ts'

/** What a test may stop: a test, or a suite's hooks. */
export interface Lifetime {
  after(work: () => void | Promise<void>): void
}

export interface Ask {
  method?: string
  /** The key string; none is sent without it. */
  key?: string
  headers?: Record<string, string>
  body?: string | Uint8Array<ArrayBuffer>
}

/** A running service on a real store of its own, with a clock that tests can move. */
export interface TestService {
  url: string
  /** Where its metrics are read, with `LETHE_METRICS_PORT` in `env`. */
  metricsUrl: string | null
  /** Where the Variables API is, with `LETHE_VARIABLES_PORT` in `env`. */
  variablesUrl: string | null
  services: Services
  /** Every line the service has logged. */
  logged: string[]
  /** Moves the service's clock. */
  passTime(ms: number): void
  /** Sends a request and holds its answer against the OpenAPI document. */
  ask(path: string, ask?: Ask): Promise<Answer>
  createOrganisation(id?: string): Promise<string>
  createTracker(organisationId: string, id?: string): Promise<string>
  /** A key with these scopes, both when none are named. */
  createKey(organisationId: string, scopes?: readonly Scope[], expiresAt?: Instant): Promise<IssuedKey>
  ingest(rows: readonly IncomingRow[]): Promise<void>
  stop(): Promise<void>
}

/**
 * Starts a service. Its budgets are out of the way unless `env` sets them. Its clock may be off from the start. It writes as commands
 * do: a thread costs four times as much as all the rest, and is for tests of what goes on beside a write.
 */
export async function startTestService(
  t: Lifetime,
  env: Record<string, string> = {},
  { writesHere = true, shiftMs = 0 } = {},
): Promise<TestService> {
  const lifetime = inReverse(t)
  const config = readConfig({
    LETHE_PORT: '0',
    LETHE_STORE: env.LETHE_STORE ?? (await emptyStore(lifetime)),
    // A store that was made elsewhere lies beside its own.
    ...(!env.LETHE_STORE?.startsWith('sqlite:') && { LETHE_SECRET_FILE: testSecretFile() }),
    LETHE_LIMIT_IP: '1000000/minute',
    LETHE_LIMIT_KEY: '1000000/minute',
    LETHE_LIMIT_ERASURE: '1000000/hour',
    LETHE_LIMIT_VARIABLES: '1000000/minute',
    LETHE_LOG_LEVEL: 'trace',
    ...env,
  })
  let shift = shiftMs
  const opened = await openServices(config, { create: true, writesHere })
  const services = { ...opened, clock: () => Date.now() + shift }
  const logged: string[] = []
  const write = (lines: string) => {
    logged.push(...lines.trimEnd().split('\n'))
  }
  const logger = pino({ level: config.logLevel, base: null }, { write })
  const service = await startService(config, services, { logger, write, droppedLines: () => 0 })
  let isStopped = false
  async function stop(): Promise<void> {
    if (isStopped) return
    isStopped = true
    await service.stop()
  }
  lifetime.after(stop)
  let count = 0
  return {
    url: service.url,
    metricsUrl: service.metricsUrl,
    variablesUrl: service.variablesUrl,
    services,
    logged,
    passTime: (ms) => {
      // Instants are whole milliseconds; a wait for less than one takes one.
      shift += Math.ceil(ms)
    },
    async ask(path, { method = 'GET', key, headers = {}, body } = {}) {
      const response = await fetch(service.url + path, {
        method,
        headers: { ...(key !== undefined && { authorization: `Bearer ${key}` }), ...headers },
        ...(body !== undefined && { body }),
      })
      const bytes = Buffer.from(await response.arrayBuffer())
      const isFile = response.headers.get('content-type') === 'application/zip'
      const answer = {
        status: response.status,
        headers: response.headers,
        body: bytes.length === 0 ? null : isFile ? bytes : JSON.parse(bytes.toString()),
      }
      assertDocumented(method, path, answer)
      return answer
    },
    async createOrganisation(id = `org-${++count}`) {
      return (await createOrganisation(services, { name: id, id })).id
    },
    async createTracker(organisationId, id = `tracker-${++count}`) {
      return (await createTracker(services, { organisationId, name: id, id })).id
    },
    createKey: (organisationId, scopes = allScopes(), expiresAt) =>
      createKey(services, { organisationId, name: `key-${++count}`, scopes, expiresAt: expiresAt ?? null }),
    async ingest(rows) {
      await services.ingest.ingest(rows, services.keyring.tombstoneKeys)
    },
    stop,
  }
}
