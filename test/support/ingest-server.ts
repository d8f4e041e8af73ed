import { createServer, type IncomingHttpHeaders, type IncomingMessage } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { gunzipSync } from 'node:zlib'
import { listen } from './listen.ts'
import type { Lifetime } from './service.ts'

/** A batch that arrived, stored or not. */
interface ReceivedBatch {
  path: string
  headers: IncomingHttpHeaders
  /** The size of the body as sent. */
  bytes: number
  text: string
  lines: Record<string, unknown>[]
}

/** How the server handles a batch: whether it stores the lines, and how it answers, if at all. */
export interface BatchBehaviour {
  stores: boolean
  answer: 'reset' | 'silence' | { status: number; headers?: Record<string, string>; body?: string }
}

/** A server that accepts batches and fails on request, which the real one cannot be made to do. */
export interface IngestServer {
  url: string
  batches: ReceivedBatch[]
  /** The stored lines, each as often as it was stored. */
  stored: Record<string, unknown>[]
  /** Sets how the next batches are handled. All others are accepted. */
  next(...behaviours: BatchBehaviour[]): void
}

export function accepted(headers: Record<string, string> = {}): BatchBehaviour {
  return { stores: true, answer: { status: 200, headers } }
}

export const connectionReset: BatchBehaviour = { stores: false, answer: 'reset' }
export const answerLost: BatchBehaviour = { stores: true, answer: 'reset' }
export const neverAnswered: BatchBehaviour = { stores: false, answer: 'silence' }

const meta = { requestId: 'of-the-server', timestamp: '2026-11-15T12:00:00.000Z' }

/** A failure of the service. */
export function failed(status: number, code: string, headers: Record<string, string> = {}): BatchBehaviour {
  const body = JSON.stringify({ error: { code, message: `It is ${code}.` }, meta })
  return { stores: false, answer: { status, headers, body } }
}

/** A failure of a proxy in front of the service. */
export function proxyFailed(status: number): BatchBehaviour {
  return { stores: false, answer: { status, headers: { 'content-type': 'text/html' }, body: '<html>' } }
}

/** `judge` returns the reason why a line is refused, or `null` to accept it. */
export async function ingestServer(
  t: Lifetime,
  judge: (line: Record<string, unknown>) => string | null = () => null,
): Promise<IngestServer> {
  const batches: ReceivedBatch[] = []
  const stored: Record<string, unknown>[] = []
  const behaviours: BatchBehaviour[] = []
  function store({ path, lines }: ReceivedBatch): string {
    const refused = lines.flatMap((line, i) => {
      const message = 'notJson' in line ? 'not JSON' : judge(line)
      if (message === null) stored.push(line)
      return message === null ? [] : [{ line: i + 1, message }]
    })
    const trackerId = decodeURIComponent(path.split('/')[4] ?? '')
    const added = { subjects: 0, sessions: 0, events: lines.length - refused.length }
    const counts = { lines: lines.length, added, unchanged: 0, tooOld: 0, ofErased: 0 }
    const data = { trackerId, ...counts, refusedCount: refused.length, refused: refused.slice(0, 100) }
    return JSON.stringify({ data, meta })
  }
  const server = createServer(async (request, response) => {
    const batch = await receive(request).catch(() => null)
    if (batch === null) return
    batches.push(batch)
    const { stores, answer } = behaviours.shift() ?? accepted()
    const success = stores ? store(batch) : ''
    if (answer === 'reset') request.socket.resetAndDestroy()
    if (typeof answer === 'string') return
    response.writeHead(answer.status, { 'content-type': 'application/json', ...answer.headers })
    response.end(answer.body ?? success)
  })
  const port = await listen(server)
  t.after(() => {
    server.close()
    server.closeAllConnections()
  })
  return {
    ...{ url: `http://127.0.0.1:${port}`, batches, stored },
    next: (...more) => void behaviours.push(...more),
  }
}

async function receive(request: IncomingMessage): Promise<ReceivedBatch> {
  const body = await buffer(request)
  const text = String(request.headers['content-encoding'] === 'gzip' ? gunzipSync(body) : body)
  const lines = text.split('\n').filter((line) => line !== '')
  const { url: path = '', headers } = request
  return { path, headers, bytes: body.length, text, lines: lines.map(parse) }
}

function parse(line: string): Record<string, unknown> {
  try {
    return JSON.parse(line)
  } catch {
    return { notJson: line }
  }
}
