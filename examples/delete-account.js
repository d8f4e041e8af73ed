// A web application whose customers can delete their account, and with it what the analytics stored about them.
// node examples/delete-account.js, with LETHE_URL and LETHE_API_KEY (scope analytics:delete-data) in the environment.
import { LetheClient } from '@lethe/client'
import fastify from 'fastify'

/**
 * @typedef {object} Parts
 * @property {LetheClient} lethe
 * @property {string} trackerId
 * @property {Map<string, { visitorId: string }>} accounts your own database
 * @property {Set<string>} toErase visitors still to be erased; a table in that database, so that none is forgotten
 * @property {(request: import('fastify').FastifyRequest) => string | null} whoIs whose session this is, as your application knows it
 */

/** @param {Parts} parts */
export function buildApp({ lethe, trackerId, accounts, toErase, whoIs }) {
  const app = fastify()

  app.delete('/account', async (request, reply) => {
    const customer = whoIs(request)
    const account = customer === null ? undefined : accounts.get(customer)
    if (customer === null || !account) return reply.code(401).send({ error: 'Please sign in.' })
    // Both in one transaction of your database: from here on the visitor will be erased, whatever happens.
    accounts.delete(customer)
    toErase.add(account.visitorId)
    await workOff()
    return { deleted: true, analytics: toErase.has(account.visitorId) ? 'will be erased' : 'erased' }
  })

  /** Erases whoever waits for it. Safe to repeat; call it every few minutes. */
  async function workOff() {
    for (const visitorId of toErase) {
      try {
        await lethe.eraseSubject(trackerId, visitorId)
        toErase.delete(visitorId)
      } catch (error) {
        // The service is away, or the budget is used up: the next round does it.
        app.log.warn(error)
        return
      }
    }
  }

  return { app, workOff }
}

if (import.meta.main) {
  const { LETHE_URL: url = '', LETHE_API_KEY: apiKey = '' } = process.env
  const { app, workOff } = buildApp({
    // One attempt: a customer should not wait for a service that is away, and nothing is lost.
    lethe: new LetheClient({ url, apiKey, timeoutMs: 5_000, retry: { maxAttempts: 1 } }),
    trackerId: 'sample-shop',
    accounts: new Map([['ada', { visitorId: 'visitor-32060026' }]]),
    toErase: new Set(),
    // For trying it out alone: a header that anybody can send is no session.
    whoIs: ({ headers }) => (typeof headers['x-customer'] === 'string' ? headers['x-customer'] : null),
  })
  setInterval(workOff, 60_000).unref()
  console.log(`Listening on ${await app.listen({ port: Number(process.env.PORT ?? 3_000) })}`)
}
