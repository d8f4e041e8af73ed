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

/** Something that ends and then runs cleanups: a test, or the hooks of a suite. */
export interface Lifetime {
  after(work: () => void | Promise<void>): void
}

interface Ask {
  method?: string
  /** The key string; without it, no key is sent. */
  key?: string
  headers?: Record<string, string>
  body?: string | Uint8Array<ArrayBuffer>
}

/** A running service on its own store, with a clock that tests can advance. */
export interface TestService {
  url: string
  /** The address of its metrics, if `LETHE_METRICS_PORT` is in `env`. */
  metricsUrl: string | null
  /** The address of the Variables API, if `LETHE_VARIABLES_PORT` is in `env`. */
  variablesUrl: string | null
  services: Services
  /** Every log line so far. */
  logged: string[]
  /** Advances the service's clock. */
  passTime(ms: number): void
  /** Sends a request and checks the answer against the OpenAPI document. */
  ask(path: string, ask?: Ask): Promise<Answer>
  createOrganisation(id?: string): Promise<string>
  createTracker(organisationId: string, id?: string): Promise<string>
  /** Creates a key with these scopes, by default all. */
  createKey(organisationId: string, scopes?: readonly Scope[], expiresAt?: Instant): Promise<IssuedKey>
  ingest(rows: readonly IncomingRow[]): Promise<void>
  stop(): Promise<void>
}

/**
 * Starts a service, with budgets that no test reaches unless `env` sets them. It writes in this process: a
 * writer thread takes four times as long to start as everything else.
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
    // The secret of an existing store is in a file next to it.
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
      // Instants are whole milliseconds, so a shorter wait takes one.
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
