import { Counter, Gauge, type Registry } from 'prom-client'
import type { Limiter } from '../domain/budget.ts'
import { type Clock, startOfDay } from '../domain/instant.ts'
import { NotWaiting } from '../domain/privacy-request.ts'
import { dueSoonMs } from '../domain/request-handling.ts'
import type { RequestReportStore } from '../domain/request-report.ts'
import type { Store } from '../domain/store.ts'
import type { SubjectStore } from '../domain/subject.ts'
import { askStore, checkReadiness } from '../operations/store-status.ts'

type Watched = Pick<Store, 'ping' | 'subjects' | 'connections' | 'logHeldMs'>

/** Returns a store of subjects that counts erasures. */
export function storeMetrics(
  registry: Registry,
  store: Watched,
  limiter: Pick<Limiter, 'isReachable'>,
): SubjectStore {
  new Gauge({
    name: 'lethe_store_reachable',
    help: 'Whether the store responds within two seconds and can be written to (1), or not (0).',
    registers: [registry],
    async collect() {
      this.set(
        await checkReadiness({ ping: () => store.ping() }, limiter).then(
          () => 1,
          () => 0,
        ),
      )
    },
  })
  if (store.connections) connectionMetrics(registry, store.connections)
  if (store.logHeldMs) logMetrics(registry, store.logHeldMs)
  return countErasures(registry, store.subjects)
}

function connectionMetrics(registry: Registry, connections: NonNullable<Store['connections']>): void {
  const gauges = {
    open: 'Open connections to the store.',
    busy: 'Busy connections to the store.',
    waiting: 'Requests waiting for a connection to the store.',
  }
  for (const state of ['open', 'busy', 'waiting'] as const) {
    new Gauge({
      name: `lethe_store_connections_${state}`,
      help: gauges[state],
      registers: [registry],
      collect() {
        this.set(connections()[state])
      },
    })
  }
}

function logMetrics(registry: Registry, logHeldMs: NonNullable<Store['logHeldMs']>): void {
  new Gauge({
    name: 'lethe_log_truncation_pending_seconds',
    help: 'How long readers in other processes have kept erased data in the write-ahead log, if longer than an erasure waits for them; otherwise 0.',
    registers: [registry],
    collect() {
      this.set(logHeldMs() / 1000)
    },
  })
}

function countErasures(registry: Registry, subjects: SubjectStore): SubjectStore {
  const erasures = new Counter({
    name: 'lethe_erasures_total',
    help: 'Erasures by outcome: data was erased, there was no data, or the erasure failed.',
    labelNames: ['outcome'],
    registers: [registry],
  })
  const rows = new Counter({
    name: 'lethe_erased_rows_total',
    help: 'Sessions and events that erasures reported as deleted.',
    labelNames: ['kind'],
    registers: [registry],
  })
  for (const outcome of ['erased', 'nothing_there', 'failed']) erasures.inc({ outcome }, 0)
  for (const kind of ['session', 'event']) rows.inc({ kind }, 0)
  return {
    ...subjects,
    async erase(...asked) {
      const erased = await subjects.erase(...asked).catch((error) => {
        if (!(error instanceof NotWaiting)) erasures.inc({ outcome: 'failed' })
        throw error
      })
      if (erased === null) return null
      const { counts } = erased
      erasures.inc({ outcome: counts.sessions + counts.events > 0 ? 'erased' : 'nothing_there' })
      rows.inc({ kind: 'session' }, counts.sessions)
      rows.inc({ kind: 'event' }, counts.events)
      return erased
    },
  }
}

/** Counts the requests of all organisations in the store, so every process exposes the same numbers. */
export function privacyRequestMetrics(
  registry: Registry,
  requestReports: Pick<RequestReportStore, 'countDue'>,
  clock: Clock,
): void {
  new Gauge({
    name: 'lethe_privacy_requests_due',
    help: 'Privacy requests that are not closed and are overdue, or due within 7 days.',
    labelNames: ['due'],
    registers: [registry],
    async collect() {
      const now = clock()
      const counting = () => requestReports.countDue(startOfDay(now), now + dueSoonMs)
      const due = await askStore(counting).catch(() => null)
      // Without an answer, there is no number: the last one may be wrong by now.
      this.reset()
      if (due === null) return
      this.set({ due: 'overdue' }, due.overdue)
      this.set({ due: 'within_7_days' }, due.soon)
    },
  })
}
