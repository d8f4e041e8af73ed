import type { IncomingBatch, IncomingRow } from '../domain/ingest.ts'
import { subjectKey } from '../domain/subject.ts'
import {
  countRefused,
  emptySummary,
  type IngestDeps,
  type IngestSummary,
  LineBatch,
  type LineBlock,
  type LineOptions,
} from './ingest.ts'

/** The size of a transaction. A subject of a larger batch is never split, so it can be exceeded. */
export const transactionRows = 20_000
/** The maximum size of a batch, which is stored in one or several transactions. */
export const maxBatchRows = 60_000
export const maxBatchText = 16 * 1024 * 1024
const nothing = { subjects: 0, sessions: 0, events: 0 }
/** A batch that is open for two ticks is stored, unless another still is, so that rows hardly wait. */
const tickMs = 450

export interface ImportOptions extends LineOptions {
  /** Stops at the first invalid line and discards the current batch. */
  strict?: boolean
}

/**
 * Stores lines in batches, reading the next batch while one is written. Skips empty lines; reports and skips
 * invalid ones. `summary` is updated continuously, so that it is valid after a failure.
 */
export async function importLines(
  deps: IngestDeps,
  blocks: AsyncIterable<LineBlock>,
  options: ImportOptions,
  summary: IngestSummary = emptySummary(),
): Promise<IngestSummary> {
  const { strict = false, dryRun = false } = options
  const openBatch = () => new LineBatch(deps, options, summary)
  let batch = openBatch()
  /** Whether a tick has found the batch open. */
  let wasSeen = false
  let storing = Promise.resolve()
  let isStoring = false
  let counted = { ...summary }

  const ingest = (rows: IncomingBatch) =>
    dryRun ? Promise.resolve(nothing) : deps.ingest.ingest(rows, deps.keyring.tombstoneKeys)

  /** Reports the lines refused since the last call to the store. */
  async function reportRefused(): Promise<void> {
    const before = counted
    counted = { ...summary }
    if (!dryRun) await countRefused(deps, summary, before)
  }

  /** Only one batch is being written, so that memory use stays constant. */
  async function handOver(): Promise<void> {
    const parts = byKeyRange(batch.takeRows())
    await storing
    isStoring = true
    storing = batch
      .store(parts, ingest)
      .then(reportRefused)
      .finally(() => {
        isStoring = false
      })
    // The next `await` reports a failure.
    storing.catch(() => {})
    batch = openBatch()
    wasSeen = false
  }

  /** A batch may fill more than a transaction while another is stored, because it would only wait. */
  function isFull(): boolean {
    const { rows, text } = batch
    const max = isStoring ? maxBatchRows : transactionRows
    return rows.length >= max || text >= maxBatchText
  }

  for await (const block of withTicks(blocks, tickMs)) {
    if (block === null) {
      if (wasSeen && !isStoring) await handOver()
      else wasSeen = true
      continue
    }
    let number = block.firstNumber
    for (const line of block.lines) {
      const added = batch.add(line, block.source, number++)
      const isValid = typeof added === 'boolean' ? added : await added
      if (!isValid && strict) {
        await storing
        await reportRefused()
        return summary
      }
      if (isFull()) await handOver()
    }
  }
  await handOver()
  await storing
  await reportRefused()
  return summary
}

/**
 * Splits a batch into transactions, each with a range of subject keys, by which tables are ordered. Lines in
 * no particular order would otherwise change most pages of a store in each transaction.
 */
function byKeyRange(rows: IncomingBatch): IncomingBatch[] {
  const count = Math.ceil(rows.length / transactionRows)
  if (count === 1) return [rows]
  const ranges: IncomingRow[][] = Array.from({ length: count }, () => [])
  for (const row of rows) {
    const [high = 0, low = 0] = subjectKey(row.trackerId, row.subjectId)
    ranges[Math.floor(((high * 256 + low) / 65_536) * count)]?.push(row)
  }
  return ranges
}

/** Yields the items, and `null` whenever a tick passes without one. */
export async function* withTicks<Item>(
  items: AsyncIterable<Item>,
  everyMs: number,
): AsyncGenerator<Item | null> {
  const iterator = items[Symbol.asyncIterator]()
  let wake = () => {}
  let arrived: Promise<IteratorResult<Item>> | null = null
  let isDue = false
  let timer: NodeJS.Timeout | undefined

  /** Awaits each item once; awaiting it again with each tick would leak memory until it arrives. */
  function ask(): void {
    const next = iterator.next()
    const onArrived = () => {
      arrived = next
      wake()
    }
    next.then(onArrived, onArrived)
  }

  /** The caller asks for the next item. */
  function take(): Promise<IteratorResult<Item>> | null {
    const taken = arrived
    arrived = null
    return taken
  }

  function tickLater(): void {
    isDue = false
    timer = setTimeout(() => {
      isDue = true
      wake()
    }, everyMs)
  }

  function nextChange(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    wake = resolve
    if (arrived !== null || isDue) resolve()
    return promise
  }

  try {
    ask()
    tickLater()
    for (;;) {
      await nextChange()
      const result = await take()
      if (result === null) {
        tickLater()
        yield null
      } else if (result.done) {
        return
      } else {
        yield result.value
        ask()
      }
    }
  } finally {
    clearTimeout(timer)
    // Not awaited, because it waits for a `next` that may never settle.
    iterator.return?.().catch(() => {})
  }
}
