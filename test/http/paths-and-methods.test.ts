import assert from 'node:assert/strict'
import { METHODS } from 'node:http'
import { after, describe, test } from 'node:test'
import { publicPaths } from '../../src/http/public-routes.ts'
import { assertUnmetered, budgetOf, dataOf, errorOf, textIn } from '../support/answers.ts'
import { askRaw, openRawConnection, requestText } from '../support/raw-http.ts'
import { startShop, subjectPath, subjectsPath, visit } from '../support/shop.ts'

const shop = await startShop({ after }, { scopes: ['analytics:view'] })
const { key, url } = shop
await shop.ingest(visit('anna'))

const known: [path: string, allow: string[]][] = [
  [subjectsPath, ['GET', 'HEAD']],
  [subjectPath('anna'), ['GET', 'HEAD', 'DELETE']],
  [`${subjectPath('anna')}/sessions`, ['GET', 'HEAD']],
  [`${subjectPath('anna')}/events`, ['GET', 'HEAD']],
  ['/v1/analytics/openapi.json', ['GET', 'HEAD', 'OPTIONS']],
  ['/healthz', ['GET', 'HEAD', 'OPTIONS']],
  ['/readyz', ['GET', 'HEAD', 'OPTIONS']],
]

describe('an unknown path', () => {
  for (const path of [
    '/v1',
    '/v1/',
    '/v1/analytics',
    '/v1/analytics/trackers',
    '/v1/analytics/trackers/shop',
    '/v1/analytics/trackers/shop/subject',
    '/v1/analytics/Trackers/shop/subjects',
    '/V1/analytics/trackers/shop/subjects',
    '/v2/analytics/trackers/shop/subjects',
    '/analytics/v1/trackers/shop/subjects',
    '//v1/analytics/trackers/shop/subjects',
    `${subjectPath('anna')}/sessions/`,
    `${subjectPath('anna')}/sessions/s1`,
    `${subjectPath('anna')}/events/e1`,
    '/v1/analytics/openapi.json/',
    '/v1/analytics/openapi.yaml',
    '/v1/monitors',
    '/v1/variables/',
    '/v1/nowhere?limit=0',
  ]) {
    test(`returns 404: ${path}`, async () => {
      errorOf(await askRaw(url, path, { key }), 'not_found')
    })
  }

  test('returns 404 with any method', async () => {
    for (const method of ['POST', 'DELETE', 'OPTIONS', 'PROPFIND']) {
      const answer = await shop.ask('/v1/nowhere', { key, method })
      errorOf(answer, 'not_found')
      assert.equal(answer.headers.get('allow'), null)
    }
  })
})

describe('a method that a path does not support', () => {
  const withEvery = [subjectPath('anna'), '/healthz']
  for (const [path, allow] of known) {
    test(`returns 400 with Allow: ${path}`, async () => {
      const tried = withEvery.includes(path)
        ? METHODS
        : ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE']
      const others = tried.filter((method) => ![...allow, 'CONNECT'].includes(method))
      for (const method of others) {
        const answer = await askRaw(url, path, { key, method })
        errorOf(answer, 'invalid_request')
        assert.deepEqual(answer.headers.get('allow')?.split(', '), allow, method)
      }
    })
  }

  test('is named in the message with the supported methods', async () => {
    const answer = await askRaw(url, subjectsPath, { key, method: 'PURGE' })
    const message = textIn(errorOf(answer, 'invalid_request'), 'message')
    assert.match(message, /PURGE/)
    assert.match(message, /GET, HEAD/)
  })

  test('returns 400 before the parameters are checked', async () => {
    errorOf(await shop.ask(`${subjectsPath}?limit=0`, { key, method: 'PUT' }), 'invalid_request')
  })

  test('gets no CORS headers, as a preflight or otherwise', async () => {
    const headers = {
      origin: 'https://shop.example',
      'access-control-request-method': 'DELETE',
      'access-control-request-headers': 'authorization',
    }
    for (const [path, method] of [
      [subjectPath('anna'), 'OPTIONS'],
      [subjectPath('anna'), 'GET'],
      [subjectPath('nobody'), 'GET'],
      ['/v1/nowhere', 'OPTIONS'],
      ['/v1/analytics/ledger', 'GET'],
      ['/healthz', 'GET'],
      ['/docs', 'GET'],
      ['/v1/analytics/openapi.json', 'OPTIONS'],
    ] as const) {
      const answer = await fetch(shop.url + path, {
        method,
        headers: { ...headers, authorization: `Bearer ${key}` },
      })
      const cors = [...answer.headers.keys()].filter((name) => name.startsWith('access-control-'))
      assert.deepEqual(cors, [], `${method} ${path}`)
    }
    errorOf(await shop.ask(subjectPath('anna'), { method: 'OPTIONS', headers }), 'unauthorized')
  })

  test('gets CORS headers for the OpenAPI document only', async () => {
    const path = '/v1/analytics/openapi.json'
    const { headers } = await shop.ask(path)
    const known = { 'if-none-match': headers.get('etag') ?? '' }
    for (const ask of [{}, { method: 'HEAD' }, { headers: known }]) {
      const answer = await shop.ask(path, ask)
      assert.equal(answer.headers.get('access-control-allow-origin'), '*')
    }
  })

  test('does not change the subject', async () => {
    for (const method of ['POST', 'PUT', 'PATCH', 'PURGE'])
      await askRaw(url, subjectPath('anna'), { key, method })
    dataOf(await shop.ask(subjectPath('anna'), { key }))
  })

  test('cannot be overridden by headers or parameters', async () => {
    const eraser = (await shop.createKey(shop.organisationId)).keyString
    const headers = { 'x-http-method-override': 'DELETE', 'x-method-override': 'DELETE' }
    dataOf(await shop.ask(subjectPath('anna'), { key: eraser, headers }))
    errorOf(await shop.ask(subjectPath('anna'), { key: eraser, headers, method: 'POST' }), 'invalid_request')
    dataOf(await shop.ask(subjectPath('anna'), { key }))
  })
})

describe('OPTIONS', () => {
  test('returns the methods of a public path to any client, unmetered', async () => {
    for (const path of publicPaths.filter((path) => !path.includes('*'))) {
      const connection = await openRawConnection(url)
      connection.send(requestText(path, { method: 'OPTIONS' }))
      const { status, headers, body } = await connection.answer('OPTIONS')
      assert.deepEqual([status, body], [204, null], path)
      assert.match(headers.get('allow') ?? '', /^(GET, HEAD|POST|POST, GET, HEAD), OPTIONS$/)
      assert.equal(headers.get('content-length'), null)
      assert.notEqual(headers.get('x-request-id'), null)
      assertUnmetered({ status, headers, body })
      // The connection stays usable.
      connection.send(requestText('/healthz'))
      dataOf(await connection.answer())
      connection.hangUp()
    }
  })

  test('is treated like other methods on all other paths', async () => {
    errorOf(await shop.ask(subjectsPath, { method: 'OPTIONS' }), 'unauthorized')
    const answer = await shop.ask(subjectsPath, { method: 'OPTIONS', key })
    errorOf(answer, 'invalid_request')
    budgetOf(answer)
  })
})

describe('HEAD', () => {
  for (const [path] of known) {
    test(`returns the headers of GET without a body: ${path}`, async () => {
      const [head, get] = [await shop.ask(path, { key, method: 'HEAD' }), await shop.ask(path, { key })]
      assert.equal(head.status, 200)
      assert.equal(head.body, null)
      // Whether the connection is kept alive depends on the client.
      const names = (answer: typeof head) =>
        [...answer.headers.keys()].filter((name) => !['connection', 'keep-alive'].includes(name))
      assert.deepEqual(names(head), names(get))
      assert.equal(head.headers.get('content-length'), get.headers.get('content-length'))
    })
  }

  test('fails like GET, without a body, and the connection stays usable', async () => {
    const connection = await openRawConnection(url)
    const head = (target: string, authorization: string) =>
      `HEAD ${target} HTTP/1.1\r\nHost: test\r\n${authorization}\r\n`
    const bearer = `Authorization: Bearer ${key}\r\n`
    connection.send(
      head('/v1/nowhere', bearer) + head(subjectPath('nobody'), bearer) + head(subjectsPath, ''),
    )
    connection.send(head('/v1/%zz', bearer) + head(subjectsPath, bearer))
    const statuses = []
    for (let i = 0; i < 5; i++) statuses.push((await connection.answer('HEAD')).status)
    connection.hangUp()
    assert.deepEqual(statuses, [404, 404, 401, 400, 200])
  })
})

describe('the form of a request', () => {
  test('may be absolute, as sent by proxies', async () => {
    const connection = await openRawConnection(url)
    connection.send(
      `GET http://lethe.example${subjectPath('anna')} HTTP/1.1\r\nHost: lethe.example\r\nAuthorization: Bearer ${key}\r\n\r\n`,
    )
    const answer = await connection.answer()
    connection.hangUp()
    assert.equal(dataOf(answer).subjectId, 'anna')
  })

  test('may be HTTP/1.0, which needs no Host', async () => {
    const connection = await openRawConnection(url)
    connection.send(`GET ${subjectsPath} HTTP/1.0\r\nAuthorization: Bearer ${key}\r\n\r\n`)
    dataOf(await connection.answer())
    assert.equal(await connection.rest(), '')
  })

  test('may ask for an upgrade, which is ignored', async () => {
    const answer = await askRaw(url, subjectsPath, {
      key,
      headers: { Connection: 'Upgrade', Upgrade: 'websocket' },
    })
    dataOf(answer)
  })

  test('may not contain a raw fragment, which would truncate an ID', async () => {
    errorOf(await askRaw(url, `${subjectPath('anna')}#1`, { key }), 'invalid_request')
  })

  test('returns 404 for OPTIONS *', async () => {
    errorOf(await askRaw(url, '*', { key, method: 'OPTIONS' }), 'not_found')
  })
})
