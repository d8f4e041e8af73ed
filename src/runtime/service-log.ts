import type { Logger } from 'pino'
import { formatInstant } from '../domain/instant.ts'
import type { JournalReports } from '../domain/journal.ts'
import { deletesFrom } from '../domain/retention.ts'
import { hostAndPort, type LimiterAddress } from '../limiter/limiter-address.ts'
import type { LimiterReports } from '../limiter/redis-limiter.ts'
import type { MaintenanceReports } from '../maintenance/maintenance.ts'
import type { RequestReports } from '../maintenance/privacy-requests.ts'
import type { WaitingWindow } from '../maintenance/sweep.ts'
import type { OpenIdReports } from '../openid/openid-provider.ts'
import type { OpenedJournal } from '../operations/journal.ts'
import type { OtlpReports } from '../otlp/open-otlp.ts'

/** Logs only the host of the limiter's address. */
export function limiterLog(address: LimiterAddress, logger: Logger): LimiterReports {
  const limiter = address.engine === 'redis' ? hostAndPort(address) : address.engine
  return {
    onLost: (reason) =>
      logger.warn({ limiter, reason }, 'the limiter cannot be reached: this process counts for itself'),
    onFound: () => logger.info({ limiter }, 'the limiter can be reached again'),
  }
}

export function singleSignOnLog(issuer: string, logger: Logger): OpenIdReports {
  return {
    onFailed: (step, reason) =>
      step === 'discovery'
        ? logger.warn({ issuer, reason }, 'the identity provider cannot be used: nobody can sign in with it')
        : logger.warn({ issuer, reason }, 'signing in with the identity provider failed'),
  }
}

export function otlpLog(logger: Logger): OtlpReports {
  return {
    onLost: (signal, reason) => logger.warn({ signal, reason }, 'the collector does not accept exports'),
    onFound: (signal) => logger.info({ signal }, 'the collector accepts exports again'),
  }
}

export function journalLog(journal: string, logger: Logger): JournalReports {
  return {
    onFailed: (error) => logger.error({ err: error, journal }, 'the journal cannot be written; retrying'),
    onRecovered: () => logger.info({ journal }, 'the journal is complete again'),
    onSetBack: (error) =>
      logger.error({ err: error, journal }, 'the store was set back: nothing is erased until a restart'),
  }
}

export function logOpenedJournal(
  journal: string,
  { appended, unreadable, replayed }: OpenedJournal,
  logger: Logger,
): void {
  if (replayed) {
    const { problems, ...counts } = replayed
    logger.warn({ journal, ...counts }, 'the store was older than its journal, which was replayed')
  }
  if (appended > 0)
    logger.info({ journal, lines: appended }, 'appended lines of the store that the journal lacked')
  if (unreadable > 0) logger.warn({ journal, lines: unreadable }, 'the journal has torn lines')
}

export function maintenanceLog(logger: Logger): MaintenanceReports {
  return {
    onWaitingWindows: (_count, added) => logWaitingWindows(added, logger),
    onSwept({ swept, durationMs }) {
      if (swept.sessions + swept.events + swept.activity + swept.requests === 0) return
      logger.info({ ...swept, durationMs: Math.round(durationMs) }, 'swept')
    },
    onScrubbed: (durationMs) => logger.info({ durationMs: Math.round(durationMs) }, 'scrubbed'),
    onClockJumped: (aheadMs) =>
      logger.error(
        { aheadSeconds: Math.round(aheadMs / 1_000) },
        'the clock has jumped ahead: nothing is swept or scrubbed until it is right again, or for a day',
      ),
    onError: (error) => logger.error({ err: error }, 'sweeping or scrubbing failed; retrying'),
  }
}

export function requestLog(logger: Logger): RequestReports {
  return {
    onFinished: ({ id, organisationId, erased }) =>
      logger.info({ request: id, organisationId, ...erased }, 'a privacy request is done'),
    onError: (error) => logger.error({ err: error }, 'a privacy request failed; retrying'),
  }
}

/** Bounds the number of lines. */
const maxNamed = 20

/** One line per organisation, because there is only a day to notice. */
function logWaitingWindows(windows: readonly WaitingWindow[], logger: Logger): void {
  for (const { organisationId, plan, kind, window } of windows.slice(0, maxNamed)) {
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
      `a shorter retention window hides older data and will delete it; to keep the data, set ${undo} back before then`,
    )
  }
  const unnamed = windows.length - maxNamed
  if (unnamed > 0) logger.warn({ windows: unnamed }, 'further retention windows became shorter')
}
