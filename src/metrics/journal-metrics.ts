import { Counter, Gauge, type Registry } from 'prom-client'
import type { Journal, JournalReports } from '../domain/journal.ts'

/** Measures a journal by what is told of it. */
export function journalMetrics(
  registry: Registry,
  journal: Pick<Journal, 'waitingLines'>,
): Pick<JournalReports, 'onFailed'> {
  const failures = new Counter({
    name: 'lethe_journal_failures_total',
    help: 'Writes to the journal that failed, to be tried again.',
    registers: [registry],
  })
  new Gauge({
    name: 'lethe_journal_lines_waiting',
    help: 'Lines that the journal lacks since a write to it failed.',
    registers: [registry],
    collect() {
      this.set(journal.waitingLines())
    },
  })
  return { onFailed: () => failures.inc() }
}
