import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { dataOf, errorOf, uuidPattern } from '../support/answers.ts'
import { askRaw, openRawConnection, requestText } from '../support/raw-http.ts'
import { startShop, subjectPath, subjectsPath } from '../support/shop.ts'

const shop = await startShop({ after }, { scopes: ['analytics:view'] })
const { key } = shop

describe('a request ID of the client', () => {
  const good: [what: string, id: string][] = [
    ['a UUID', '0d4cf4f5-6ab7-4b3f-a7b4-0b9a3a8d2f10'],
    ['a single character', 'x'],
    ['words with spaces inside', 'nightly run  7 of 9'],
    ['every visible character', String.fromCharCode(...Array.from({ length: 94 }, (_, i) => 0x21 + i))],
    ['200 characters', 'i'.repeat(200)],
  ]
  for (const [what, id] of good) {
    test(`is used unchanged: ${what}`, async () => {
      const answer = await shop.ask(subjectsPath, { key, headers: { 'x-request-id': id } })
      dataOf(answer)
      assert.equal(answer.headers.get('x-request-id'), id)
    })
  }

  test('loses surrounding white space, like every header value', async () => {
    const answer = await askRaw(shop.url, subjectsPath, { key, headers: { 'X-Request-Id': '  mine  ' } })
    assert.equal(answer.headers.get('x-request-id'), 'mine')
  })

  test('is on failures too', async () => {
    const headers = { 'x-request-id': 'my failing request' }
    const failing = [
      await shop.ask(subjectsPath, { headers }),
      await shop.ask('/v1/nowhere', { key, headers }),
      await shop.ask(subjectsPath, { key, headers, method: 'POST' }),
      await shop.ask(subjectPath('someone'), { key, headers, method: 'DELETE' }),
      await shop.ask(subjectPath('nobody'), { key, headers }),
      await shop.ask(`${subjectsPath}?limit=0`, { key, headers }),
      await shop.ask(subjectsPath, {
        key,
        headers: { ...headers, 'content-length': '70000' },
        method: 'DELETE',
        body: 'x'.repeat(70_000),
      }),
      await askRaw(shop.url, '/v1/%zz', { key, headers: { 'X-Request-Id': 'my failing request' } }),
    ]
    assert.deepEqual(
      failing.map(({ status }) => status),
      [401, 404, 400, 403, 404, 422, 400, 400],
    )
    for (const answer of failing) assert.equal(answer.headers.get('x-request-id'), 'my failing request')
  })
})

describe('an absent request ID', () => {
  test('is replaced with a random UUID for each request', async () => {
    const ids = new Set<string | null>()
    for (const headers of [{}, { 'x-request-id': '' }, { 'x-request-id': '   ' }]) {
      const answer = await shop.ask(subjectsPath, { key, headers })
      dataOf(answer)
      assert.match(answer.headers.get('x-request-id') ?? '', uuidPattern)
      ids.add(answer.headers.get('x-request-id'))
    }
    assert.equal(ids.size, 3)
  })

  test('is replaced in a response to HEAD, which has only headers', async () => {
    for (const path of [subjectsPath, '/v1/nowhere', '/healthz']) {
      const answer = await shop.ask(path, { key, method: 'HEAD' })
      assert.equal(answer.body, null)
      assert.match(answer.headers.get('x-request-id') ?? '', uuidPattern)
    }
  })
})

describe('an unusable request ID', () => {
  const bad: [what: string, value: string][] = [
    ['201 characters', 'i'.repeat(201)],
    ['a tab inside', 'a\tb'],
    ['a byte that is not ASCII', 'caf\xe9'],
    ['UTF-8', Buffer.from('größe').toString('latin1')],
    ['the byte 0x80', 'a\x80b'],
  ]
  for (const [what, value] of bad) {
    test(`returns 400 under a generated ID: ${what}`, async () => {
      const answer = await askRaw(shop.url, subjectsPath, { key, headers: { 'X-Request-Id': value } })
      errorOf(answer, 'invalid_request')
      assert.match(answer.headers.get('x-request-id') ?? '', uuidPattern)
    })
  }

  test('returns 400 before the key is checked and after the address is counted', async (t) => {
    const metered = await startShop(t, { env: { LETHE_LIMIT_IP: '2/minute' }, scopes: ['analytics:view'] })
    const headers = { 'x-request-id': 'i'.repeat(201) }
    const first = await metered.ask(subjectsPath, { headers })
    errorOf(first, 'invalid_request')
    assert.equal(first.headers.get('x-ratelimit-limit'), '2')
    assert.equal(first.headers.get('x-ratelimit-remaining'), '1')
    errorOf(await metered.ask('/v1/nowhere', { headers }), 'invalid_request')
    const refused = await metered.ask(subjectsPath, { headers })
    errorOf(refused, 'rate_limited')
    assert.match(refused.headers.get('x-request-id') ?? '', uuidPattern)
  })

  test('returns 400 on a path that needs no key, too', async () => {
    const headers = { 'x-request-id': 'i'.repeat(201) }
    for (const path of ['/healthz', '/readyz', '/v1/analytics/openapi.json']) {
      errorOf(await shop.ask(path, { headers }), 'invalid_request')
    }
  })
})

describe('request IDs on one connection', () => {
  test('belong to each request', async () => {
    const connection = await openRawConnection(shop.url)
    const ask = (id: string) => requestText(subjectsPath, { key, headers: { 'X-Request-Id': id } })
    connection.send(ask('first') + ask('second') + requestText(subjectsPath, { key }))
    const ids = []
    for (let i = 0; i < 3; i++) ids.push((await connection.answer()).headers.get('x-request-id') ?? '')
    connection.hangUp()
    assert.deepEqual(ids.slice(0, 2), ['first', 'second'])
    assert.match(ids[2] ?? '', uuidPattern)
  })
})
