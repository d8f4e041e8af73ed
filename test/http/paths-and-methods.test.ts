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

describe('a path that does not exist', () => {
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
    test(`is a 404: ${path}`, async () => {
      errorOf(await askRaw(url, path, { key }), 'not_found')
    })
  }

  test('is a 404 whatever the method', async () => {
    for (const method of ['POST', 'DELETE', 'OPTIONS', 'PROPFIND']) {
      const answer = await shop.ask('/v1/nowhere', { key, method })
      errorOf(answer, 'not_found')
      assert.equal(answer.headers.get('allow'), null)
    }
  })
})

describe('a method that a path does not have', () => {
  const withEvery = [subjectPath('anna'), '/healthz']
  for (const [path, allow] of known) {
    test(`is a 400 with Allow: ${path}`, async () => {
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

  test('is told in the message, with those that there are', async () => {
    const answer = await askRaw(url, subjectsPath, { key, method: 'PURGE' })
    const message = textIn(errorOf(answer, 'invalid_request'), 'message')
    assert.match(message, /PURGE/)
    assert.match(message, /GET, HEAD/)
  })

  test('is a 400 before parameters are looked at', async () => {
    errorOf(await shop.ask(`${subjectsPath}?limit=0`, { key, method: 'PUT' }), 'invalid_request')
  })

  test('gets no CORS headers, be it a preflight or not', async () => {
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

  test('may be sent from any page for the OpenAPI document alone', async () => {
    const path = '/v1/analytics/openapi.json'
    const { headers } = await shop.ask(path)
    const known = { 'if-none-match': headers.get('etag') ?? '' }
    for (const ask of [{}, { method: 'HEAD' }, { headers: known }]) {
      const answer = await shop.ask(path, ask)
      assert.equal(answer.headers.get('access-control-allow-origin'), '*')
    }
  })

  test('leaves the subject alone', async () => {
    for (const method of ['POST', 'PUT', 'PATCH', 'PURGE'])
      await askRaw(url, subjectPath('anna'), { key, method })
    dataOf(await shop.ask(subjectPath('anna'), { key }))
  })

  test('is not circumvented by headers or parameters that name another method', async () => {
    const eraser = (await shop.createKey(shop.organisationId)).keyString
    const headers = { 'x-http-method-override': 'DELETE', 'x-method-override': 'DELETE' }
    dataOf(await shop.ask(subjectPath('anna'), { key: eraser, headers }))
    errorOf(await shop.ask(subjectPath('anna'), { key: eraser, headers, method: 'POST' }), 'invalid_request')
    dataOf(await shop.ask(subjectPath('anna'), { key }))
  })
})

describe('OPTIONS', () => {
  test('tells anybody what a public path takes, uncounted', async () => {
    for (const path of publicPaths.filter((path) => !path.includes('*'))) {
      const connection = await openRawConnection(url)
      connection.send(requestText(path, { method: 'OPTIONS' }))
      const { status, headers, body } = await connection.answer('OPTIONS')
      assert.deepEqual([status, body], [204, null], path)
      assert.match(headers.get('allow') ?? '', /^(GET, HEAD|POST|POST, GET, HEAD), OPTIONS$/)
      assert.equal(headers.get('content-length'), null)
      assert.notEqual(headers.get('x-request-id'), null)
      assertUnmetered({ status, headers, body })
      // The connection is in order behind it.
      connection.send(requestText('/healthz'))
      dataOf(await connection.answer())
      connection.hangUp()
    }
  })

  test('is a method like another on any other path', async () => {
    errorOf(await shop.ask(subjectsPath, { method: 'OPTIONS' }), 'unauthorized')
    const answer = await shop.ask(subjectsPath, { method: 'OPTIONS', key })
    errorOf(answer, 'invalid_request')
    budgetOf(answer)
  })
})

describe('HEAD', () => {
  for (const [path] of known) {
    test(`answers as GET does, without a body: ${path}`, async () => {
      const [head, get] = [await shop.ask(path, { key, method: 'HEAD' }), await shop.ask(path, { key })]
      assert.equal(head.status, 200)
      assert.equal(head.body, null)
      // Whether the connection lives on is the client's business.
      const names = (answer: typeof head) =>
        [...answer.headers.keys()].filter((name) => !['connection', 'keep-alive'].includes(name))
      assert.deepEqual(names(head), names(get))
      assert.equal(head.headers.get('content-length'), get.headers.get('content-length'))
    })
  }

  test('fails as GET does, without a body, and leaves the connection in order', async () => {
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
  test('may be absolute, as proxies send it', async () => {
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

  test('may ask for an upgrade, which it does not get', async () => {
    const answer = await askRaw(url, subjectsPath, {
      key,
      headers: { Connection: 'Upgrade', Upgrade: 'websocket' },
    })
    dataOf(answer)
  })

  test('may not have a bare fragment, which would cut an id short', async () => {
    errorOf(await askRaw(url, `${subjectPath('anna')}#1`, { key }), 'invalid_request')
  })

  test('is a 404 for OPTIONS *', async () => {
    errorOf(await askRaw(url, '*', { key, method: 'OPTIONS' }), 'not_found')
  })
})
