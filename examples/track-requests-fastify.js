// A web application (Fastify) that tracks the requests of visitors who agreed to it.
// node examples/track-requests-fastify.js, with LETHE_URL and LETHE_API_KEY (scope analytics:collect) in the environment.
import { randomUUID } from 'node:crypto'
import { LetheClient } from '@lethe/client'
import fastify from 'fastify'

/**
 * Tracks each request of a visitor as an event, once it is answered. It never delays a response, and it stores no IP address and no
 * URL: a URL can contain personal data, the pattern of the route cannot. When the application closes, the rest is delivered.
 *
 * @param {import('fastify').FastifyInstance} app
 * @param {Pick<import('@lethe/client').Sender, 'track' | 'close'>} sender
 */
export function trackRequests(app, sender) {
  app.addHook('onResponse', async (request, reply) => {
    const visitorId = visitorOf(request.headers.cookie)
    // Visitors without the cookie have not agreed, or not yet.
    if (visitorId === null) return
    sender.track({
      subjectId: visitorId,
      // One session a day. If your application has sessions, use their IDs.
      sessionId: `${visitorId}/${new Date().toISOString().slice(0, 10)}`,
      name: 'request',
      properties: {
        method: request.method,
        route: request.routeOptions.url ?? 'unknown',
        status: reply.statusCode,
        durationMs: Math.round(reply.elapsedTime),
      },
    })
  })
  app.addHook('onClose', async () => {
    await sender.close()
  })
}

/**
 * The random ID in the cookie `visitor`, which `POST /consent` sets; `null` without one.
 *
 * @param {string | undefined} cookies
 */
function visitorOf(cookies = '') {
  const [, id = null] = /(?:^|;\s*)visitor=([0-9a-f-]{36})(?:;|$)/.exec(cookies) ?? []
  return id
}

/** @param {Pick<import('@lethe/client').Sender, 'track' | 'close'>} sender */
export function buildApp(sender) {
  const app = fastify()
  trackRequests(app, sender)
  app.get(
    '/articles/:id',
    async (/** @type {import('fastify').FastifyRequest<{ Params: { id: string } }>} */ request) => {
      return `Article ${request.params.id}`
    },
  )
  app.post('/consent', async (_, reply) => {
    const attributes = `Max-Age=${180 * 86_400}; Path=/; HttpOnly; SameSite=Lax`
    return reply.header('set-cookie', `visitor=${randomUUID()}; ${attributes}`).code(204).send()
  })
  return app
}

if (import.meta.main) {
  const {
    LETHE_URL: url = '',
    LETHE_API_KEY: apiKey = '',
    TRACKER = 'sample-shop',
    PORT = '3000',
  } = process.env
  const sender = new LetheClient({ url, apiKey }).sender(TRACKER, {
    onError: (error) => console.error(error.message),
    onRefused: ({ count, lines: [first] }) => console.error(`${count} events refused: ${first?.message}`),
    onDropped: ({ count, reason }) => console.error(`${count} events lost: ${reason}`),
  })
  const app = buildApp(sender)
  await app.listen({ port: Number(PORT) })
  // Finishes the requests that are running, then delivers their events.
  process.once('SIGTERM', () => app.close())
}
