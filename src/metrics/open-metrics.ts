import { Registry } from 'prom-client'
import type { Limiter } from '../domain/budget.ts'
import type { Clock } from '../domain/instant.ts'
import type { Journal, JournalReports } from '../domain/journal.ts'
import type { Store } from '../domain/store.ts'
import type { SubjectStore } from '../domain/subject.ts'
import type { MaintenanceReports } from '../maintenance/run-maintenance.ts'
import { importMetrics } from './import-metrics.ts'
import { journalMetrics } from './journal-metrics.ts'
import { limiterMetrics } from './limiter-metrics.ts'
import { logMetrics } from './log-metrics.ts'
import { maintenanceMetrics } from './maintenance-metrics.ts'
import { processMetrics } from './process-metrics.ts'
import { RequestDurations } from './request-durations.ts'
import { storeMetrics } from './store-metrics.ts'

export interface MeteredDeps {
  store: Pick<Store, 'ping' | 'subjects' | 'ingest' | 'connections' | 'logHeldMs'>
  limiter: Omit<Limiter, 'close'>
  journal?: Pick<Journal, 'waitingLines'> | undefined
  /** How many lines of the log were dropped. */
  droppedLines(): number
  clock: Clock
  /** Of the program. */
  version: string
}

/** What measures a service. Its labels come from closed lists: none ever holds an id, an address, a key or a path. */
export interface Metrics {
  /** To be used in place of the ones that were handed in. */
  limiter: Omit<Limiter, 'close'>
  subjects: SubjectStore
  /** To be told of every request, and of the maintenance. */
  onAnswered: RequestDurations['note']
  maintenance: Omit<MaintenanceReports, 'onClockJumped'>
  /** Where a journal is kept. */
  journal?: Pick<JournalReports, 'onFailed'>
  /** Everything measured so far, as Prometheus reads it. */
  text(): Promise<string>
  stop(): void
}

export function openMetrics({ store, limiter, journal, droppedLines, clock, version }: MeteredDeps): Metrics {
  const registry = new Registry()
  const durations = new RequestDurations()
  const watchedLimiter = limiterMetrics(registry, limiter)
  const subjects = storeMetrics(registry, store, limiter)
  const maintenance = maintenanceMetrics(registry, clock)
  importMetrics(registry, store.ingest)
  logMetrics(registry, droppedLines)
  const { stop } = processMetrics(registry, clock, version)
  return {
    limiter: watchedLimiter,
    subjects,
    onAnswered: (route, method, status, durationMs) => durations.note(route, method, status, durationMs),
    maintenance,
    ...(journal && { journal: journalMetrics(registry, journal) }),
    text: async () => `${durations.text()}\n${await registry.metrics()}`,
    stop,
  }
}
