import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { dataOf, errorOf, isObject, listIn, problemFields, textIn } from '../support/answers.ts'
import { openConsole, visitor } from '../support/console.ts'
import { assertDocumented } from '../support/documented.ts'
import { askRaw, openRawConnection, type RawRequest, requestText } from '../support/raw-http.ts'
import { startShop, subjectPath, subjectsPath, visit } from '../support/shop.ts'
import { until } from '../support/until.ts'

const shop = await startShop({ after }, { scopes: ['analytics:view', 'analytics:delete-data'] })
const { key, url } = shop

const limit = 64 * 1024
const chunked = (...chunks: string[]) =>
  [...chunks, ''].map((chunk) => `${chunk.length.toString(16)}\r\n${chunk}\r\n`).join('')

/** Sends a request with a body, then one without on the same connection. */
async function askTwice(target: string, request: RawRequest) {
  const connection = await openRawConnection(url)
  connection.send(requestText(target, { key, ...request }))
  const first = await connection.answer(request.method)
  connection.send(requestText(subjectsPath, { key }))
  const second = await connection.answer()
  connection.hangUp()
  return { first, second }
}

const json = 'application/json'
const inChunks = { 'Transfer-Encoding': 'chunked' }

/** A request with a body and its Content-Length. */
function withBody(body: string, headers: Record<string, string> = {}): RawRequest {
  return { headers: { ...headers, 'Content-Length': String(body.length) }, body }
}

const bodies: [what: string, request: RawRequest][] = [
  ['a JSON type and no body', { headers: { 'Content-Type': json } }],
  ['a JSON type and an empty body', withBody('', { 'Content-Type': json })],
  ['JSON', withBody('{"limit":"0"}', { 'Content-Type': json })],
  ['broken JSON', withBody('{"broken"', { 'Content-Type': json })],
  ['text', withBody('hello', { 'Content-Type': 'text/plain' })],
  ['a form', withBody('limit=0', { 'Content-Type': 'application/x-www-form-urlencoded' })],
  ['an invalid type', withBody('x', { 'Content-Type': ';;;/' })],
  ['no type', withBody('xyz')],
  ['a wrong encoding', withBody('xyz', { 'Content-Encoding': 'gzip' })],
  ['chunks', { headers: inChunks, body: chunked('hello', 'world') }],
  ['chunks of a JSON type', { headers: { 'Content-Type': json, ...inChunks }, body: chunked('{"a') }],
  ['no chunks', { headers: inChunks, body: chunked() }],
  ['64 KiB', withBody('x'.repeat(limit))],
  ['64 KiB in chunks', { headers: inChunks, body: chunked('x'.repeat(limit - 1), 'x') }],
  ['Expect: 100-continue', withBody('hello', { Expect: '100-continue' })],
]

describe('Expect: 100-continue', () => {
  test('does not affect the response to an earlier pipelined request', async () => {
    const connection = await openRawConnection(url)
    const document = '/v1/analytics/openapi.json'
    const expecting = requestText(document, { headers: { Expect: '100-continue' } })
    connection.send(requestText(subjectsPath, { key }) + expecting)
    dataOf(await connection.answer())
    assertDocumented('GET', document, await connection.answer())
    connection.hangUp()
  })
})

describe('a body is ignored', () => {
  for (const [what, request] of bodies) {
    test(`with GET: ${what}`, async () => {
      const { first, second } = await askTwice(subjectsPath, request)
      dataOf(first)
      dataOf(second)
    })

    test(`with DELETE: ${what}`, async () => {
      await shop.ingest(visit(what))
      const { first, second } = await askTwice(subjectPath(what), { ...request, method: 'DELETE' })
      assert.equal(dataOf(first).alreadyErased, false)
      dataOf(second)
    })
  }

  test('before a failure', async () => {
    const request = withBody('hello')
    for (const [target, method, code] of [
      ['/v1/nowhere', 'POST', 'not_found'],
      [subjectsPath, 'POST', 'invalid_request'],
      [`${subjectsPath}?limit=0`, 'GET', 'validation_error'],
      ['/v1/%zz', 'PUT', 'invalid_request'],
    ] as const) {
      const { first, second } = await askTwice(target, { ...request, method })
      errorOf(first, code)
      dataOf(second)
    }
  })

  test('on a path that needs no key', async () => {
    const { first, second } = await askTwice('/healthz', withBody('hello'))
    dataOf(first)
    dataOf(second)
  })

  test('as fetch and other clients send it with DELETE', async () => {
    const headers = { 'content-type': 'application/json' }
    for (const body of ['', '{}', '{', 'x'.repeat(limit)]) {
      dataOf(await shop.ask(subjectPath('nobody'), { key, method: 'DELETE', headers, body }))
    }
  })
})

describe('a body over 64 KiB', () => {
  for (const [what, request] of [
    ['announced', withBody('x'.repeat(limit + 1))],
    ['in chunks', { headers: inChunks, body: chunked('x'.repeat(limit), 'x'.repeat(100)) }],
    ['of many times that size', withBody('x'.repeat(1_000_000))],
  ] satisfies [string, RawRequest][]) {
    test(`returns 400, and the connection stays usable or closes: ${what}`, async () => {
      await shop.ingest(visit('berta'))
      for (const [target, method] of [
        [subjectsPath, 'GET'],
        [subjectPath('berta'), 'DELETE'],
      ] as const) {
        const connection = await openRawConnection(url)
        connection.send(requestText(target, { key, ...request, method }))
        errorOf(await connection.answer(), 'invalid_request')
        connection.send(requestText(subjectsPath, { key, headers: { Connection: 'close' } }))
        assert.match(await connection.rest(), /^(HTTP\/1\.1 200 |$)/)
      }
      dataOf(await shop.ask(subjectPath('berta'), { key }))
    })
  }

  test('returns 400 before the body arrives, if the length is declared', async () => {
    errorOf(
      await askRaw(url, subjectsPath, { key, headers: { 'Content-Length': '99999999' } }),
      'invalid_request',
    )
  })

  test('returns 400 before the body ends, if it is chunked', async () => {
    const body = `20000\r\n${'x'.repeat(0x20000)}`
    const answer = await askRaw(url, subjectsPath, { key, headers: inChunks, body })
    errorOf(answer, 'invalid_request')
  })

  test('returns 400 with the budget headers and the request ID', async () => {
    const answer = await askRaw(url, subjectsPath, {
      key,
      headers: { 'Content-Length': '70000', 'X-Request-Id': 'too large' },
    })
    assert.equal(answer.headers.get('x-request-id'), 'too large')
    assert.ok(answer.headers.has('x-ratelimit-remaining'))
  })

  test('returns 401 without a key, because the key is checked first', async () => {
    errorOf(await askRaw(url, subjectsPath, { headers: { 'Content-Length': '70000' } }), 'unauthorized')
  })

  test('returns 400 on a path that needs no key, too', async () => {
    for (const path of ['/healthz', '/readyz', '/v1/analytics/openapi.json']) {
      errorOf(await askRaw(url, path, { headers: { 'Content-Length': '70000' } }), 'invalid_request')
    }
  })
})

describe('a malformed body', () => {
  test('returns one 400, and the connection closes', async () => {
    await shop.ingest(visit('clara'))
    const connection = await openRawConnection(url)
    const request: RawRequest = { headers: inChunks, body: 'zz\r\nhello' }
    connection.send(requestText(subjectPath('clara'), { key, method: 'DELETE', ...request }))
    errorOf(await connection.answer(), 'invalid_request')
    assert.equal(await connection.rest(), '')
    dataOf(await shop.ask(subjectPath('clara'), { key }))
  })

  test('erases nothing if it never ends', async () => {
    await shop.ingest(visit('dora'))
    const connection = await openRawConnection(url)
    const headers = { 'Content-Length': '10', 'X-Request-Id': 'never-ends' }
    connection.send(requestText(subjectPath('dora'), { key, method: 'DELETE', headers, body: 'x' }))
    dataOf(await shop.ask(subjectPath('dora'), { key }))
    connection.hangUp()
    await until(() => shop.logged.some((line) => line.includes('never-ends')))
    dataOf(await shop.ask(subjectPath('dora'), { key }))
  })
})

const searchPath = '/v1/analytics/subjects/search'
const member = await openConsole(shop, shop.organisationId)
const list = { text: 'anna', format: 'lines', by: 'subjectId', trackerIds: ['shop'], reference: 'List' }

function search(body: string) {
  const headers = { 'content-type': 'application/json' }
  return shop.ask(searchPath, { key, method: 'POST', headers, body })
}

function preview(body: string) {
  return member.ask('/erasure-lists/preview', { method: 'POST', body })
}

function signIn(body: string) {
  return visitor(shop).ask('/sign-in', { method: 'POST', body })
}

const unknownFields = (count: number) => Array.from({ length: count }, (_, i) => `"f${i}":0`).join()

describe('a body with many fields', () => {
  for (const [what, send] of Object.entries({ search, preview, signIn })) {
    test(`lists 100 problems and the number of others: ${what}`, async () => {
      const answer = await send(`{${unknownFields(1_000)}}`)
      const error = errorOf(answer, 'validation_error')
      const details = listIn(error, 'details').filter(isObject)
      assert.equal(details.length, 100)
      const { field, message } = details.at(-1) ?? {}
      // Missing required fields are counted too.
      const [, more] = /^(\d+) more/.exec(String(message)) ?? []
      assert.equal(field, 'details')
      assert.ok(Number(more) >= 901 && Number(more) <= 906, String(message))
      assert.match(textIn(error, 'message'), new RegExp(` and ${more} more: see details\\.$`))
      assert.ok(JSON.stringify(answer.body).length < 20_000)
    })

    test(`returns a 422 with only that problem if it has more than 1,000 fields: ${what}`, async () => {
      for (const body of [
        `{${unknownFields(1_001)}}`,
        `{${'"same":0,'.repeat(1_000)}"same":0}`,
        `{"identifier":{${unknownFields(1_000)}}}`,
        `{"limit":[${'0,'.repeat(1_000)}0]}`,
        `{"limit":${'['.repeat(10_000)}${']'.repeat(10_000)}}`,
        `${'{"a":'.repeat(2_000)}0${'}'.repeat(2_000)}`,
        '{'.repeat(20_000),
        `[${'0,'.repeat(1_000)}0]`,
      ]) {
        const answer = await send(body)
        assert.deepEqual(problemFields(answer), ['body'])
        assert.match(JSON.stringify(answer.body), /at most 1000 fields/)
      }
    })
  }

  test('is refused before it has ended', async () => {
    const headers = { 'Content-Type': json, ...inChunks }
    const body = `{${unknownFields(1_001)}`
    const chunk = `${body.length.toString(16)}\r\n${body}\r\n`
    const answer = await askRaw(url, searchPath, { key, method: 'POST', headers, body: chunk })
    assert.deepEqual(problemFields(answer), ['body'])
  })

  test('applies the limit of a list to its items while they are read', async () => {
    const listOf = (count: number) => JSON.stringify({ ...list, trackerIds: Array(count).fill('shop') })
    dataOf(await preview(listOf(1_000)))
    const answer = await preview(listOf(1_001))
    assert.deepEqual(problemFields(answer), ['trackerIds'])
    assert.match(JSON.stringify(answer.body), /at most 1000 items/)
    const inItems = { ...list, trackerIds: Array(900).fill({ a: 0, b: 0 }) }
    assert.deepEqual(problemFields(await preview(JSON.stringify(inItems))), ['body'])
    const wide = `{"tracker\\u0049ds":[${'0,'.repeat(1_000)}0]}`
    assert.deepEqual(problemFields(await preview(wide)), ['body'])
  })

  test('ignores brackets, quotes and commas inside strings', async () => {
    const text = '[,{:"\\'.repeat(2_000)
    const answer = await preview(JSON.stringify({ ...list, text }))
    assert.equal(dataOf(answer).invalid, 1)
  })

  test('returns 422 if it repeats a field', async () => {
    for (const body of [
      '{"subjectId":"anna","subjectId":"berta"}',
      '{"subjectId":"anna","subject\\u0049d":"berta"}',
      '{"identifier":{"name":"email","value":"a@b","value":"c@d"}}',
    ]) {
      const answer = await search(body)
      assert.deepEqual(problemFields(answer), ['body'])
      assert.match(JSON.stringify(answer.body), /must not repeat a field/)
    }
  })

  test('cannot set inherited properties', async () => {
    const names = ['__proto__', 'constructor', 'toString', 'hasOwnProperty']
    const answer = await search(`{"subjectId":"anna",${names.map((name) => `"${name}":{"x":0}`).join()}}`)
    assert.deepEqual(problemFields(answer), names)
    assert.deepEqual(problemFields(await search('{"__proto__":{"subjectId":"anna"}}')), [
      '__proto__',
      'identifier',
    ])
    assert.equal('x' in {}, false)
  })

  test('truncates a long field name in the error', async () => {
    const answer = await preview(`{"${'é'.repeat(1_000_000)}":0}`)
    assert.ok(problemFields(answer).includes(`${'é'.repeat(100)}…`))
    assert.ok(JSON.stringify(answer.body).length < 2_000)
  })

  test('may contain numbers of any length, which are then rejected by their field', async () => {
    for (const number of ['1e999', '1e300', '9'.repeat(60_000), '-1', '9007199254740993']) {
      assert.deepEqual(problemFields(await search(`{"subjectId":"anna","limit":${number}}`)), ['limit'])
      const asked = `{"index":${number},"subjectId":"anna"}`
      const answer = await member.ask('/erasures/receipt', { method: 'POST', body: asked })
      assert.deepEqual(problemFields(answer), ['index'], number.slice(0, 20))
    }
    for (const index of ['9007199254740993', '9999999999999999']) {
      assert.deepEqual(problemFields(await member.ask(`/erasures/certificate?index=${index}`)), ['index'])
      assert.deepEqual(problemFields(await member.ask(`/ledger/entry?index=${index}`)), ['index'])
    }
  })

  test('may arrive one byte at a time', async () => {
    const body = JSON.stringify({ subjectId: 'no "body" \\ at all, é' })
    const headers = { 'Content-Type': json, ...inChunks }
    const bytes = chunked(...Buffer.from(body).toString('latin1'))
    dataOf(await askRaw(url, searchPath, { key, method: 'POST', headers, body: bytes }))
  })
})
