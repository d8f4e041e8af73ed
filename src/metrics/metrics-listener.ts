import { once } from 'node:events'
import type { ServerOptions } from 'node:http'
import { openMetricsContentType, prometheusContentType } from 'prom-client'
import { acceptsOpenMetrics, toOpenMetrics } from './metrics.ts'

/** An `import` of node:http would also load Node's web APIs. */
const { createServer } = process.getBuiltinModule('node:http')

interface MetricsListenerDeps {
  host: string
  port: number
  timeouts: ServerOptions
  text(): Promise<string>
  onError(error: unknown): void
}

/** Serves only `GET /metrics`, on its own port, so that access can be restricted separately from the API. */
export async function openMetricsListener({ host, port, timeouts, text, onError }: MetricsListenerDeps) {
  const server = createServer(timeouts, (request, response) => {
    function answer(status: number, body: string, contentType = 'text/plain; charset=utf-8'): void {
      const headers = { 'Content-Type': contentType, 'Cache-Control': 'no-store', Vary: 'Accept' }
      response.writeHead(status, { ...headers, 'Content-Length': Buffer.byteLength(body) }).end(body)
    }
    const isRead = request.method === 'GET' || request.method === 'HEAD'
    if (!isRead || !/^\/metrics(\?|$)/.test(request.url ?? '')) {
      answer(404, 'Not found. The metrics are at /metrics.\n')
      return
    }
    const isOpenMetrics = acceptsOpenMetrics(request.headers.accept)
    text().then(
      (body) =>
        isOpenMetrics
          ? answer(200, toOpenMetrics(body), openMetricsContentType)
          : answer(200, body, prometheusContentType),
      (error) => {
        onError(error)
        answer(500, 'The metrics could not be read. See the log.\n')
      },
    )
  })
  server.listen({ host, port })
  await once(server, 'listening')
  const address = server.address()
  return {
    port: typeof address === 'object' && address !== null ? address.port : port,
    /** Interrupts scrapes, which Prometheus repeats. */
    async close(): Promise<void> {
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}
