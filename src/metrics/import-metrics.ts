import { Counter, type Registry } from 'prom-client'
import { type IngestStore, type RefusedLines, refusalReasons } from '../domain/ingest.ts'
import { askStore } from '../operations/store/ask-store.ts'

/** Measures imports. They are processes of their own, so this is what the store counts, the same in every process that uses it. */
export function importMetrics(registry: Registry, ingest: Pick<IngestStore, 'refusedLines'>): void {
  let known: RefusedLines | null = null
  new Counter({
    name: 'lethe_lines_refused_total',
    help: 'Lines of imports into this store that were refused, by whatever process, by the reason.',
    labelNames: ['reason'],
    registers: [registry],
    async collect() {
      // A store that does not answer must not make a counter fall.
      known = await askStore(() => ingest.refusedLines()).catch(() => known)
      this.reset()
      for (const reason of known ? refusalReasons : []) this.inc({ reason }, known?.[reason])
    },
  })
}
