import assert from 'node:assert/strict'
import { type IncomingHttpHeaders, request } from 'node:http'
import { after, describe, test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { budgetOf, dataOf, errorOf, listIn } from '../support/answers.ts'
import { askRaw, openRawConnection, requestText } from '../support/raw-http.ts'
import { startShop, subjectPath, subjectsPath, visit } from '../support/shop.ts'

const both = ['analytics:view', 'analytics:delete-data'] as const
const shop = await startShop({ after }, { scopes: both })
const { key, url } = shop
await shop.ingest(Array.from({ length: 40 }, (_, i) => visit(`visitor-${i}`)).flat())

describe('Host', () => {
  const refused: [what: string, headers: [string, string][]][] = [
    [
      'two of them',
      [
        ['Host', 'a.example'],
        ['Host', 'a.example'],
      ],
    ],
    [
      'two of them, in different case',
      [
        ['Host', 'a.example'],
        ['hOST', 'b.example'],
      ],
    ],
    ['a path in it', [['Host', 'a.example/v1']]],
    ['a user in it', [['Host', 'anna@a.example']]],
    ['two ports', [['Host', 'a.example:80:80']]],
    ['an invalid port', [['Host', 'a.example:http']]],
    ['a space in it', [['Host', 'a.example b.example']]],
    ['an address in half a bracket', [['Host', '[::1']]],
  ]
  for (const [what, headers] of refused) {
    test(`returns 400 and counts the request: ${what}`, async () => {
      const answer = await askRaw(url, subjectsPath, { key, headers })
      errorOf(answer, 'invalid_request')
      budgetOf(answer)
    })
  }

  test('is a name or an address, with or without a port', async () => {
    for (const host of [
      ...['a.example', 'a.example:8080', '127.0.0.1:80', '[::1]:8080', 'xn--bcher-kva.example', ''],
    ]) {
      dataOf(await askRaw(url, subjectsPath, { key, headers: { Host: host } }))
    }
  })
})

describe('a transfer coding', () => {
  for (const coding of [
    ...['gzip, chunked', 'odd, chunked', 'chunked, chunked', 'identity', 'chunked;a=b', 'xchunked'],
  ]) {
    test(`other than chunked returns 400 and counts the request: ${coding}`, async () => {
      const headers = { 'Transfer-Encoding': coding }
      const body = '5\r\nhello\r\n0\r\n\r\n'
      const answer = await askRaw(url, subjectsPath, { key, headers, body })
      errorOf(answer, 'invalid_request')
      budgetOf(answer)
    })
  }

  test('may spell chunked in any case', async () => {
    const headers = { 'Transfer-Encoding': 'Chunked' }
    dataOf(await askRaw(url, subjectsPath, { key, headers, body: '5\r\nhello\r\n0\r\n\r\n' }))
  })
})

describe('an HTTP/1.0 request', () => {
  test('is the last on its connection if its body is chunked', async () => {
    const connection = await openRawConnection(url)
    const head = `GET /healthz HTTP/1.0\r\nHost: test\r\nConnection: keep-alive\r\n`
    connection.send(`${head}\r\n`)
    dataOf(await connection.answer())
    connection.send(`${head}Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n${head}\r\n`)
    const answer = await connection.answer()
    dataOf(answer)
    assert.equal(answer.headers.get('connection'), 'close')
    assert.equal(await connection.rest(), '')
  })
})

describe('every response', () => {
  test('has a date and forbids everything to a browser', async () => {
    for (const path of [subjectsPath, subjectPath('nobody'), '/healthz', '/v1/nowhere']) {
      const { headers } = await shop.ask(path, { key })
      assert.match(headers.get('date') ?? '', / GMT$/)
      assert.equal(headers.get('content-security-policy'), "default-src 'none'; frame-ancestors 'none'")
    }
  })
})

describe('a long response', () => {
  /** Returns the bytes as transmitted, which `fetch` would decompress. */
  async function read(target: string, encodings: string | null, method = 'GET') {
    const headers: Record<string, string> = { Authorization: `Bearer ${key}` }
    if (encodings !== null) headers['Accept-Encoding'] = encodings
    const { promise, resolve, reject } = Promise.withResolvers<{
      headers: IncomingHttpHeaders
      bytes: Buffer
    }>()
    request(`${url}${target}`, { method, headers }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk) => chunks.push(chunk))
      response.on('end', () => resolve({ headers: response.headers, bytes: Buffer.concat(chunks) }))
    })
      .on('error', reject)
      .end()
    return promise
  }

  test('is compressed only for clients that accept gzip', async () => {
    const plain = await read(subjectsPath, null)
    assert.ok(plain.bytes.length > 1_024)
    assert.equal(plain.headers.vary, 'Accept-Encoding')
    for (const encodings of ['gzip', 'br, GZIP;q=0.5', 'deflate,gzip']) {
      const packed = await read(subjectsPath, encodings)
      assert.equal(packed.headers['content-encoding'], 'gzip', encodings)
      assert.equal(packed.headers.vary, 'Accept-Encoding')
      assert.equal(packed.headers['content-length'], String(packed.bytes.length))
      assert.ok(packed.bytes.length < plain.bytes.length / 3)
      const body = JSON.parse(gunzipSync(packed.bytes).toString())
      assert.deepEqual(body.data, JSON.parse(plain.bytes.toString()).data)
    }
    for (const encodings of ['identity', 'br', 'gzip;q=0', '']) {
      const { headers, bytes } = await read(subjectsPath, encodings)
      assert.equal(headers['content-encoding'], undefined, encodings)
      assert.equal(bytes.length, plain.bytes.length)
    }
  })

  test('starts at 1 KiB', async () => {
    for (const limit of [1, 10]) {
      const { headers, bytes } = await read(`${subjectsPath}?limit=${limit}`, 'identity')
      const packed = await read(`${subjectsPath}?limit=${limit}`, 'gzip')
      assert.equal(packed.headers['content-encoding'], bytes.length > 1_024 ? 'gzip' : undefined)
      assert.equal(headers['content-encoding'], undefined)
      assert.equal(bytes.length > 1_024, limit === 10)
    }
  })

  test('has no body for HEAD, compressed or not', async () => {
    for (const encodings of ['gzip', null]) {
      const { headers, bytes } = await read(subjectsPath, encodings, 'HEAD')
      assert.equal(bytes.length, 0)
      assert.equal(headers['content-encoding'], encodings ?? undefined)
    }
  })

  test('keeps its order among the responses on a connection', async () => {
    const connection = await openRawConnection(url)
    const long = requestText(subjectsPath, { key, headers: { 'Accept-Encoding': 'gzip' } })
    connection.send(long + requestText('/healthz'))
    const first = await connection.answer()
    assert.equal(first.headers.get('content-encoding'), 'gzip')
    dataOf(first)
    dataOf(await connection.answer())
    connection.hangUp()
  })

  test('is not compressed if it is short', async () => {
    const { headers } = await read('/healthz', 'gzip')
    assert.equal(headers['content-encoding'], undefined)
    assert.equal(headers.vary, undefined)
  })
})

describe('the OpenAPI document', () => {
  const path = '/v1/analytics/openapi.json'

  test('returns 304 to a client that already has it', async () => {
    const { status, headers } = await shop.ask(path)
    const etag = headers.get('etag') ?? assert.fail('no ETag')
    assert.equal(status, 200)
    assert.equal(headers.get('cache-control'), 'no-cache')
    for (const known of [etag, etag.replace('W/', ''), `"other", ${etag}`, '*']) {
      const again = await shop.ask(path, { headers: { 'if-none-match': known } })
      assert.deepEqual([again.status, again.body], [304, null], known)
      assert.equal(again.headers.get('etag'), etag)
    }
    for (const other of ['"other"', etag.slice(0, -2)]) {
      assert.equal((await shop.ask(path, { headers: { 'if-none-match': other } })).status, 200, other)
    }
  })
})

describe('RateLimit and RateLimit-Policy', () => {
  test('list every budget that counted the request', async (t) => {
    const env = { LETHE_LIMIT_IP: '7/second', LETHE_LIMIT_KEY: '5/minute', LETHE_LIMIT_ERASURE: '3/hour' }
    const own = await startShop(t, { env, scopes: both })
    const read = await own.ask(subjectsPath, { key: own.key })
    assert.equal(read.headers.get('ratelimit-policy'), '"ip";q=7;w=1, "key";q=5;w=60')
    assert.match(read.headers.get('ratelimit') ?? '', /^"ip";r=6;t=1, "key";r=4;t=60$/)
    const erased = await own.ask(subjectPath('nobody'), { key: own.key, method: 'DELETE' })
    assert.equal(erased.headers.get('ratelimit-policy'), '"ip";q=7;w=1, "key";q=5;w=60, "erasure";q=3;w=3600')
    assert.match(erased.headers.get('ratelimit') ?? '', /"key";r=3;t=\d+, "erasure";r=2;t=3600$/)
    const stranger = await own.ask(subjectsPath)
    assert.equal(stranger.headers.get('ratelimit-policy'), '"ip";q=7;w=1')
    for (let i = 0; i < 3; i++) await own.ask(subjectsPath, { key: own.key })
    const refused = await own.ask(subjectsPath, { key: own.key })
    errorOf(refused, 'rate_limited')
    assert.match(refused.headers.get('ratelimit') ?? '', /"key";r=0;t=\d+$/)
    const [, seconds] = /"key";r=0;t=(\d+)$/.exec(refused.headers.get('ratelimit') ?? '') ?? []
    assert.equal(refused.headers.get('retry-after'), seconds)
  })
})

describe('many pipelined requests', () => {
  test('are all answered in order', async () => {
    const connection = await openRawConnection(url)
    const ids = Array.from({ length: 400 }, (_, i) => `nobody-${i}`)
    const ask = (id: string, method: string) =>
      requestText(subjectPath(id), { key, method, headers: { 'X-Request-Id': id } })
    connection.send(ids.map((id) => ask(id, 'DELETE')).join(''))
    for (const id of ids) {
      const answer = await connection.answer('DELETE')
      assert.equal(dataOf(answer).subjectId, id)
      assert.equal(answer.headers.get('x-request-id'), id)
    }
    connection.send(requestText(subjectsPath, { key }))
    assert.ok(listIn(dataOf(await connection.answer()), 'subjects').length > 0)
    connection.hangUp()
  })
})
