import { Counter, Gauge, Registry } from 'prom-client'
import type { Limiter } from '../domain/budget.ts'
import { type IngestStore, type RefusedLines, refusalReasons } from '../domain/ingest.ts'
import type { Clock } from '../domain/instant.ts'
import type { Journal, JournalReports } from '../domain/journal.ts'
import { andThen } from '../domain/maybe-promise.ts'
import type { Store } from '../domain/store.ts'
import type { SubjectStore } from '../domain/subject.ts'
import type { MaintenanceReports } from '../maintenance/maintenance.ts'
import { askStore } from '../operations/store-status.ts'
import { maintenanceMetrics } from './maintenance-metrics.ts'
import { processMetrics } from './process-metrics.ts'
import { RequestDurations } from './request-metrics.ts'
import { privacyRequestMetrics, storeMetrics } from './store-metrics.ts'

interface MeteredDeps {
  store: Pick<Store, 'ping' | 'subjects' | 'ingest' | 'requestReports' | 'connections' | 'logHeldMs'>
  limiter: Omit<Limiter, 'close'>
  journal?: Pick<Journal, 'waitingLines'> | undefined
  droppedLines(): number
  clock: Clock
  version: string
}

/** Labels come from fixed lists; none contains an ID, an address, a key or a path. */
export interface Metrics {
  /** Measured versions of the given ones. */
  limiter: Omit<Limiter, 'close'>
  subjects: SubjectStore
  onAnswered: RequestDurations['note']
  maintenance: Omit<MaintenanceReports, 'onClockJumped'>
  /** Present if there is a journal. */
  journal?: Pick<JournalReports, 'onFailed'>
  /** In the Prometheus text format. */
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
  privacyRequestMetrics(registry, store.requestReports, clock)
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

/** Whether the client prefers OpenMetrics, which it must name explicitly. */
export function acceptsOpenMetrics(accept = ''): boolean {
  let [plain, open] = [0, 0]
  for (const range of accept.split(',')) {
    const [type = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase())
    const value = (name: string) =>
      parameters.find((each) => each.startsWith(`${name}=`))?.slice(name.length + 1)
    const weight = Number(value('q') ?? 1)
    if (type === 'application/openmetrics-text' && (value('version') ?? '1.0.0') === '1.0.0')
      open = Math.max(open, weight)
    if (type === 'text/plain') plain = Math.max(plain, weight)
  }
  return open > plain
}

/**
 * Converts Prometheus text to OpenMetrics: no empty lines, an end marker, and counters declared without
 * `_total`. prom-client's own conversion permanently renames the counters.
 */
export function toOpenMetrics(text: string): string {
  const lines = text.split('\n').filter((line) => line !== '')
  const counters = new Set(lines.map((line) => /^# TYPE (\w+_total) counter$/.exec(line)?.[1]))
  const announced = lines.map((line) => {
    const [, keyword, name = '', rest] = /^# (HELP|TYPE) (\w+) (.*)$/.exec(line) ?? []
    return counters.has(name) ? `# ${keyword} ${name.slice(0, -'_total'.length)} ${rest}` : line
  })
  return `${announced.join('\n')}\n# EOF\n`
}

/** Imports run in other processes, so this exposes the store's count, which is the same in every process. */
function importMetrics(registry: Registry, ingest: Pick<IngestStore, 'refusedLines'>): void {
  let known: RefusedLines | null = null
  new Counter({
    name: 'lethe_lines_refused_total',
    help: 'Refused lines of all imports and batches into this store, by reason.',
    labelNames: ['reason'],
    registers: [registry],
    async collect() {
      // A counter must not fall if the store does not respond.
      known = await askStore(() => ingest.refusedLines()).catch(() => known)
      this.reset()
      for (const reason of known ? refusalReasons : []) this.inc({ reason }, known?.[reason])
    },
  })
}

function journalMetrics(
  registry: Registry,
  journal: Pick<Journal, 'waitingLines'>,
): Pick<JournalReports, 'onFailed'> {
  const failures = new Counter({
    name: 'lethe_journal_failures_total',
    help: 'Failed writes to the journal, which are retried.',
    registers: [registry],
  })
  new Gauge({
    name: 'lethe_journal_lines_waiting',
    help: 'Lines missing from the journal since a failed write.',
    registers: [registry],
    collect() {
      this.set(journal.waitingLines())
    },
  })
  return { onFailed: () => failures.inc() }
}

export function logMetrics(registry: Registry, droppedLines: () => number): void {
  new Counter({
    name: 'lethe_log_lines_dropped_total',
    help: 'Log lines dropped because standard output was full, closed or not read.',
    registers: [registry],
    collect() {
      this.reset()
      this.inc(droppedLines())
    },
  })
}

type Watched = Omit<Limiter, 'close'>

/** Returns a limiter that counts refusals. */
export function limiterMetrics(registry: Registry, limiter: Watched): Watched {
  const refusals = new Counter({
    name: 'lethe_budget_refusals_total',
    help: 'Requests refused by a budget, by its name.',
    labelNames: ['budget'],
    registers: [registry],
  })
  for (const budget of ['ip', 'key', 'erasure', 'variables']) refusals.inc({ budget }, 0)
  new Gauge({
    name: 'lethe_limiter_reachable',
    help: 'Whether the limiter can be reached (1), or this process counts in memory (0).',
    registers: [registry],
    collect() {
      this.set(limiter.isReachable() ? 1 : 0)
    },
  })
  return {
    take: (budget, bucketKey, waitBudget) =>
      andThen(limiter.take(budget, bucketKey, waitBudget), (state) => {
        if (!state.granted) refusals.inc({ budget: budget.name })
        return state
      }),
    isReachable: () => limiter.isReachable(),
  }
}
