import { Counter, Gauge, Histogram, type Registry } from 'prom-client'
import type { Clock, Instant } from '../domain/instant.ts'
import type { MaintenanceReports } from '../maintenance/maintenance.ts'

/** In seconds, from an empty sweep to a large backlog. */
const buckets = [0.001, 0.01, 0.1, 1, 10, 60, 300, 1_800]

export function maintenanceMetrics(
  registry: Registry,
  clock: Clock,
): Omit<MaintenanceReports, 'onClockJumped'> {
  const registers = [registry]
  const sweptRows = new Counter({
    name: 'lethe_swept_rows_total',
    help: 'Subjects, sessions, events, activity entries and closed requests that this process has swept.',
    labelNames: ['kind'],
    registers,
  })
  const sweeps = new Histogram({
    name: 'lethe_sweep_duration_seconds',
    help: 'Duration of the sweep passes of this process, by whether they were complete.',
    labelNames: ['outcome'],
    buckets,
    registers,
  })
  const scrubs = new Histogram({
    name: 'lethe_scrub_duration_seconds',
    help: 'Duration of the scrubs of this process.',
    buckets,
    registers,
  })
  const failures = new Counter({
    name: 'lethe_upkeep_failures_total',
    help: 'Failed sweeps and scrubs, which are retried.',
    registers,
  })
  const waiting = new Gauge({
    name: 'lethe_retention_windows_waiting',
    help: 'Retention windows that became shorter and do not delete yet.',
    registers,
  })
  for (const kind of ['subject', 'session', 'event', 'activity', 'request']) sweptRows.inc({ kind }, 0)
  for (const outcome of ['complete', 'incomplete']) sweeps.zero({ outcome })
  const noteComplete = lagMetrics(registry, clock)
  return {
    onWaitingWindows: (count) => waiting.set(count),
    onSwept({ swept, begunAt, durationMs, isComplete }) {
      sweptRows.inc({ kind: 'subject' }, swept.subjects)
      sweptRows.inc({ kind: 'session' }, swept.sessions)
      sweptRows.inc({ kind: 'event' }, swept.events)
      sweptRows.inc({ kind: 'activity' }, swept.activity)
      sweptRows.inc({ kind: 'request' }, swept.requests)
      sweeps.observe({ outcome: isComplete ? 'complete' : 'incomplete' }, durationMs / 1000)
      if (isComplete) noteComplete(begunAt)
    },
    onScrubbed: (durationMs) => scrubs.observe(durationMs / 1000),
    onError: () => failures.inc(),
  }
}

/**
 * A complete sweep deletes everything that had expired when it began, so nothing has waited longer than that.
 * Until its first complete sweep, a process exposes no lag, since another one may have swept.
 */
function lagMetrics(registry: Registry, clock: Clock): (begunAt: Instant) => void {
  let latest: Instant | null = null
  const lag = new Gauge({
    name: 'lethe_sweep_lag_seconds',
    help: 'Upper bound of how long expired data has been waiting: the time since the last complete pass of this process began.',
    registers: [registry],
    collect() {
      if (latest !== null) this.set(Math.max(0, clock() - latest) / 1000)
    },
  })
  const completed = new Gauge({
    name: 'lethe_sweep_completed_timestamp_seconds',
    help: 'End of the last complete pass of this process, in Unix time.',
    registers: [registry],
  })
  // Without labels, gauges start at 0.
  lag.remove()
  completed.remove()
  return (begunAt) => {
    latest = begunAt
    completed.set(clock() / 1000)
  }
}
