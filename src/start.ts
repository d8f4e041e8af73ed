import type { Logger } from 'pino'
import manifest from '../package.json' with { type: 'json' }
import type { Config } from './config.ts'
import { type Limiter, memberErasureBudget } from './domain/budget.ts'
import { formatInstant } from './domain/instant.ts'
import type { JournalReports } from './domain/journal.ts'
import { deletesFrom } from './domain/retention.ts'
import type { Services } from './domain/services.ts'
import { clientAddress, originPolicy } from './http/client-address.ts'
import { connectionsWithin } from './http/connections.ts'
import type { Installation } from './http/request-context.ts'
import { buildServer, serverTimeouts } from './http/server.ts'
import { requireSpoolFolder } from './http/spool.ts'
import { hostAndPort, type LimiterAddress } from './limiter/limiter-address.ts'
import { openLimiter } from './limiter/open-limiter.ts'
import type { LimiterReports } from './limiter/redis-limiter.ts'
import { type BatchRunner, runErasureBatches } from './maintenance/erasure-batches.ts'
import { runMaintenance } from './maintenance/maintenance.ts'
import type { WaitingWindow } from './maintenance/sweep.ts'
import { keyUse } from './operations/api-key-use.ts'
import { openJournal } from './operations/journal.ts'
import { passwordQueue } from './operations/sign-in.ts'
import type { Log } from './runtime/log.ts'

/** A service that listens. */
export interface Service {
  url: string
  /** Where its metrics are read; `null` when they are off. */
  metricsUrl: string | null
  /** No new connections, running requests finish, then the limiter and the store are closed. */
  stop(): Promise<void>
}

/** The composition root: puts every part together and listens. Tests call it too. */
export async function startService(config: Config, services: Services, log: Log): Promise<Service> {
  const { logger } = log
  const { clock, randomness } = services
  // A thread may have to start for it, which goes on beside all that follows.
  const readyToWrite = services.prepareToWrite?.()
  readyToWrite?.catch(() => {})
  const use = keyUse(services, (error) =>
    logger.warn({ err: error }, 'noting when keys were last used failed'),
  )
  const limiter = await openLimiter(config.limiter, clock, limiterReports(config.limiter, logger))
  if (config.spoolFolder !== null) await requireSpoolFolder(config.spoolFolder, randomness).catch(giveUp)
  const metrics = await startMetrics(config, services, limiter, log).catch(giveUp)
  await startJournal(services, logger, metrics?.journal).catch(async (error) => {
    await metrics?.close()
    return giveUp(error)
  })
  const measured = metrics ? { ...services, subjects: metrics.subjects } : services
  // Requests may come before batches are worked on.
  let running: BatchRunner | undefined
  const server = buildServer({
    services: measured,
    limiter: metrics?.limiter ?? limiter,
    budgets: config.budgets,
    addressOf: clientAddress(config.trustedProxies),
    publicUrl: config.publicUrl,
    originPolicy: originPolicy(config.publicUrl, config.trustedProxies),
    passwords: passwordQueue(randomness),
    ...connectionsWithin(config.maxConnections),
    spoolFolder: config.spoolFolder,
    noteKeyUse: use.note,
    noteKeyRefusal: use.noteRefusal,
    noteRefusedString: use.noteRefusedString,
    installation: installationOf(config),
    log,
    wakeBatches: () => running?.wake(),
    ...(metrics && { onAnswered: metrics.onAnswered }),
  })
  const port = await server.listen(config.host, config.port).catch(async (error) => {
    await metrics?.close()
    return giveUp(portTaken(error, 'LETHE_PORT', config.host, config.port))
  })
  await readyToWrite?.catch(async (error) => {
    await server.close()
    await metrics?.close()
    return giveUp(error)
  })
  const maintenance = runMaintenance({ ...services, passedMs: () => performance.now() }, config, {
    onWaitingWindows(count, added) {
      metrics?.maintenance.onWaitingWindows(count, added)
      tellOfWaiting(added, logger)
    },
    onSwept(pass) {
      metrics?.maintenance.onSwept(pass)
      const { swept, durationMs } = pass
      if (swept.sessions + swept.events + swept.activity === 0) return
      logger.info({ ...swept, durationMs: Math.round(durationMs) }, 'swept')
    },
    onScrubbed(durationMs) {
      metrics?.maintenance.onScrubbed(durationMs)
      logger.info({ durationMs: Math.round(durationMs) }, 'scrubbed')
    },
    onClockJumped(aheadMs) {
      logger.error(
        { aheadSeconds: Math.round(aheadMs / 1_000) },
        'the clock has jumped ahead: nothing is swept or scrubbed until it is right again, or for a day',
      )
    },
    onError(error) {
      metrics?.maintenance.onError(error)
      logger.error({ err: error }, 'sweeping or scrubbing failed; it is tried again')
    },
  })
  const batches = runErasureBatches(
    measured,
    {
      paceMs: config.batchPaceMs,
      countErasure: (actor) =>
        limiter.take(
          memberErasureBudget(config.budgets.erasure),
          actor.kind === 'command-line' ? '' : actor.id,
        ),
    },
    {
      onFinished: ({ id, organisationId, erased }) =>
        logger.info({ batch: id, organisationId, ...erased }, 'a batch of erasures is done'),
      onError: (error) =>
        logger.error({ err: error }, 'a batch of erasures came to a halt; it is tried again'),
    },
  )
  running = batches
  return {
    url: urlOf(config.host, port),
    metricsUrl: metrics?.url ?? null,
    async stop() {
      await server.close()
      await batches.stop()
      await limiter.close()
      await metrics?.close()
      await maintenance.stop()
      await use.stop()
      await services.close()
    },
  }

  async function giveUp(error: unknown): Promise<never> {
    await limiter.close()
    await services.close()
    throw error
  }
}

/** Whether the limiter can be reached now. A service on one that cannot goes on, and counts for itself. */
export async function isLimiterReachable({ limiter: address }: Pick<Config, 'limiter'>): Promise<boolean> {
  const limiter = await openLimiter(address, Date.now, { onLost() {}, onFound() {} })
  try {
    return limiter.isReachable()
  } finally {
    await limiter.close()
  }
}

/**
 * Brings the journal, where one is kept, and the store to the same state. A service whose journal cannot be read or written, or
 * contradicts the store, does not start.
 */
async function startJournal(
  services: Services,
  logger: Logger,
  metrics: Pick<JournalReports, 'onFailed'> | undefined,
): Promise<void> {
  const { journal } = services
  if (!journal) return
  const file = journal.place
  journal.watch({
    onFailed(error) {
      metrics?.onFailed(error)
      logger.error({ err: error, journal: file }, 'the journal cannot be written; it is tried again')
    },
    onRecovered: () => logger.info({ journal: file }, 'the journal is complete again'),
    onSetBack: (error) =>
      logger.error(
        { err: error, journal: file },
        'the store was set back: nothing is erased until a restart',
      ),
  })
  const { appended, unreadable, replayed } = await openJournal(journal, services)
  if (replayed) {
    const { problems, ...counts } = replayed
    logger.warn({ journal: file, ...counts }, 'the store was older than its journal, which was replayed')
  }
  if (appended > 0) logger.info({ journal: file, lines: appended }, 'the journal lacked lines of the store')
  if (unreadable > 0) logger.warn({ journal: file, lines: unreadable }, 'the journal has lines that are torn')
}

/** Measures the service and lets others read what is measured; `null` when nobody wants to. */
async function startMetrics(
  { metricsHost: host, metricsPort: port }: Config,
  store: Services,
  limiter: Limiter,
  { logger, droppedLines }: Log,
) {
  if (port === 'off') return null
  const { openMetrics } = await import('./metrics/metrics.ts')
  const { openMetricsListener } = await import('./metrics/metrics-listener.ts')
  const metrics = openMetrics({
    ...{ store, limiter, droppedLines },
    journal: store.journal,
    clock: store.clock,
    version: manifest.version,
  })
  const listener = await openMetricsListener({
    host,
    port,
    timeouts: serverTimeouts,
    text: metrics.text,
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

/** An error of listening, in one clear line where the reason is that somebody else listens there. */
function portTaken(
  error: Error & { code?: string },
  variable: 'LETHE_PORT' | 'LETHE_METRICS_PORT',
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

/** So many organisations are named; more would bury the log. */
const mostNamed = 20

/** What members may know of how this service was set up. */
function installationOf({ budgets, batchPaceMs, store }: Config): Installation {
  return {
    budgets: Object.values(budgets).map(({ name, limit, windowMs }) => ({
      ...{ name, limit, windowSeconds: windowMs / 1_000 },
    })),
    batchesPerMinute: Math.max(1, Math.round(60_000 / batchPaceMs)),
    engine: store.engine === 'sqlite' ? 'SQLite' : 'PostgreSQL',
    version: manifest.version,
  }
}

/** One line for each organisation of which less will be kept: there is a day to see it. */
function tellOfWaiting(windows: readonly WaitingWindow[], logger: Logger): void {
  for (const { organisationId, plan, kind, window } of windows.slice(0, mostNamed)) {
    const { days, shorter } = window
    const variable = kind === 'visitors' ? 'LETHE_RETENTION_DAYS' : 'LETHE_ACTIVITY_DAYS'
    const undo = kind === 'visitors' ? `${variable} or the plan` : variable
    logger.warn(
      {
        organisationId,
        plan,
        kind,
        keptDays: days,
        shorterDays: shorter.days,
        deletesFrom: formatInstant(deletesFrom(shorter)),
      },
      `a shorter retention window hides what is older, and will delete it: set ${undo} back before, and nothing is lost`,
    )
  }
  const unnamed = windows.length - mostNamed
  if (unnamed > 0) logger.warn({ windows: unnamed }, 'further retention windows became shorter')
}

/** One line when the limiter is lost and one when it is back, with its host and nothing else of its address. */
function limiterReports(address: LimiterAddress, logger: Logger): LimiterReports {
  const limiter = address.engine === 'redis' ? hostAndPort(address) : address.engine
  return {
    onLost: (reason) =>
      logger.warn({ limiter, reason }, 'the limiter cannot be reached: this process counts for itself'),
    onFound: () => logger.info({ limiter }, 'the limiter can be reached again'),
  }
}
