import type { Logger } from 'pino'
import { formatInstant } from '../domain/instant.ts'
import type { JournalReports } from '../domain/journal.ts'
import { deletesFrom } from '../domain/retention.ts'
import { hostAndPort, type LimiterAddress } from '../limiter/limiter-address.ts'
import type { LimiterReports } from '../limiter/redis-limiter.ts'
import type { BatchReports } from '../maintenance/erasure-batches.ts'
import type { MaintenanceReports } from '../maintenance/maintenance.ts'
import type { WaitingWindow } from '../maintenance/sweep.ts'
import type { OpenedJournal } from '../operations/journal.ts'

// What a running service writes to its log by itself, apart from requests.

/** Logs when the limiter is lost and when it is back, with its host but no other part of its address. */
export function limiterLog(address: LimiterAddress, logger: Logger): LimiterReports {
  const limiter = address.engine === 'redis' ? hostAndPort(address) : address.engine
  return {
    onLost: (reason) =>
      logger.warn({ limiter, reason }, 'the limiter cannot be reached: this process counts for itself'),
    onFound: () => logger.info({ limiter }, 'the limiter can be reached again'),
  }
}

export function journalLog(journal: string, logger: Logger): JournalReports {
  return {
    onFailed: (error) =>
      logger.error({ err: error, journal }, 'the journal cannot be written; it is tried again'),
    onRecovered: () => logger.info({ journal }, 'the journal is complete again'),
    onSetBack: (error) =>
      logger.error({ err: error, journal }, 'the store was set back: nothing is erased until a restart'),
  }
}

/** Logs what it took to bring a journal and its store to the same state. */
export function logOpenedJournal(
  journal: string,
  { appended, unreadable, replayed }: OpenedJournal,
  logger: Logger,
): void {
  if (replayed) {
    const { problems, ...counts } = replayed
    logger.warn({ journal, ...counts }, 'the store was older than its journal, which was replayed')
  }
  if (appended > 0) logger.info({ journal, lines: appended }, 'the journal lacked lines of the store')
  if (unreadable > 0) logger.warn({ journal, lines: unreadable }, 'the journal has lines that are torn')
}

export function maintenanceLog(logger: Logger): MaintenanceReports {
  return {
    onWaitingWindows: (_count, added) => logWaitingWindows(added, logger),
    onSwept({ swept, durationMs }) {
      if (swept.sessions + swept.events + swept.activity === 0) return
      logger.info({ ...swept, durationMs: Math.round(durationMs) }, 'swept')
    },
    onScrubbed: (durationMs) => logger.info({ durationMs: Math.round(durationMs) }, 'scrubbed'),
    onClockJumped: (aheadMs) =>
      logger.error(
        { aheadSeconds: Math.round(aheadMs / 1_000) },
        'the clock has jumped ahead: nothing is swept or scrubbed until it is right again, or for a day',
      ),
    onError: (error) => logger.error({ err: error }, 'sweeping or scrubbing failed; it is tried again'),
  }
}

export function batchLog(logger: Logger): BatchReports {
  return {
    onFinished: ({ id, organisationId, erased }) =>
      logger.info({ batch: id, organisationId, ...erased }, 'a batch of erasures is done'),
    onError: (error) => logger.error({ err: error }, 'a batch of erasures came to a halt; it is tried again'),
  }
}

/** At most this many organisations are named, so that they do not flood the log. */
const maxNamed = 20

/** One line for each organisation whose data will be deleted earlier: there is a day to notice it. */
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
      `a shorter retention window hides what is older, and will delete it: set ${undo} back before, and nothing is lost`,
    )
  }
  const unnamed = windows.length - maxNamed
  if (unnamed > 0) logger.warn({ windows: unnamed }, 'further retention windows became shorter')
}
