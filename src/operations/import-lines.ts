import { BadLine, parseImportLine } from '../domain/import-line.ts'
import type { IncomingRow, IngestCounts, IngestStore } from '../domain/ingest.ts'
import type { TrackerStore } from '../domain/tracker.ts'

/** How many rows share a transaction. */
const batchSize = 5_000

export interface ImportOptions {
  /** The tracker of lines that name none. */
  trackerId?: string
  /** Stop at the first bad line, with nothing of the running batch stored. */
  strict: boolean
  onBadLine(lineNumber: number, reason: string): void
}

/** What an import read, and what it added to the store. */
export interface ImportSummary extends IngestCounts {
  lines: number
  badLines: number
}

/** Stores lines of sessions and events in batches. Empty lines are passed over; bad ones are reported and skipped. */
export async function importLines(
  { ingest, trackers }: { ingest: IngestStore; trackers: TrackerStore },
  lines: AsyncIterable<string>,
  { trackerId, strict, onBadLine }: ImportOptions,
): Promise<ImportSummary> {
  const summary: ImportSummary = { lines: 0, badLines: 0, subjects: 0, sessions: 0, events: 0 }
  const knownTrackers = new Set<string>()
  let batch: IncomingRow[] = []

  async function requireTracker(id: string): Promise<void> {
    if (knownTrackers.has(id)) return
    if ((await trackers.find(id)) === null) throw new BadLine(`there is no tracker "${id}"`)
    knownTrackers.add(id)
  }

  async function store(): Promise<void> {
    const added = await ingest.ingest(batch)
    batch = []
    summary.subjects += added.subjects
    summary.sessions += added.sessions
    summary.events += added.events
  }

  for await (const line of lines) {
    summary.lines += 1
    if (line.trim() === '') continue
    try {
      const row = parseImportLine(line, trackerId)
      await requireTracker(row.trackerId)
      batch.push(row)
    } catch (error) {
      if (!(error instanceof BadLine)) throw error
      summary.badLines += 1
      onBadLine(summary.lines, error.message)
      if (strict) return summary
    }
    if (batch.length >= batchSize) await store()
  }
  if (batch.length > 0) await store()
  return summary
}
