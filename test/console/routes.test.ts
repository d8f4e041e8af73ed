import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { consoleRoutes } from '../../src/http/console/routes.ts'
import { publicPaths } from '../../src/http/public-routes.ts'
import { dataOf, errorOf, listIn, problemFields, textIn } from '../support/answers.ts'
import { openConsole, visitor } from '../support/console.ts'
import { startShop, subjectsPath } from '../support/shop.ts'

const shop = await startShop({ after }, { scopes: ['analytics:view'] })
const client = await openConsole(shop, shop.organisationId)

/** The paths of all routes, with plausible IDs. */
const routes = consoleRoutes.map(({ method, path, access }) => ({
  ...{ method, access, pattern: path },
  path: path.replace('/console/api', '').replaceAll(/\{\w+\}/g, 'x'),
}))
const changing = routes.filter(({ method }) => method !== 'GET')

describe('a route of the console', () => {
  test('needs a member, or is in the list of public paths', () => {
    const open = routes.filter(({ access }) => access === 'open').map(({ pattern }) => pattern)
    assert.deepEqual(open, [
      '/console/api/sign-in',
      '/console/api/sign-in/second-factor',
      '/console/api/sign-in/passkey/options',
      '/console/api/sign-in/passkey',
      '/console/api/invitation',
      '/console/api/invitation/accept',
      '/console/api/sign-in',
      '/console/api/single-sign-on',
      '/console/api/single-sign-on/finish',
    ])
    for (const path of open) assert.ok(publicPaths.includes(path), path)
  })

  for (const { method, path, access } of routes) {
    if (access === 'open') continue
    test(`is refused without a session: ${method} ${path}`, async () => {
      const body = method === 'GET' ? undefined : {}
      const answer = await visitor(shop).ask(path, { method, body })
      errorOf(answer, 'unauthorized')
      assert.equal(answer.headers.get('www-authenticate'), null)
    })
  }

  test('accepts only the cookie of a session', async () => {
    for (const cookie of ['lethe-console=', 'lethe-console=nonsense', '__Host-lethe-console=x', 'x=y']) {
      errorOf(await Object.assign(visitor(shop), { cookie }).ask('/keys'), 'unauthorized')
    }
  })

  test('accepts no API key, and the API accepts no cookie', async () => {
    const headers = { authorization: `Bearer ${shop.key}` }
    errorOf(await visitor(shop).ask('/keys', { headers }), 'unauthorized')
    errorOf(await shop.ask(subjectsPath, { headers: { cookie: String(client.cookie) } }), 'unauthorized')
  })

  test('supports HEAD wherever it supports GET', async () => {
    const answer = await client.ask('/keys', { method: 'HEAD' })
    assert.equal(answer.status, 200)
    assert.equal(answer.body, null)
  })

  test('returns 404 for an unknown path, and 400 with the allowed methods for a wrong method', async () => {
    for (const path of ['/', '/nothing', '/nothing/x', '/keys/x/rotate/y']) {
      for (const method of ['GET', 'POST'])
        errorOf(await client.ask(path, { method, body: method === 'GET' ? undefined : {} }), 'not_found')
    }
    const answer = await client.ask('/keys', { method: 'PUT', body: {} })
    errorOf(answer, 'invalid_request')
    assert.equal(answer.headers.get('allow'), 'GET, HEAD, POST')
  })
})

describe('a change', () => {
  for (const { method, path } of changing) {
    test(`is refused from another origin: ${method} ${path}`, async () => {
      const answer = await client.ask(path, { method, body: {}, headers: { origin: 'https://evil.example' } })
      errorOf(answer, 'forbidden')
      assert.equal(answer.headers.get('www-authenticate'), null)
    })
  }

  test('is refused with any other sign of another origin', async () => {
    for (const headers of [
      { origin: 'null' },
      { origin: null },
      { origin: shop.url.replace('127.0.0.1', 'localhost') },
      { origin: `${shop.url}0` },
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site' },
      { 'sec-fetch-site': 'none' },
    ]) {
      errorOf(await client.ask('/trackers', { method: 'POST', body: { name: 'x' }, headers }), 'forbidden')
    }
  })

  test('is accepted from a page of the console', async () => {
    const headers = { 'sec-fetch-site': 'same-origin' }
    dataOf(await client.ask('/trackers', { method: 'POST', body: { name: 'Ours' }, headers }))
  })

  test('must be JSON, which a form of another site cannot send', async () => {
    for (const type of [
      'text/plain',
      'application/x-www-form-urlencoded',
      'multipart/form-data',
      'application/json-seq',
      'application/json garbage',
      null,
    ]) {
      const answer = await client.ask('/trackers', {
        method: 'POST',
        body: '{"name":"Form"}',
        headers: { 'content-type': type },
      })
      errorOf(answer, 'invalid_request')
    }
    for (const type of ['application/json', 'Application/JSON; charset=utf-8', 'application/json ;']) {
      const headers = { 'content-type': type }
      dataOf(await client.ask('/trackers', { method: 'POST', body: '{"name":"Page"}', headers }))
    }
  })

  test('must be UTF-8, so that names are stored exactly', async () => {
    const body = Buffer.from('{"name":"caf\u00e9"}', 'latin1')
    errorOf(await client.ask('/trackers', { method: 'POST', body }), 'invalid_request')
    const names = listIn(dataOf(await client.ask('/trackers')), 'trackers').map((each) =>
      textIn(each, 'name'),
    )
    assert.ok(!names.some((name) => name.startsWith('caf')))
  })

  test('is rejected with control characters before it reaches the store', async () => {
    const body = { email: 'a\u0000@acme.example', password: 'any password' }
    assert.deepEqual(problemFields(await client.ask('/sign-in', { method: 'POST', body })), ['email'])
    assert.deepEqual(problemFields(await client.ask('/activity?requestId=a%00')), ['requestId'])
  })
})

describe('the budgets', () => {
  test('of the API and of the console are separate', async (t) => {
    const tight = await startShop(t, {
      scopes: ['analytics:view'],
      env: { LETHE_LIMIT_IP: '2/minute' },
    })
    const browser = await openConsole(tight, tight.organisationId)
    for (let i = 0; i < 5; i++) dataOf(await browser.ask('/keys'))
    for (let i = 0; i < 2; i++) dataOf(await tight.ask(subjectsPath, { key: tight.key }))
    errorOf(await tight.ask(subjectsPath, { key: tight.key }), 'rate_limited')
    dataOf(await browser.ask('/keys'))
  })

  test('of the console are generous, but limited', async (t) => {
    const own = await startShop(t, { scopes: ['analytics:view'] })
    const browser = visitor(own)
    for (let i = 0; i < 600; i += 50) {
      await Promise.all(Array.from({ length: 50 }, () => browser.ask('/keys')))
    }
    const answer = await browser.ask('/keys')
    errorOf(answer, 'rate_limited')
    assert.ok(Number(answer.headers.get('retry-after')) >= 1)
  })
})
