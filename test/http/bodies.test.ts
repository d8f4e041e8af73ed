import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { dataOf, errorOf } from '../support/answers.ts'
import { assertDocumented } from '../support/documented.ts'
import { askRaw, openRawConnection, type RawRequest, requestText } from '../support/raw-http.ts'
import { startShop, subjectPath, subjectsPath, visit } from '../support/shop.ts'
import { until } from '../support/until.ts'

const shop = await startShop({ after }, { scopes: ['analytics:view', 'analytics:delete-data'] })
const { key, url } = shop

const limit = 64 * 1024
const chunked = (...chunks: string[]) =>
  [...chunks, ''].map((chunk) => `${chunk.length.toString(16)}\r\n${chunk}\r\n`).join('')

/** Sends a request with a body and then, on the same connection, one without. */
async function askTwice(target: string, request: RawRequest) {
  const connection = await openRawConnection(url)
  connection.send(requestText(target, { key, ...request }))
  const first = await connection.answer(request.method)
  connection.send(requestText(subjectsPath, { key }))
  const second = await connection.answer()
  connection.hangUp()
  return { first, second }
}

const bodies: [what: string, request: RawRequest][] = [
  ['a JSON type and no body', { headers: [['Content-Type', 'application/json']] }],
  [
    'a JSON type and an empty body',
    {
      headers: [
        ['Content-Type', 'application/json'],
        ['Content-Length', '0'],
      ],
    },
  ],
  [
    'JSON',
    {
      headers: [
        ['Content-Type', 'application/json'],
        ['Content-Length', '13'],
      ],
      body: '{"limit":"0"}',
    },
  ],
  [
    'broken JSON',
    {
      headers: [
        ['Content-Type', 'application/json'],
        ['Content-Length', '9'],
      ],
      body: '{"broken"',
    },
  ],
  [
    'text',
    {
      headers: [
        ['Content-Type', 'text/plain'],
        ['Content-Length', '5'],
      ],
      body: 'hello',
    },
  ],
  [
    'a form',
    {
      headers: [
        ['Content-Type', 'application/x-www-form-urlencoded'],
        ['Content-Length', '7'],
      ],
      body: 'limit=0',
    },
  ],
  [
    'a type that is none',
    {
      headers: [
        ['Content-Type', ';;;/'],
        ['Content-Length', '1'],
      ],
      body: 'x',
    },
  ],
  ['no type', { headers: [['Content-Length', '3']], body: 'xyz' }],
  [
    'an encoding it does not have',
    {
      headers: [
        ['Content-Encoding', 'gzip'],
        ['Content-Length', '3'],
      ],
      body: 'xyz',
    },
  ],
  ['chunks', { headers: [['Transfer-Encoding', 'chunked']], body: chunked('hello', 'world') }],
  [
    'chunks of a JSON type',
    {
      headers: [
        ['Content-Type', 'application/json'],
        ['Transfer-Encoding', 'chunked'],
      ],
      body: chunked('{"a'),
    },
  ],
  ['no chunks', { headers: [['Transfer-Encoding', 'chunked']], body: chunked() }],
  ['64 KiB', { headers: [['Content-Length', String(limit)]], body: 'x'.repeat(limit) }],
  [
    '64 KiB in chunks',
    { headers: [['Transfer-Encoding', 'chunked']], body: chunked('x'.repeat(limit - 1), 'x') },
  ],
  [
    'a wish to be told to go on',
    {
      headers: [
        ['Expect', '100-continue'],
        ['Content-Length', '5'],
      ],
      body: 'hello',
    },
  ],
]

describe('a wish to be told to go on', () => {
  test('behind a request that has no answer yet leaves both answers intact', async () => {
    const connection = await openRawConnection(url)
    const document = '/v1/analytics/openapi.json'
    const expecting = requestText(document, { headers: [['Expect', '100-continue']] })
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

  test('in front of a failure', async () => {
    const request: RawRequest = { headers: [['Content-Length', '5']], body: 'hello' }
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

  test('where no key is needed', async () => {
    const { first, second } = await askTwice('/healthz', {
      headers: [['Content-Length', '5']],
      body: 'hello',
    })
    dataOf(first)
    dataOf(second)
  })

  test('as fetch and others send it with DELETE', async () => {
    const headers = { 'content-type': 'application/json' }
    for (const body of ['', '{}', '{', 'x'.repeat(limit)]) {
      dataOf(await shop.ask(subjectPath('nobody'), { key, method: 'DELETE', headers, body }))
    }
  })
})

describe('a body over 64 KiB', () => {
  for (const [what, request] of [
    ['announced', { headers: [['Content-Length', String(limit + 1)]], body: 'x'.repeat(limit + 1) }],
    [
      'in chunks',
      { headers: [['Transfer-Encoding', 'chunked']], body: chunked('x'.repeat(limit), 'x'.repeat(100)) },
    ],
    ['of many times that size', { headers: [['Content-Length', '1000000']], body: 'x'.repeat(1_000_000) }],
  ] satisfies [string, RawRequest][]) {
    test(`is a 400, and the connection goes on or closes: ${what}`, async () => {
      await shop.ingest(visit('berta'))
      for (const [target, method] of [
        [subjectsPath, 'GET'],
        [subjectPath('berta'), 'DELETE'],
      ] as const) {
        const connection = await openRawConnection(url)
        connection.send(requestText(target, { key, ...request, method }))
        errorOf(await connection.answer(), 'invalid_request')
        connection.send(requestText(subjectsPath, { key, headers: [['Connection', 'close']] }))
        assert.match(await connection.rest(), /^(HTTP\/1\.1 200 |$)/)
      }
      dataOf(await shop.ask(subjectPath('berta'), { key }))
    })
  }

  test('is a 400 before it has come, when its length is told', async () => {
    errorOf(
      await askRaw(url, subjectsPath, { key, headers: [['Content-Length', '99999999']] }),
      'invalid_request',
    )
  })

  test('is a 400 before it has ended, when it comes in chunks', async () => {
    const body = `20000\r\n${'x'.repeat(0x20000)}`
    const answer = await askRaw(url, subjectsPath, { key, headers: [['Transfer-Encoding', 'chunked']], body })
    errorOf(answer, 'invalid_request')
  })

  test('is a 400 with its budgets and its id', async () => {
    const answer = await askRaw(url, subjectsPath, {
      key,
      headers: [
        ['Content-Length', '70000'],
        ['X-Request-Id', 'too large'],
      ],
    })
    assert.equal(answer.headers.get('x-request-id'), 'too large')
    assert.ok(answer.headers.has('x-ratelimit-remaining'))
  })

  test('is a 401 without a key, for the key comes first', async () => {
    errorOf(await askRaw(url, subjectsPath, { headers: [['Content-Length', '70000']] }), 'unauthorized')
  })

  test('is a 400 where no key is needed, too', async () => {
    for (const path of ['/healthz', '/readyz', '/v1/analytics/openapi.json']) {
      errorOf(await askRaw(url, path, { headers: [['Content-Length', '70000']] }), 'invalid_request')
    }
  })
})

describe('a body that is broken', () => {
  test('is a 400 once, and the connection closes', async () => {
    await shop.ingest(visit('clara'))
    const connection = await openRawConnection(url)
    const headers: [string, string][] = [['Transfer-Encoding', 'chunked']]
    connection.send(
      requestText(subjectPath('clara'), { key, method: 'DELETE', headers, body: 'zz\r\nhello' }),
    )
    errorOf(await connection.answer(), 'invalid_request')
    assert.equal(await connection.rest(), '')
    dataOf(await shop.ask(subjectPath('clara'), { key }))
  })

  test('erases nothing when it never ends', async () => {
    await shop.ingest(visit('dora'))
    const connection = await openRawConnection(url)
    const headers: [string, string][] = [
      ['Content-Length', '10'],
      ['X-Request-Id', 'never-ends'],
    ]
    connection.send(requestText(subjectPath('dora'), { key, method: 'DELETE', headers, body: 'x' }))
    dataOf(await shop.ask(subjectPath('dora'), { key }))
    connection.hangUp()
    await until(() => shop.logged.some((line) => line.includes('never-ends')))
    dataOf(await shop.ask(subjectPath('dora'), { key }))
  })
})
