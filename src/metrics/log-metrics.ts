import { Counter, type Registry } from 'prom-client'

/** Measures the log by how much of it was lost. */
export function logMetrics(registry: Registry, droppedLines: () => number): void {
  new Counter({
    name: 'lethe_log_lines_dropped_total',
    help: 'Lines of the log that were dropped, because standard output was full, closed, or not read.',
    registers: [registry],
    collect() {
      this.reset()
      this.inc(droppedLines())
    },
  })
}
