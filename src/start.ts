import manifest from '../package.json' with { type: 'json' }
import type { Config } from './config.ts'
import type { Limiter } from './domain/budget.ts'
import { IngestQueue } from './domain/ingest-queue.ts'
import type { RetentionPolicy } from './domain/retention.ts'
import { FairQueue } from './domain/semaphore.ts'
import type { Services, ServicesWithoutSecrets } from './domain/services.ts'
import type { Store, StoreStatus } from './domain/store.ts'
import type { Installation, SingleSignOn } from './http/request-context.ts'
import type { LetheServer, ServerDeps } from './http/server.ts'
import { FileJournal, requireWritableJournal } from './journal.ts'
import type { JobLoop } from './maintenance/job-loop.ts'
import type { MaintenanceReports } from './maintenance/maintenance.ts'
import type { Metrics } from './metrics/metrics.ts'
import { LedgerJournal, openJournal } from './operations/journal.ts'
import type { Otlp } from './otlp/open-otlp.ts'
import type { Log } from './runtime/log.ts'
import { systemRandomness } from './runtime/randomness.ts'
import { requireOwnJournal } from './runtime/same-file.ts'
import { openKeyring, readClientSecret, type SecretReports } from './runtime/secret-file.ts'
import { type OpenOptions, openStore, placeOf, readStoreStatus, storeExists } from './storage/open-store.ts'

// The composition root: the only file that knows every part. Commands open the store here, the service starts
// here, and tests use both. Only a service needs HTTP, the limiter, metrics and maintenance, so they are
// loaded when one starts.

/** Few enough that requests hardly wait between two slices. */
const jobBounds = { permits: 4, maxWaitingEach: 100, waitTimeoutMs: 60_000 }
/** A transaction of this size takes a fraction of a second, for which other writes wait. */
const ingestBounds = { maxRows: 10_000, maxWaitingEach: 1_000, maxBlockedMs: 30_000 }

type ServicesConfig = Pick<
  Config,
  'store' | 'secretFile' | 'ledgerOrigin' | 'journal' | keyof RetentionPolicy
>

/** Opens the store, which must exist unless `create` is set, with its secrets and everything else needed. */
export async function openServices(
  config: ServicesConfig,
  options?: OpenOptions & SecretReports,
): Promise<Services> {
  return withSecrets(config, await openServicesWithoutSecrets(config, options), options)
}

/** The same for work that needs no secret: losing the secret must not prevent anyone from revoking a key. */
export async function openServicesWithoutSecrets(
  config: ServicesConfig,
  options?: OpenOptions,
): Promise<ServicesWithoutSecrets> {
  const { retentionDays, activityDays, tombstoneDays, journal } = config
  if (journal !== null) requireOwnJournal({ ...config, journal })
  const store = await openStore(config.store, options)
  return {
    ...store,
    retentionDays,
    activityDays,
    tombstoneDays,
    clock: Date.now,
    randomness: systemRandomness,
    jobs: new FairQueue(jobBounds),
    ...(journal !== null && { journal: new LedgerJournal(new FileJournal(journal), store) }),
  }
}

/** Adds the secrets that a store belongs to, and closes the store if that fails. */
export async function withSecrets(
  config: ServicesConfig,
  services: ServicesWithoutSecrets,
  reports: SecretReports = {},
): Promise<Services> {
  try {
    const keyring = await openKeyring(config, services.secrets, services.clock(), reports)
    const ingestQueue = new IngestQueue(services.ingest, keyring.tombstoneKeys, ingestBounds)
    return { ...services, keyring, ingestQueue }
  } catch (error) {
    await services.close()
    throw error
  }
}

/** Opens any store without the secrets it belongs to: enough to move it as it is. */
export async function openBareStore(
  address: Config['store'],
  options?: OpenOptions,
): Promise<Store & Pick<Services, 'clock'>> {
  return { ...(await openStore(address, options)), clock: Date.now }
}

/** Creates an empty store if there is none. An existing store is not touched, not even upgraded. */
export async function createStore({ store }: Pick<Config, 'store'>): Promise<{
  place: string
  created: boolean
}> {
  const created = !(await storeExists(store))
  if (created) await (await openStore(store, { create: true })).close()
  return { place: placeOf(store), created }
}

/** `readStore` changes nothing, and rejects if the store does not exist or respond. */
export function storeStatus({ store }: Pick<Config, 'store'>): {
  place: string
  readStore(): Promise<StoreStatus>
} {
  return { place: placeOf(store), readStore: () => readStoreStatus(store) }
}

/** Whether the limiter can be reached now. A service whose limiter cannot be reached counts for itself. */
export async function isLimiterReachable({ limiter: address }: Pick<Config, 'limiter'>): Promise<boolean> {
  const { openLimiter } = await import('./limiter/open-limiter.ts')
  const limiter = await openLimiter(address, Date.now, { onLost() {}, onFound() {} })
  try {
    return limiter.isReachable()
  } finally {
    await limiter.close()
  }
}

export interface Service {
  url: string
  /** `null` if metrics are off. */
  metricsUrl: string | null
  /** `null` if the Variables API has no port of its own. */
  variablesUrl: string | null
  /** Accepts no new connections, finishes running requests, then closes the limiter and the store. */
  stop(): Promise<void>
}

/** Starts every part and listens. If a part fails, the parts before it and the services are closed. */
export async function startService(config: Config, services: Services, log: Log): Promise<Service> {
  const { logger } = log
  // SQLite's writer may start a thread, which continues in parallel.
  const readyToWrite = services.prepareToWrite?.()
  readyToWrite?.catch(() => {})
  const opened: { close(): Promise<void> | void }[] = [services]
  try {
    const { buildServer, serverTimeouts } = await import('./http/server.ts')
    const { openLimiter } = await import('./limiter/open-limiter.ts')
    const { runMaintenance } = await import('./maintenance/maintenance.ts')
    const { runPrivacyRequests } = await import('./maintenance/privacy-requests.ts')
    const { keyUse } = await import('./operations/api-key-use.ts')
    const { tokenUse } = await import('./operations/variable-token-use.ts')
    const { limiterLog, maintenanceLog, requestLog } = await import('./runtime/service-log.ts')

    const limiter = await openLimiter(config.limiter, services.clock, limiterLog(config.limiter, logger))
    opened.push(limiter)
    const singleSignOn = await openSingleSignOn(config, services, log)
    const metrics = await startMetrics(config, services, limiter, log, serverTimeouts)
    if (metrics) opened.push(metrics)
    const otlp = await startOtlp(config, services, metrics, log)
    if (otlp) opened.push(otlp)
    const tracing = otlp?.tracing
    await startJournal(services, log, metrics?.journal)

    const onUseError = (error: unknown) =>
      logger.warn({ err: error }, 'recording when keys and tokens were last used failed')
    const use = keyUse(services, onUseError)
    const ofTokens = tokenUse(services, onUseError)
    const measured = metrics ? { ...services, subjects: metrics.subjects } : services
    const counting = metrics?.limiter ?? limiter
    // HTTP requests may arrive before it runs.
    let requests: JobLoop | undefined
    const deps: ServerDeps = {
      ...config,
      services: tracing?.services(measured) ?? measured,
      limiter: tracing?.limiter(counting) ?? counting,
      noteKeyUse: use.note,
      noteKeyRefusal: use.noteRefusal,
      noteRefusedString: use.noteRefusedString,
      noteTokenUse: ofTokens.note,
      installation: installationOf(config),
      singleSignOn,
      log,
      wakeRequests: () => requests?.wake(),
      ...(metrics && { onAnswered: metrics.onAnswered }),
      ...(tracing && { traces: tracing.requests }),
      serves: config.variablesPort === 'main' ? 'all' : 'management',
    }
    const server = buildServer(deps)
    opened.push(server)
    const port = await server.listen(config.host, config.port).catch((error) => {
      throw portTaken(error, 'LETHE_PORT', config.host, config.port)
    })
    const variables = await listenForVariables(deps, config)
    if (variables) opened.push(variables)
    await readyToWrite

    const maintenance = runMaintenance(
      { ...services, passedMs: () => performance.now() },
      config,
      both(both(maintenanceLog(logger), metrics?.maintenance), tracing?.jobs.maintenance),
    )
    const { erasure } = config.budgets
    requests = runPrivacyRequests(
      measured,
      {
        paceMs: config.batchPaceMs,
        budgetWindowMs: erasure.windowMs,
        countErasure: (keyId) => limiter.take(erasure, keyId),
      },
      { ...requestLog(logger), ...(tracing && { onSlice: tracing.jobs.onRequestSlice }) },
    )
    return {
      url: urlOf(config.host, port),
      metricsUrl: metrics?.url ?? null,
      variablesUrl: variables?.url ?? null,
      async stop() {
        await Promise.all([server.close(), variables?.close()])
        await requests?.stop()
        await limiter.close()
        await maintenance.stop()
        await use.stop()
        await ofTokens.stop()
        // The last metrics are read from the store.
        await otlp?.close()
        await metrics?.close()
        await services.close()
      },
    }
  } catch (error) {
    for (const part of opened.toReversed()) await part.close()
    throw error
  }
}

/** `null` without an identity provider. It is not asked for anything before somebody signs in. */
async function openSingleSignOn(
  { singleSignOn: settings }: Config,
  { clock, randomness }: Services,
  { logger }: Log,
): Promise<SingleSignOn | null> {
  if (settings === null) return null
  const { openIdProvider } = await import('./openid/openid-provider.ts')
  const { singleSignOnLog } = await import('./runtime/service-log.ts')
  const { clientSecretFile, roles, roleClaim, issuer } = settings
  const provider = openIdProvider(
    {
      ...settings,
      clientSecret: clientSecretFile && (await readClientSecret(clientSecretFile)),
      roleClaim: roles && roleClaim,
    },
    { clock, randomness, ...singleSignOnLog(issuer, logger) },
  )
  return { provider, roleMapping: roles }
}

/** The Variables API on a port of its own; `null` if it shares the port of the other services. */
async function listenForVariables(
  deps: ServerDeps,
  { host, variablesPort }: Config,
): Promise<(Pick<LetheServer, 'close'> & { url: string }) | null> {
  if (variablesPort === 'main') return null
  const { buildServer } = await import('./http/server.ts')
  // The public address is that of the console.
  const server = buildServer({ ...deps, serves: 'variables', publicUrl: null })
  const port = await server.listen(host, variablesPort).catch((error) => {
    throw portTaken(error, 'LETHE_VARIABLES_PORT', host, variablesPort)
  })
  return { url: urlOf(host, port), close: () => server.close() }
}

/** The service does not start if the journal cannot be read or written, or contradicts the store. */
async function startJournal(
  services: Services,
  { logger }: Log,
  metrics: { onFailed(error: Error): void } | undefined,
): Promise<void> {
  const { journal } = services
  if (!journal) return
  const { journalLog, logOpenedJournal } = await import('./runtime/service-log.ts')
  const reports = journalLog(journal.place, logger)
  journal.watch({
    ...reports,
    onFailed(error) {
      metrics?.onFailed(error)
      reports.onFailed(error)
    },
  })
  await requireWritableJournal(journal.place, services.randomness)
  logOpenedJournal(journal.place, await openJournal(journal, services), logger)
}

/** Measures the service, and serves the metrics if they have a port; `null` if nobody reads them. */
async function startMetrics(
  { metricsHost: host, metricsPort: port, otlp }: Config,
  store: Services,
  limiter: Limiter,
  { logger, droppedLines }: Log,
  timeouts: Readonly<Record<string, number>>,
) {
  if (port === 'off' && otlp?.metricsUrl == null) return null
  const { openMetrics } = await import('./metrics/metrics.ts')
  const metrics = openMetrics({
    ...{ store, limiter, droppedLines },
    journal: store.journal,
    clock: store.clock,
    version: manifest.version,
  })
  if (port === 'off') return { ...metrics, url: null, close: async () => metrics.stop() }
  const { openMetricsListener } = await import('./metrics/metrics-listener.ts')
  const listener = await openMetricsListener({
    ...{ host, port, timeouts, text: metrics.text },
    onError: (error) => logger.error({ err: error }, 'reading the metrics failed'),
  }).catch((error) => {
    metrics.stop()
    throw portTaken(error, 'LETHE_METRICS_PORT', host, port)
  })
  return {
    ...metrics,
    url: `${urlOf(host, listener.port)}/metrics`,
    async close() {
      metrics.stop()
      await listener.close()
    },
  }
}

/** Exports traces and metrics; `null` if that is off. */
async function startOtlp(
  { otlp, store }: Config,
  { randomness }: Services,
  metrics: Pick<Metrics, 'text'> | null,
  { logger }: Log,
): Promise<Otlp | null> {
  if (otlp === null) return null
  const { openOtlp } = await import('./otlp/open-otlp.ts')
  const { otlpLog } = await import('./runtime/service-log.ts')
  return openOtlp(otlp, {
    dbSystem: store.engine === 'sqlite' ? 'sqlite' : 'postgresql',
    metrics,
    version: manifest.version,
    instanceId: randomness.uuid(),
    reports: otlpLog(logger),
  })
}

type PartOfMaintenance = 'onWaitingWindows' | 'onSwept' | 'onScrubbed' | 'onError'

/** Maintenance reports that are both logged and measured. */
function both(
  log: MaintenanceReports,
  measured: Partial<Pick<MaintenanceReports, PartOfMaintenance>> | undefined,
): MaintenanceReports {
  if (!measured) return log
  return {
    ...log,
    onWaitingWindows(count, added) {
      measured.onWaitingWindows?.(count, added)
      log.onWaitingWindows(count, added)
    },
    onSwept(pass) {
      measured.onSwept?.(pass)
      log.onSwept(pass)
    },
    onScrubbed(durationMs) {
      measured.onScrubbed?.(durationMs)
      log.onScrubbed(durationMs)
    },
    onError(error) {
      measured.onError?.(error)
      log.onError(error)
    },
  }
}

/** The error of a listener, with a clear message if another process listens on its port. */
function portTaken(
  error: Error & { code?: string },
  variable: 'LETHE_PORT' | 'LETHE_METRICS_PORT' | 'LETHE_VARIABLES_PORT',
  host: string,
  port: number,
): Error {
  if (error.code !== 'EADDRINUSE') return error
  return new Error(
    `Port ${port} of ${host} is taken. Set ${variable} to another one, or to 0 for any free one.`,
  )
}

function urlOf(host: string, port: number): string {
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`
}

/** What members may know about how this service is set up. */
function installationOf({ budgets, batchPaceMs, store, variablesPort }: Config): Installation {
  return {
    budgets: Object.values(budgets).map(({ name, limit, windowMs }) => ({
      ...{ name, limit, windowSeconds: windowMs / 1_000 },
    })),
    batchesPerMinute: Math.max(1, Math.round(60_000 / batchPaceMs)),
    variablesPort: variablesPort === 'main' ? null : variablesPort,
    engine: store.engine === 'sqlite' ? 'SQLite' : 'PostgreSQL',
    version: manifest.version,
  }
}
