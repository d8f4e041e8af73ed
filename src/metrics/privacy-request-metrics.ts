import { Gauge, type Registry } from 'prom-client'
import type { Clock } from '../domain/instant.ts'
import type { RequestReportStore } from '../domain/request-report.ts'
import { askStore } from '../operations/store-status.ts'

const soonMs = 7 * 86_400_000

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
      const due = await askStore(() => requestReports.countDue(now, now + soonMs)).catch(() => null)
      // Without an answer, there is no number: the last one may be wrong by now.
      this.reset()
      if (due === null) return
      this.set({ due: 'overdue' }, due.overdue)
      this.set({ due: 'within_7_days' }, due.soon)
    },
  })
}
