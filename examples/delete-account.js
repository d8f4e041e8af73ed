// A web application whose customers can delete their account together with their analytics data.
// node examples/delete-account.js, with LETHE_URL and LETHE_API_KEY (scope analytics:delete-data) in the environment.
import { mkdirSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { ApiError, ClientError, LetheClient } from '@lethe/client'
import fastify from 'fastify'

/**
 * Your own database: accounts, and the visitors who are not erased yet. Both survive a restart, so nobody is forgotten.
 *
 * @param {string} file
 */
export function openAccounts(file) {
  const db = new DatabaseSync(file)
  db.exec(`CREATE TABLE IF NOT EXISTS accounts (customer TEXT PRIMARY KEY, visitor_id TEXT NOT NULL);
    CREATE TABLE IF NOT EXISTS erasures (visitor_id TEXT PRIMARY KEY)`)
  const find = db.prepare('SELECT visitor_id FROM accounts WHERE customer = ?')
  const waiting = db.prepare('SELECT visitor_id FROM erasures')
  return {
    /** @type {(customer: string, visitorId: string) => void} */
    add: (customer, visitorId) =>
      void db.prepare('INSERT OR IGNORE INTO accounts VALUES (?, ?)').run(customer, visitorId),
    /** @type {(customer: string) => string | null} */
    visitorOf: (customer) => find.get(customer)?.visitor_id?.toString() ?? null,
    /** Both in one transaction: once the account is gone, the visitor will be erased, whatever happens. */
    remove(/** @type {string} */ customer) {
      db.exec('BEGIN IMMEDIATE')
      db.prepare('INSERT OR IGNORE INTO erasures SELECT visitor_id FROM accounts WHERE customer = ?').run(
        customer,
      )
      db.prepare('DELETE FROM accounts WHERE customer = ?').run(customer)
      db.exec('COMMIT')
    },
    /** @type {() => string[]} */
    toErase: () => waiting.all().map((row) => String(row.visitor_id)),
    /** @type {(visitorId: string) => void} */
    erased: (visitorId) => void db.prepare('DELETE FROM erasures WHERE visitor_id = ?').run(visitorId),
    close: () => db.close(),
  }
}

/**
 * @typedef {object} Parts
 * @property {LetheClient} lethe
 * @property {string} trackerId
 * @property {ReturnType<typeof openAccounts>} accounts
 * @property {(request: import('fastify').FastifyRequest) => string | null} whoIs whose session this is, as your application knows it
 * @property {import('fastify').FastifyServerOptions['logger']} [logger]
 */

/** @param {Parts} parts */
export function buildApp({ lethe, trackerId, accounts, whoIs, logger = true }) {
  const app = fastify({ logger })

  app.delete('/account', async (request, reply) => {
    const customer = whoIs(request)
    const visitorId = customer === null ? null : accounts.visitorOf(customer)
    if (customer === null || visitorId === null) return reply.code(401).send({ error: 'Please sign in.' })
    accounts.remove(customer)
    const outcome = await erase(visitorId)
    if (outcome === 'erased') return { deleted: true, analytics: 'erased' }
    // Do not promise an erasure that needs somebody to act first.
    const analytics = outcome === 'failed' ? 'will be erased' : 'not erased yet, our team will do it'
    return reply.code(202).send({ deleted: true, analytics })
  })

  /**
   * Erases a waiting visitor. If that fails, the visitor stays in the list, and the log says why, without the ID: a log must not outlive an erasure.
   *
   * @param {string} visitorId
   * @returns {Promise<'erased' | 'failed' | 'refused' | 'impossible'>}
   */
  async function erase(visitorId) {
    try {
      await lethe.eraseSubject(trackerId, visitorId)
      accounts.erased(visitorId)
      return 'erased'
    } catch (error) {
      const facts = { ...factsOf(error), trackerId, waiting: accounts.toErase().length }
      // The service is unreachable or overloaded, or the budget is used up: try again later.
      if (error instanceof ClientError && error.isWorthRepeating) {
        app.log.warn(facts, 'an erasure failed and is tried again')
        return 'failed'
      }
      // Anything else needs a person: alert on this line.
      app.log.error(facts, 'an erasure is refused: check the tracker, the key and its scope, the id')
      return isAboutTheId(error) ? 'impossible' : 'refused'
    }
  }

  /** Erases the visitors in the list, and stops at an error that the next one would meet too. Safe to repeat. */
  async function workOff() {
    for (const visitorId of accounts.toErase()) {
      const outcome = await erase(visitorId)
      if (outcome === 'failed' || outcome === 'refused') return
    }
  }

  return { app, workOff }
}

/** @param {unknown} error */
function factsOf(error) {
  const requestId = error instanceof ClientError ? error.requestId : null
  return { reason: error instanceof Error ? error.message : String(error), requestId }
}

/**
 * Whether the service, or the client, refuses this ID in particular; others may be accepted.
 *
 * @param {unknown} error
 */
function isAboutTheId(error) {
  return error instanceof TypeError || (error instanceof ApiError && error.code === 'validation_error')
}

if (import.meta.main) {
  const {
    LETHE_URL: url = '',
    LETHE_API_KEY: apiKey = '',
    TRACKER = 'sample-shop',
    PORT = '3000',
  } = process.env
  mkdirSync('data', { recursive: true })
  const accounts = openAccounts('data/accounts.db')
  accounts.add('ada', 'visitor-32060026')
  const { app, workOff } = buildApp({
    // One attempt: a customer should not wait for an unreachable service, and nothing is lost.
    lethe: new LetheClient({ url, apiKey, timeoutMs: 5_000, retry: { maxAttempts: 1 } }),
    trackerId: TRACKER,
    accounts,
    // For a demonstration only: a header that anyone can send is not a session.
    whoIs: ({ headers }) => (typeof headers['x-customer'] === 'string' ? headers['x-customer'] : null),
  })
  await app.listen({ port: Number(PORT) })
  // Immediately, for those left from the last run, and then every minute.
  for (;;) {
    await workOff()
    await new Promise((resolve) => setTimeout(resolve, 60_000))
  }
}
