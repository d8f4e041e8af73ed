import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { readConfig } from '../../src/config.ts'
import { createTokenString } from '../../src/domain/variable-token.ts'
import { apiRoutes } from '../../src/http/api/routes.ts'
import { deleteTracker } from '../../src/operations/tracker.ts'
import { editVariables } from '../../src/operations/variable.ts'
import {
  authenticateVariableToken,
  createVariableToken,
  revokeVariableToken,
  rotateVariableToken,
} from '../../src/operations/variable-token.ts'
import { openServices } from '../../src/start.ts'
import { dataOf, errorOf } from '../support/answers.ts'
import { heapUsed } from '../support/collect-garbage.ts'
import { emptyStore } from '../support/empty-store.ts'
import { inReverse } from '../support/in-reverse.ts'
import { startTestService } from '../support/service.ts'
import { startShop } from '../support/shop.ts'
import { testSecretFile } from '../support/test-keyring.ts'

const lifetime = inReverse({ after })
const env = {
  LETHE_STORE: await emptyStore(lifetime),
  LETHE_SECRET_FILE: testSecretFile(),
  LETHE_LIMIT_IP: '100000/minute',
}
const shop = await startShop(lifetime, { env, scopes: ['analytics:view', 'analytics:delete-data'] })
const { services } = shop
/** Another process with the same store. */
const other = await openServices(readConfig(env))
lifetime.after(() => other.close())

let count = 0
async function newTracker(): Promise<{ trackerId: string; id: string; token: string }> {
  const trackerId = `tracker-${++count}`
  await shop.createTracker(shop.organisationId, trackerId)
  const { token, tokenString } = await createVariableToken(services, { trackerId, name: 'website' })
  return { trackerId, id: token.id, token: tokenString }
}

function set(trackerId: string, values: Record<string, unknown>, changing = services) {
  return editVariables(changing, trackerId, { apply: () => new Map(Object.entries(values)) })
}

const read = (token: string, options?: Parameters<typeof shop.ask>[1]) =>
  shop.ask(`/v1/variables?token=${token}`, options)

describe('reading variables', () => {
  test('returns all variables of the tracker with their version', async () => {
    const { trackerId, token } = await newTracker()
    assert.deepEqual(dataOf(await read(token)), { variables: {}, version: 0 })
    const values = { b: [1, { 'ä "': null }], a: '🦦 \u0000', constructor: false }
    await set(trackerId, values)
    assert.deepEqual(dataOf(await read(token)), { variables: values, version: 1 })
  })

  test('returns a tag, with which unchanged variables return 304 without a body', async () => {
    const { trackerId, token } = await newTracker()
    await set(trackerId, { long: 'x'.repeat(5_000) })
    const etag = (await read(token)).headers.get('etag') ?? ''
    assert.match(etag, /^"[0-9a-f]{32}"$/)
    for (const known of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
      const answer = await read(token, { headers: { 'if-none-match': known } })
      assert.deepEqual([answer.status, answer.body, answer.headers.get('etag')], [304, null, etag], known)
      assert.equal(answer.headers.get('vary'), 'Accept-Encoding')
      assert.equal(answer.headers.get('content-type'), null)
    }
    assert.equal((await read(token, { method: 'HEAD' })).headers.get('etag'), etag)
    await set(trackerId, { long: 'y' })
    const changed = await read(token, { headers: { 'if-none-match': etag } })
    assert.equal(dataOf(changed).version, 2)
    assert.notEqual(changed.headers.get('etag'), etag)
  })

  test('is possible from pages of any origin, and does not leak the token in the referrer', async () => {
    const { token } = await newTracker()
    const answers = [await read(token), await read('nonsense'), await shop.ask('/v1/variables')]
    for (const { headers } of answers) {
      assert.equal(headers.get('access-control-allow-origin'), '*')
      assert.equal(headers.get('referrer-policy'), 'no-referrer')
      assert.equal(headers.get('cache-control'), 'no-store')
      assert.match(headers.get('access-control-expose-headers') ?? '', /ETag.*Retry-After/)
    }
    const preflight = await fetch(`${shop.url}/v1/variables?token=${token}`, {
      method: 'OPTIONS',
      headers: { origin: 'https://shop.example', 'access-control-request-method': 'GET' },
    })
    assert.equal(preflight.status, 204)
    assert.equal(preflight.headers.get('access-control-allow-headers'), 'If-None-Match, X-Request-Id')
    assert.equal(preflight.headers.get('x-ratelimit-limit'), null)
    const managed = await shop.ask('/v1/analytics/ledger', { key: shop.key })
    assert.equal(managed.headers.get('access-control-allow-origin'), null)
  })

  test('returns nothing of another tracker, in the same organisation or another', async () => {
    const [mine, sibling] = [await newTracker(), await newTracker()]
    await set(mine.trackerId, { mine: true })
    await set(sibling.trackerId, { sibling: true })
    assert.deepEqual(dataOf(await read(mine.token)).variables, { mine: true })
    assert.deepEqual(dataOf(await read(sibling.token)).variables, { sibling: true })
  })
})

describe('an invalid token', () => {
  test('returns a 401 without a reason', async () => {
    const [revoked, rotated, deleted] = [await newTracker(), await newTracker(), await newTracker()]
    await revokeVariableToken(services, revoked.id, 'website')
    await rotateVariableToken(services, rotated.id)
    await deleteTracker(services, deleted.trackerId, deleted.trackerId)
    const unknown = createTokenString(services.randomness.base62(16), services.randomness)
    const damaged = `${rotated.token.slice(0, -1)}${rotated.token.endsWith('0') ? '1' : '0'}`
    const [ofDeleted, ofRevoked, replaced] = [deleted.token, revoked.token, rotated.token]
    const invalid = { unknown, damaged, key: shop.key, ofRevoked, replaced, ofDeleted }
    const messages = new Set<unknown>()
    for (const [what, token] of Object.entries(invalid)) {
      const answer = await read(token)
      messages.add(errorOf(answer, 'unauthorized').message)
      assert.equal(answer.headers.get('www-authenticate'), 'Bearer realm="lethe"', what)
      assert.ok(!JSON.stringify(answer.body).includes(token), what)
    }
    assert.deepEqual([...messages], ['This is not a valid variable token.'])
    for (const query of ['', '?token', '?token=', '?Token=x', '?token=%zz']) {
      const { message } = errorOf(await shop.ask(`/v1/variables${query}`), 'unauthorized')
      assert.match(String(message), /^No variable token was sent/, query)
    }
  })

  test('may be an API key in its header', async () => {
    errorOf(await shop.ask('/v1/variables', { key: shop.key }), 'unauthorized')
  })

  // The memory that remains does not depend on the store, and PostgreSQL is slower.
  const [unread, lookedUp] = process.env.LETHE_TEST_STORE === 'postgres' ? [450, 100] : [45_000, 10_000]
  const random = (2 * unread + lookedUp).toLocaleString('en')
  test(`is looked up only if it is well-formed, and ${random} random ones leave little in memory`, async () => {
    let lookups = 0
    const { variableTokens, randomness } = services
    const counting = {
      variableTokens: {
        ...variableTokens,
        findReader(id: string) {
          lookups += 1
          return variableTokens.findReader(id)
        },
      },
    }
    const secret = randomness.base62(38)
    const tokenOf = (id: string) => createTokenString(id, { ...randomness, base62: () => secret.slice(6) })
    const idOf = (i: number) => String(i).padStart(16, '0')
    const refuse = async (text: string) => assert.equal(await authenticateVariableToken(counting, text), null)
    const before = heapUsed()
    for (let i = 0; i < unread; i++) {
      await refuse(`lethevar_${idOf(i)}_${secret}`)
      await refuse(tokenOf(idOf(i)).slice(0, i % 64))
    }
    assert.equal(lookups, 0)
    for (let i = 0; i < lookedUp; i++) await refuse(tokenOf(idOf(i)))
    assert.equal(lookups, lookedUp)
    const grown = heapUsed() - before
    assert.ok(grown < 5_000_000, `${grown} bytes more`)
  })
})

describe('a variable token on the management API', () => {
  for (const { method, path } of apiRoutes) {
    test(`returns 401 for ${method} ${path}`, async () => {
      const { token } = await newTracker()
      const target = path.replaceAll(/\{\w+\}/g, 'x')
      errorOf(await shop.ask(target, { method, key: token }), 'unauthorized')
      errorOf(await shop.ask(`${target}?token=${token}`, { method }), 'unauthorized')
    })
  }
})

describe('an invalid request for variables', () => {
  test('returns 422 with each parameter, after the token is checked', async () => {
    const { token } = await newTracker()
    const unknown = errorOf(await read(`${token}&names=a`), 'validation_error')
    assert.deepEqual(unknown.details, [
      { field: 'names', message: 'names is not a parameter of this request' },
    ])
    errorOf(await shop.ask('/v1/variables?token=x&names=a'), 'unauthorized')
  })

  test('returns 422 if it has two tokens, valid or not', async () => {
    const [mine, other] = [await newTracker(), await newTracker()]
    for (const tokens of [
      [mine.token, mine.token],
      [mine.token, other.token],
      [mine.token, 'x'],
      ['x', mine.token],
      ['', mine.token],
    ]) {
      const { details } = errorOf(await read(tokens.join('&token=')), 'validation_error')
      assert.deepEqual(details, [{ field: 'token', message: 'token must be given once' }])
    }
  })

  test('returns 400 for another method, and 404 on another path of the service', async () => {
    const { token } = await newTracker()
    const answer = await read(token, { method: 'POST' })
    errorOf(answer, 'invalid_request')
    assert.equal(answer.headers.get('allow'), 'GET, HEAD, OPTIONS')
    errorOf(await shop.ask(`/v1/variables/x?token=${token}`), 'unauthorized')
    errorOf(await shop.ask('/v1/variables/x', { key: shop.key }), 'not_found')
  })
})

describe('the budget of a token', () => {
  test('is per token, stated in the headers, and ends with a 429', async (t) => {
    const tight = await startTestService(t, { LETHE_LIMIT_IP: '60/minute', LETHE_LIMIT_VARIABLES: '2/hour' })
    const organisationId = await tight.createOrganisation()
    await tight.createTracker(organisationId, 'shop')
    const [first, second] = await Promise.all(
      ['a', 'b'].map((name) => createVariableToken(tight.services, { trackerId: 'shop', name })),
    )
    assert.ok(first && second)
    const ask = (token: string) => tight.ask(`/v1/variables?token=${token}`)
    const { headers } = await ask(first.tokenString)
    assert.equal(headers.get('ratelimit-policy'), '"ip";q=60;w=60, "variables";q=2;w=3600')
    assert.equal(headers.get('x-ratelimit-remaining'), '1')
    await ask(first.tokenString)
    const refused = await ask(first.tokenString)
    errorOf(refused, 'rate_limited')
    assert.ok(Number(refused.headers.get('retry-after')) > 3_000)
    dataOf(await ask(second.tokenString))
    // A new token string does not refill it.
    const { tokenString } = await rotateVariableToken(tight.services, first.token.id)
    errorOf(await ask(tokenString), 'rate_limited')
  })
})

describe('a change applies to the very next request:', () => {
  for (const [where, changing] of [
    ['by this process', services],
    ['by another process on the same store', other],
  ] as const) {
    test(`variables, ${where}`, async () => {
      const { trackerId, token } = await newTracker()
      for (let i = 1; i <= 20; i++) {
        await set(trackerId, { i }, changing)
        assert.deepEqual(dataOf(await read(token)), { variables: { i }, version: i })
      }
    })

    test(`the token, ${where}`, async () => {
      const { id, token: old } = await newTracker()
      dataOf(await read(old))
      const { tokenString } = await rotateVariableToken(changing, id)
      errorOf(await read(old), 'unauthorized')
      dataOf(await read(tokenString))
      await revokeVariableToken(changing, id, 'website')
      errorOf(await read(tokenString), 'unauthorized')
    })
  }
})

describe('a separate port for the Variables API', () => {
  test('serves only that API, which the main port no longer serves', async (t) => {
    const apart = await startTestService(t, { LETHE_VARIABLES_PORT: '0' })
    const organisationId = await apart.createOrganisation()
    await apart.createTracker(organisationId, 'shop')
    const { keyString } = await apart.createKey(organisationId, ['analytics:view'])
    const { tokenString } = await createVariableToken(apart.services, { trackerId: 'shop', name: 'web' })
    const own = apart.variablesUrl ?? ''
    const statusOf = async (url: string, headers = {}) => (await fetch(url, { headers })).status
    const key = { authorization: `Bearer ${keyString}` }
    const managed = '/v1/analytics/trackers/shop/subjects'
    assert.equal(await statusOf(`${own}/v1/variables?token=${tokenString}`), 200)
    assert.equal(await statusOf(`${own}/v1/variables/openapi.json`), 200)
    assert.equal(await statusOf(`${own}/readyz`), 200)
    assert.equal(await statusOf(`${own}${managed}`, key), 401)
    assert.equal(await statusOf(`${own}${managed}?token=${tokenString}`), 404)
    assert.equal(await statusOf(`${own}/console`), 401)
    assert.equal(await statusOf(`${apart.url}${managed}`, key), 200)
    assert.equal(await statusOf(`${apart.url}/v1/variables?token=${tokenString}`), 401)
    assert.equal(await statusOf(`${apart.url}/v1/variables?token=${tokenString}`, key), 404)
  })
})
