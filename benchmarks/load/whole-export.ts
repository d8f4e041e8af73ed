// Reads and discards the export of a subject in a separate thread, so that concurrent measurements do not
// wait for it.
import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import { setPriority } from 'node:os'
import { parentPort, Worker } from 'node:worker_threads'

const mark = Buffer.from('"eventId":')

interface WholeExport {
  tookMs: number
  firstMs: number
  bodyBytes: number
}

interface Wanted {
  url: string
  key: string
  /** The expected number of events or bytes; searching for events takes processor time from others. */
  expected: { events: number } | { bodyBytes: number }
}

/**
 * Reads exports one after the other. Started before measurements, because starting a thread blocks the
 * caller.
 */
export class Taker {
  readonly #worker = new Worker(new URL(import.meta.url))

  static async start(): Promise<Taker> {
    const taker = new Taker()
    await once(taker.#worker, 'online')
    return taker
  }

  /** Fails if the export is incomplete. */
  async take(wanted: Wanted): Promise<WholeExport> {
    this.#worker.postMessage(wanted)
    const [taken] = await once(this.#worker, 'message')
    return taken
  }

  async stop(): Promise<void> {
    await this.#worker.terminate()
  }
}

async function take({ url, key, expected }: Wanted): Promise<WholeExport> {
  const from = performance.now()
  const request = get(url, { headers: { authorization: `Bearer ${key}`, 'accept-encoding': 'identity' } })
  const [response]: IncomingMessage[] = await once(request, 'response')
  let [bodyBytes, found, firstMs] = [0, 0, Number.NaN]
  let end = Buffer.alloc(0)
  for await (const chunk of response ?? []) {
    if (bodyBytes === 0) firstMs = performance.now() - from
    bodyBytes += chunk.length
    if ('bodyBytes' in expected) continue
    const bytes = Buffer.concat([end, chunk])
    for (let at = bytes.indexOf(mark); at >= 0; at = bytes.indexOf(mark, at + mark.length)) found += 1
    end = bytes.subarray(-mark.length + 1)
  }
  const isWhole = 'events' in expected ? found === expected.events : bodyBytes === expected.bodyBytes
  if (!isWhole) throw new Error(`an export had ${bodyBytes} bytes and ${found} events`)
  return { tookMs: performance.now() - from, firstMs, bodyBytes }
}

if (parentPort) {
  const port = parentPort
  // It represents a client on another machine, so measurements have priority.
  setPriority(10)
  port.on('message', async (wanted: Wanted) => port.postMessage(await take(wanted)))
}
