import { createServer, type IncomingMessage } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { listen } from './listen.ts'
import { type ReceivedMetric, type ReceivedSpan, readMetrics, readSpans } from './otlp-messages.ts'
import type { Lifetime } from './service.ts'

/** A receiver of OTLP over HTTP. */
interface Collector {
  url: string
  /** The bodies, as sent. */
  bodies: Buffer[]
  spans: ReceivedSpan[]
  /** The metrics of the last export. */
  metrics: ReceivedMetric[]
  requests: { path: string | undefined; type: string | undefined }[]
  /** The status of its answers, or `never` to leave requests unanswered. */
  answers: number | 'never'
  /** The largest number of concurrent requests. */
  mostAtOnce: number
  /** The number of connections opened. */
  connections: number
  /** The environment that turns traces on and sends them here. */
  env: Record<string, string>
}

export async function startCollector(lifetime: Lifetime): Promise<Collector> {
  let open = 0
  const server = createServer(async (request, response) => {
    open++
    response.once('close', () => open--)
    collector.mostAtOnce = Math.max(open, collector.mostAtOnce)
    collector.requests.push({ path: request.url, type: request.headers['content-type'] })
    const { answers } = collector
    if (answers === 'never') return
    if (answers === 200) await take(request)
    else request.resume()
    response.writeHead(answers, { 'Content-Type': 'application/x-protobuf' }).end()
  })
  server.on('connection', () => {
    collector.connections++
  })
  const url = `http://127.0.0.1:${await listen(server)}`
  lifetime.after(() => {
    server.closeAllConnections()
    server.close()
  })
  const collector: Collector = {
    url,
    bodies: [],
    spans: [],
    metrics: [],
    requests: [],
    answers: 200,
    mostAtOnce: 0,
    connections: 0,
    env: { LETHE_OTLP: 'traces', OTEL_EXPORTER_OTLP_ENDPOINT: url },
  }
  return collector

  async function take(request: IncomingMessage): Promise<void> {
    const body = await buffer(request)
    collector.bodies.push(body)
    if (request.url === '/v1/traces') collector.spans.push(...readSpans(body))
    else collector.metrics = readMetrics(body)
  }
}
