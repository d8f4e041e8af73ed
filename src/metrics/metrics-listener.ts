import { once } from 'node:events'
import { createServer, type ServerOptions } from 'node:http'
import { prometheusContentType } from 'prom-client'

export interface MetricsListenerDeps {
  host: string
  port: number
  timeouts: ServerOptions
  /** Everything measured so far. */
  text(): Promise<string>
  onError(error: unknown): void
}

/** Serves `GET /metrics` and nothing else, apart from the API: whoever may reach the one need not reach the other. */
export async function openMetricsListener({ host, port, timeouts, text, onError }: MetricsListenerDeps) {
  const server = createServer(timeouts, (request, response) => {
    function answer(status: number, body: string, contentType = 'text/plain; charset=utf-8'): void {
      response.writeHead(status, { 'Content-Type': contentType, 'Cache-Control': 'no-store' }).end(body)
    }
    if (request.method !== 'GET' || !/^\/metrics(\?|$)/.test(request.url ?? '')) {
      answer(404, 'Not found. The metrics are at /metrics.\n')
      return
    }
    text().then(
      (body) => answer(200, body, prometheusContentType),
      (error) => {
        onError(error)
        answer(500, 'The metrics could not be read; the log tells why.\n')
      },
    )
  })
  server.listen({ host, port })
  await once(server, 'listening')
  const address = server.address()
  return {
    port: typeof address === 'object' && address !== null ? address.port : port,
    /** Immediately: a reading that is cut off is made up for by the next. */
    async close(): Promise<void> {
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}
