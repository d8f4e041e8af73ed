// A web application (Express) that tracks the requests of visitors who agreed to it.
// node examples/track-requests-express.js, with LETHE_URL and LETHE_API_KEY (scope analytics:collect) in the environment.
import { randomUUID } from 'node:crypto'
import { LetheClient } from '@lethe/client'
import express from 'express'

/**
 * Middleware that tracks each request of a visitor as an event, once it is answered. It never delays a response, and it stores no
 * IP address and no URL: a URL can contain personal data, the pattern of the route cannot.
 *
 * @param {Pick<import('@lethe/client').Sender, 'track'>} sender
 * @returns {import('express').RequestHandler}
 */
export function trackRequests(sender) {
  return (request, response, next) => {
    const startedAt = performance.now()
    response.once('finish', () => {
      const visitorId = visitorOf(request.headers.cookie)
      // Visitors without the cookie have not agreed, or not yet.
      if (visitorId === null) return
      const route = request.route ? `${request.baseUrl}${request.route.path}` : 'unknown'
      const durationMs = Math.round(performance.now() - startedAt)
      sender.track({
        subjectId: visitorId,
        // One session a day. If your application has sessions, use their IDs.
        sessionId: `${visitorId}/${new Date().toISOString().slice(0, 10)}`,
        name: 'request',
        properties: { method: request.method, route, status: response.statusCode, durationMs },
      })
    })
    next()
  }
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

/** @param {Pick<import('@lethe/client').Sender, 'track'>} sender */
export function buildApp(sender) {
  const app = express()
  app.use(trackRequests(sender))
  app.get('/articles/:id', (request, response) => {
    response.send(`Article ${request.params.id}`)
  })
  app.post('/consent', (_, response) => {
    response.cookie('visitor', randomUUID(), { httpOnly: true, sameSite: 'lax', maxAge: 180 * 86_400_000 })
    response.sendStatus(204)
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
  const server = buildApp(sender).listen(Number(PORT))
  // Finish the requests that are running, then deliver their events.
  process.once('SIGTERM', () => server.close(() => sender.close()))
}
