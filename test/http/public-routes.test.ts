import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, describe, test } from 'node:test'
import { apiRoutes } from '../../src/http/api/routes.ts'
import { publicPaths } from '../../src/http/public-routes.ts'
import type { Access, Route } from '../../src/http/request-context.ts'
import { defineRoute } from '../../src/http/route.ts'
import { buildRouter } from '../../src/http/router.ts'
import { assertUnmetered, dataOf, errorOf } from '../support/answers.ts'
import { startShop } from '../support/shop.ts'

const shop = await startShop({ after }, { scopes: ['analytics:view'] })

/** The paths that use the envelope; reference.test.ts and test/console cover the others. */
const apiPaths = ['/healthz', '/readyz', '/v1/analytics/openapi.json', '/v1/variables/openapi.json']

describe('the public paths', () => {
  test('are these and no others', () => {
    assert.deepEqual(publicPaths, [
      ...apiPaths,
      '/docs',
      '/docs/reference.css',
      '/docs/reference.js',
      '/docs/icon.svg',
      '/verify',
      '/',
      '/console',
      '/console/*',
      '/console/api/*',
      '/console/api/sign-in',
      '/console/api/sign-in/second-factor',
      '/console/api/sign-in/passkey/options',
      '/console/api/sign-in/passkey',
      '/console/api/single-sign-on',
      '/console/api/single-sign-on/finish',
      '/console/api/invitation',
      '/console/api/invitation/accept',
    ])
  })

  test('respond without a key, with a valid one and with an invalid one', async () => {
    for (const path of apiPaths) {
      for (const credential of [{}, { key: shop.key }, { key: 'nonsense' }]) {
        const answer = await shop.ask(path, credential)
        assert.equal(answer.status, 200)
        assertUnmetered(answer)
        const caching = path.endsWith('openapi.json') ? 'no-cache' : 'no-store'
        assert.equal(answer.headers.get('cache-control'), caching)
        assert.equal(answer.headers.get('x-content-type-options'), 'nosniff')
      }
    }
  })

  test('report that the process runs and that the store responds', async () => {
    assert.deepEqual(dataOf(await shop.ask('/healthz')), { status: 'ok' })
    assert.deepEqual(dataOf(await shop.ask('/readyz')), {
      status: 'ready',
      parts: { store: 'ok', limiter: 'ok' },
    })
  })

  test('accept the request ID of a client', async () => {
    for (const path of apiPaths) {
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
      ...'/healthz/ /readyz/x /v1/analytics/openapi.json/x /docs/ /docs/x /verify/'.split(' '),
      ...'/verify.html /metrics /v1/openapi.json'.split(' '),
    ]) {
      errorOf(await shop.ask(path), 'unauthorized')
    }
  })
})

describe('the page that verifies receipts', () => {
  test('is served from docs without a key, unmetered, for GET and HEAD', async () => {
    const file = readFileSync(new URL('../../docs/verify.html', import.meta.url), 'utf8')
    for (const headers of [{}, { authorization: 'Bearer nonsense' }]) {
      const [get, head] = await Promise.all([
        fetch(`${shop.url}/verify`, { headers }),
        fetch(`${shop.url}/verify`, { method: 'HEAD', headers }),
      ])
      assert.deepEqual([get.status, head.status], [200, 200])
      assert.equal(await get.text(), file)
      assert.equal(await head.text(), '')
      assert.equal(get.headers.get('content-type'), 'text/html; charset=utf-8')
      for (const name of ['content-type', 'content-length', 'content-encoding', 'cache-control', 'vary'])
        assert.equal(head.headers.get(name), get.headers.get(name), name)
      assert.equal(get.headers.get('x-ratelimit-limit'), null)
    }
  })

  test('has the security headers of every page, with its script and style allowed by hash', async () => {
    const [page, docs] = await Promise.all(['/verify', '/docs'].map((path) => fetch(shop.url + path)))
    for (const [name, value] of docs?.headers ?? []) {
      if (/^(x-(content|frame)-|referrer-|cross-origin-|permissions-)/.test(name))
        assert.equal(page?.headers.get(name), value, name)
    }
    const directives = (page?.headers.get('content-security-policy') ?? '').split('; ')
    const hash = "'sha256-[A-Za-z0-9+/]{43}='"
    assert.match(
      directives.join('; '),
      new RegExp(`^default-src 'none'; script-src ${hash}; style-src ${hash}; `),
    )
    assert.deepEqual(directives.slice(3).sort(), [
      "base-uri 'none'",
      "form-action 'none'",
      "frame-ancestors 'none'",
      "require-trusted-types-for 'script'",
      "trusted-types 'none'",
    ])
  })
})

describe('a route with neither a scope nor an entry in that list', () => {
  const route = (access: Access) =>
    defineRoute({ method: 'GET', path: '/v1/open', access, response: null, handle: () => {} })

  for (const access of ['public', 'open'] as const) {
    test(`prevents startup if it claims to be ${access}`, () => {
      assert.throws(
        () => buildRouter([route(access)], 100),
        /^Error: The path \/v1\/open has no scope and is not public/,
      )
    })
  }

  test('prevents startup if it declares no access', () => {
    const { access: _, ...unguarded } = route('public')
    // The compiler also rejects this route; the check covers routes that bypass it.
    assert.throws(() => buildRouter([unguarded as Route], 100), /has no access/)
  })
})
