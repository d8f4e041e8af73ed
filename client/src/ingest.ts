import { type Batch, isBatch } from './api.ts'
import { exhaustedForMs } from './budget.ts'
import { compress } from './compress.ts'
import { encodeBatch, type IngestLine } from './ingest-line.ts'
import { batchesPath } from './request-parts.ts'
import type { Call, CallOptions, Transport } from './transport.ts'

/** What became of the lines of a batch. `refused` has the first 100 invalid ones. */
export interface IngestReport extends Batch {
  requestId: string
  /** How long to wait before the next batch, because a budget is used up; otherwise 0. */
  pauseMs: number
}

/** Sends a batch of lines, and repeats it after temporary failures: sending a batch again changes nothing. */
export async function ingest(
  transport: Transport,
  trackerId: string,
  lines: Iterable<IngestLine> | string,
  options: CallOptions,
): Promise<IngestReport> {
  const call = { ...options, ...(await batchCall(trackerId, lines)) }
  const { data, meta, budgets } = await transport.repeat(call)
  return { ...data, requestId: meta.requestId, pauseMs: exhaustedForMs(budgets) }
}

/** The request that sends a batch. */
export async function batchCall(
  trackerId: string,
  lines: Iterable<IngestLine> | string,
): Promise<Call<Batch>> {
  const path = batchesPath(trackerId)
  const payload = await compress(encodeBatch(lines), { 'content-type': 'application/x-ndjson' })
  return { method: 'POST', path, payload, isData: isBatch }
}
