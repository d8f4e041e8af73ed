import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { pino } from 'pino'
import { readConfig } from '../../src/config.ts'
import { buildServer } from '../../src/http/build-server.ts'
import { clientAddress } from '../../src/http/client-address.ts'
import { publicPaths } from '../../src/http/public-routes.ts'
import { apiRoutes } from '../../src/http/routes/index.ts'
import { MemoryLimiter } from '../../src/limiter/memory-limiter.ts'
import { assertUnmetered, dataOf, errorOf } from '../support/answers.ts'
import { startShop } from '../support/shop.ts'

const shop = await startShop({ after }, { scopes: ['analytics:view'] })

describe('the public paths', () => {
  test('are these and no others', () => {
    assert.deepEqual(publicPaths, ['/healthz', '/readyz', '/v1/analytics/openapi.json'])
  })

  test('answer without a key, with one, and with a bad one', async () => {
    for (const path of publicPaths) {
      for (const credential of [{}, { key: shop.key }, { key: 'nonsense' }]) {
        const answer = await shop.ask(path, credential)
        assert.equal(answer.status, 200)
        assertUnmetered(answer)
        assert.equal(answer.headers.get('cache-control'), 'no-store')
        assert.equal(answer.headers.get('x-content-type-options'), 'nosniff')
      }
    }
  })

  test('say that the process lives and that the store answers', async () => {
    assert.deepEqual(dataOf(await shop.ask('/healthz')), { status: 'ok' })
    assert.deepEqual(dataOf(await shop.ask('/readyz')), { status: 'ready' })
  })

  test('take the id that a client chose', async () => {
    for (const path of publicPaths) {
      const answer = await shop.ask(path, { headers: { 'x-request-id': 'probe 7' } })
      assert.equal(answer.headers.get('x-request-id'), 'probe 7')
    }
  })

  test('are the only ones that need no key', async () => {
    for (const { method, path } of apiRoutes) {
      const filled = path.replace('{trackerId}', 'shop').replace('{subjectId}', 'anna')
      errorOf(await shop.ask(filled, { method }), 'unauthorized')
    }
    for (const path of [
      '/healthz/',
      '/readyz/x',
      '/v1/analytics/openapi.json/x',
      '/metrics',
      '/v1/openapi.json',
    ]) {
      errorOf(await shop.ask(path), 'unauthorized')
    }
  })
})

describe('a route with neither a scope nor a place on that list', () => {
  const buildUnstarted = () =>
    buildServer({
      services: shop.workplace,
      limiter: new MemoryLimiter(shop.workplace.clock),
      budgets: readConfig({}).budgets,
      addressOf: clientAddress([]),
      noteKeyUse: () => {},
      logger: pino({ level: 'silent' }),
      randomness: shop.workplace.randomness,
    })
  const handler = () => 'anything'

  for (const [what, route] of [
    ['no configuration', { url: '/v1/open' }],
    ['an empty configuration', { url: '/v1/open', config: {} }],
    ['a claim to be public', { url: '/v1/open', config: { isPublic: true } }],
    ['a path alone', { url: '/v1/open', config: { path: '/v1/open' } }],
  ] as const) {
    test(`stops the start: ${what}`, async () => {
      const app = buildUnstarted()
      assert.throws(() => app.route({ method: 'GET', handler, ...route }), /has no scope and is not public/)
      await app.close()
    })
  }

  test('stops the start in a plugin, too', async () => {
    const app = buildUnstarted()
    await assert.rejects(async () => {
      await app.register(async (inner) => {
        inner.get('/open', handler)
      })
      await app.ready()
    }, /has no scope and is not public/)
    await app.close()
  })
})
