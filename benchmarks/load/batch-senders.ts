// Sends batches in a separate thread, so that it does not delay the requests that are timed concurrently.
import { once } from 'node:events'
import { getPriority, setPriority } from 'node:os'
import { parentPort, Worker, workerData } from 'node:worker_threads'
import { asLine } from '../processes/import-file.ts'
import { tracker, visits } from '../stores/visits.ts'

interface Sending {
  url: string
  key: string
  /** The number of lines, sent in two halves. */
  lines: number
  linesEach: number
  senders: number
}

interface Sent {
  seconds: number
  p99Ms: number
}

export class BatchSenders {
  readonly #worker: Worker

  private constructor(worker: Worker) {
    this.#worker = worker
  }

  /** Resolves when the batches are ready to be sent. */
  static async prepare(sending: Sending): Promise<BatchSenders> {
    const worker = new Worker(new URL(import.meta.url), { workerData: sending })
    await once(worker, 'message')
    return new BatchSenders(worker)
  }

  /** Sends the first half of the lines, and then the second. Rejects if a batch is refused. */
  async sendHalf(): Promise<Sent> {
    this.#worker.postMessage('send')
    const [sent]: Sent[] = await once(this.#worker, 'message')
    if (!sent) throw new Error('The senders sent nothing.')
    return sent
  }

  async end(): Promise<void> {
    await this.#worker.terminate()
  }
}

function batchesOf({ lines, linesEach }: Sending): Buffer<ArrayBuffer>[] {
  const batches: Buffer<ArrayBuffer>[] = []
  let batch: string[] = []
  for (const row of visits(lines, 'by time')) {
    batch.push(asLine(row))
    if (batch.length < linesEach) continue
    batches.push(Buffer.from(batch.join('\n')))
    batch = []
  }
  if (batch.length > 0) batches.push(Buffer.from(batch.join('\n')))
  return batches
}

/** Sends every batch once; each sender has one request in flight. */
async function sendAll(
  { url, key, senders }: Sending,
  batches: readonly Buffer<ArrayBuffer>[],
): Promise<Sent> {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/x-ndjson' }
  const durations: number[] = []
  let next = 0
  async function sender(): Promise<void> {
    for (let body = batches[next++]; body; body = batches[next++]) {
      const from = performance.now()
      const response = await fetch(`${url}/v1/ingest/trackers/${tracker}/batches`, {
        method: 'POST',
        headers,
        body,
      })
      if (response.status !== 200) throw new Error(`${response.status}: ${await response.text()}`)
      await response.arrayBuffer()
      durations.push(performance.now() - from)
    }
  }
  const from = performance.now()
  await Promise.all(Array.from({ length: senders }, sender))
  const seconds = (performance.now() - from) / 1_000
  durations.sort((a, b) => a - b)
  return { seconds, p99Ms: durations[Math.floor(durations.length * 0.99)] ?? 0 }
}

const port = parentPort
if (port) {
  const sending: Sending = workerData
  // They represent clients on other machines, so measurements have priority.
  setPriority(Math.min(getPriority() + 10, 19))
  const batches = batchesOf(sending)
  const half = Math.ceil(batches.length / 2)
  const halves = [batches.slice(0, half), batches.slice(half)]
  port.on('message', async () => port.postMessage(await sendAll(sending, halves.shift() ?? [])))
  port.postMessage('ready')
}
