import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { budgetOf, dataOf, errorOf, isObject, uuidPattern } from '../support/answers.ts'
import { type Answer, assertDocumented } from '../support/documented.ts'
import { openRawConnection, requestText } from '../support/raw-http.ts'
import { startShop, subjectPath, subjectsPath, visit } from '../support/shop.ts'

const shop = await startShop({ after }, { scopes: ['analytics:view', 'analytics:delete-data'] })
const { key, url } = shop

/** Sends an invalid request and returns its only response, after which the server closes the connection. */
async function sendBroken(text: string, target = url): Promise<Answer> {
  const connection = await openRawConnection(target)
  connection.send(text)
  const answer = await connection.answer()
  assertDocumented('BROKEN', '', answer)
  assert.equal(await connection.rest(), '', 'more than one answer')
  return answer
}

function assertRefused(answer: Answer): void {
  errorOf(answer, 'invalid_request')
  assert.match(answer.headers.get('x-request-id') ?? '', uuidPattern)
  assert.ok(budgetOf(answer).limit > 0)
  assert.equal(answer.headers.get('cache-control'), 'no-store')
  assert.equal(answer.headers.get('x-content-type-options'), 'nosniff')
  assert.equal(answer.headers.get('connection'), 'close')
  assert.ok(Math.abs(Date.parse(answer.headers.get('date') ?? '') - Date.now()) < 60_000)
}

const bearer = `Authorization: Bearer ${key}\r\n`
const get = `GET ${subjectsPath} HTTP/1.1\r\nHost: test\r\n${bearer}`

const broken: [what: string, text: string][] = [
  ['a line of garbage', 'hello there\r\n\r\n'],
  ['bytes of another protocol', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03'],
  ['an unknown version', `GET ${subjectsPath} HTTP/9.9\r\nHost: test\r\n\r\n`],
  ['an unknown protocol', `GET ${subjectsPath} HTTPS/1.1\r\nHost: test\r\n\r\n`],
  ['the preface of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
  ['the preface of HTTP/2 with a frame', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0'],
  ['an unknown method', `BREW ${subjectsPath} HTTP/1.1\r\nHost: test\r\n\r\n`],
  ['a method in lower case', `get ${subjectsPath} HTTP/1.1\r\nHost: test\r\n\r\n`],
  ['a space in the path', `GET ${subjectsPath}/a b HTTP/1.1\r\nHost: test\r\n\r\n`],
  ['a control character in the path', `GET ${subjectsPath}/a\x01b HTTP/1.1\r\nHost: test\r\n\r\n`],
  ['a header without a colon', `${get}nonsense\r\n\r\n`],
  ['a header with a space in its name', `${get}X Y: z\r\n\r\n`],
  ['a control character in a header', `${get}X-Y: a\x01b\r\n\r\n`],
  ['a NUL in the request id', `${get}X-Request-Id: a\x00b\r\n\r\n`],
  ['headers over 16 KiB', `${get}X-Long: ${'x'.repeat(17_000)}\r\n\r\n`],
  ['many headers, over 16 KiB together', `${get}${`X-Many: ${'y'.repeat(30)}\r\n`.repeat(1_000)}\r\n`],
  ['a path over 16 KiB', `GET ${subjectsPath}/${'x'.repeat(17_000)} HTTP/1.1\r\nHost: test\r\n\r\n`],
  ['an invalid length', `${get}Content-Length: many\r\n\r\n`],
  ['a negative length', `${get}Content-Length: -1\r\n\r\n`],
  ['two lengths', `${get}Content-Length: 1\r\nContent-Length: 2\r\n\r\nab`],
  ['a length and chunks', `${get}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`],
  ['CONNECT', 'CONNECT example.com:443 HTTP/1.1\r\nHost: example.com:443\r\n\r\n'],
]

describe('a request that the HTTP parser rejects', () => {
  for (const [what, text] of broken) {
    test(`returns 400 in the envelope, with an ID and a budget, and the connection closes: ${what}`, async () => {
      assertRefused(await sendBroken(text))
    })
  }

  test('includes one that arrives too slowly; a connection without any request closes without a response', async () => {
    const [slow, silent] = [await openRawConnection(url), await openRawConnection(url)]
    slow.send('GET ')
    assertRefused(await slow.answer())
    assert.equal(await silent.rest(), '')
  })

  test('counts against its address, and is refused when that budget is used up', async (t) => {
    const metered = await startShop(t, {
      env: { LETHE_LIMIT_IP: `${broken.length + 1}/minute` },
      scopes: ['analytics:view'],
    })
    let remaining = broken.length + 1
    for (const [what, text] of broken) {
      assert.equal(budgetOf(await sendBroken(text, metered.url)).remaining, --remaining, what)
    }
    dataOf(await metered.ask(subjectsPath, { key: metered.key }))
    for (const [, text] of broken) {
      const answer = await sendBroken(text, metered.url)
      errorOf(answer, 'rate_limited')
      assert.ok(Number(answer.headers.get('retry-after')) >= 1)
      assert.match(answer.headers.get('x-request-id') ?? '', uuidPattern)
    }
    metered.passTime(60_000)
    assertRefused(await sendBroken('hello\r\n\r\n', metered.url))
  })

  test('is logged like every other request, without its content', async () => {
    const before = shop.logged.length
    const answer = await sendBroken('GET /v1/analytics/trackers/shop/subjects/marker HTTP/9.9\r\n\r\n')
    const lines = shop.logged.slice(before)
    assert.equal(lines.length, 1)
    const line: unknown = JSON.parse(lines.join())
    assert.ok(isObject(line))
    assert.equal(line.requestId, answer.headers.get('x-request-id'))
    assert.equal(line.status, 400)
    assert.doesNotMatch(lines.join(), /marker|subjects/)
  })
})

describe('a request that the parser accepts but HTTP does not', async () => {
  const metered = await startShop(
    { after },
    { env: { LETHE_LIMIT_IP: '2/minute' }, scopes: ['analytics:view'] },
  )

  for (const [what, text] of [
    ['HTTP/1.1 without a Host', `GET ${subjectsPath} HTTP/1.1\r\n${bearer}\r\n`],
    ['no version', `GET ${subjectsPath}\r\n${bearer}\r\n`],
    ['HTTP/0.9', `GET ${subjectsPath} HTTP/0.9\r\n${bearer}\r\n`],
    ['HTTP/2.0', `GET ${subjectsPath} HTTP/2.0\r\nHost: test\r\n${bearer}\r\n`],
    ['an unknown expectation', `${get}Expect: nonsense\r\n\r\n`],
  ] as const) {
    test(`returns 400 in the envelope, with an ID and a budget: ${what}`, async () => {
      const connection = await openRawConnection(url)
      connection.send(text)
      const answer = await connection.answer()
      connection.hangUp()
      assertDocumented('GET', subjectsPath, answer)
      errorOf(answer, 'invalid_request')
      assert.match(answer.headers.get('x-request-id') ?? '', uuidPattern)
      assert.ok(budgetOf(answer).limit > 0)
    })

    test(`counts against its address: ${what}`, async () => {
      metered.passTime(60_000)
      const statuses = []
      for (let i = 0; i < 3; i++) {
        const connection = await openRawConnection(metered.url)
        connection.send(text)
        const answer = await connection.answer()
        assertDocumented('GET', subjectsPath, answer)
        statuses.push([answer.status, budgetOf(answer).remaining])
        connection.hangUp()
      }
      assert.deepEqual(statuses, [
        [400, 1],
        [400, 0],
        [429, 0],
      ])
    })
  }
})

describe('CONNECT', () => {
  const tunnel = 'CONNECT example.com:443 HTTP/1.1\r\nHost: example.com:443\r\n\r\n'

  test('does not affect the responses before it or their order', async () => {
    const connection = await openRawConnection(url)
    const nobody = requestText(subjectPath('nobody'), { key, method: 'DELETE' })
    connection.send(nobody + requestText(subjectsPath) + tunnel)
    dataOf(await connection.answer())
    errorOf(await connection.answer(), 'unauthorized')
    assertRefused(await connection.answer())
    assert.equal(await connection.rest(), '')
  })

  test('does not crash the process if the client disconnects before the response', async () => {
    const uncaught: unknown[] = []
    const note = (error: unknown) => uncaught.push(error)
    process.on('uncaughtException', note)
    for (let count = 0; count < 30; count++) {
      const connection = await openRawConnection(url)
      connection.send(tunnel)
      if (count % 2) await nextTurn()
      connection.reset()
    }
    for (let count = 0; count < 20; count++) dataOf(await shop.ask(subjectsPath, { key }))
    process.off('uncaughtException', note)
    assert.deepEqual(uncaught, [])
  })
})

describe('a request to upgrade the protocol', () => {
  for (const protocol of ['websocket', 'h2c']) {
    test(`gets an HTTP/1.1 response and is the last on its connection: ${protocol}`, async () => {
      const connection = await openRawConnection(url)
      const upgrade = `${get}Connection: Upgrade\r\nUpgrade: ${protocol}\r\n\r\n`
      connection.send(upgrade + requestText(subjectsPath, { key }))
      const answer = await connection.answer()
      dataOf(answer)
      assert.equal(answer.headers.get('connection'), 'close')
      assert.equal(await connection.rest(), '')
    })
  }
})

describe('garbage after a complete request', () => {
  test('does not affect the first response, and returns 400', async () => {
    await shop.ingest(visit('anna'))
    const connection = await openRawConnection(url)
    connection.send(`${requestText(subjectPath('anna'), { key })}garbage\r\n\r\n`)
    assert.equal(dataOf(await connection.answer()).subjectId, 'anna')
    const second = await connection.answer()
    assertDocumented('BROKEN', '', second)
    assertRefused(second)
    assert.equal(await connection.rest(), '')
  })

  test('does not affect an erasure in progress', async () => {
    await shop.ingest(visit('berta', { events: 500 }))
    const connection = await openRawConnection(url)
    connection.send(`${requestText(subjectPath('berta'), { key, method: 'DELETE' })}garbage\r\n\r\n`)
    assert.deepEqual(dataOf(await connection.answer()).counts, { sessions: 1, events: 500 })
    assertRefused(await connection.answer())
    assert.equal(await connection.rest(), '')
  })

  test('does not affect several responses or their order', async () => {
    const connection = await openRawConnection(url)
    const ask = (id: string) => requestText(subjectsPath, { key, headers: { 'X-Request-Id': id } })
    connection.send(`${ask('one')}${ask('two')}${ask('three')}\x00\x01\x02\r\n\r\n`)
    for (const id of ['one', 'two', 'three']) {
      const answer = await connection.answer()
      dataOf(answer)
      assert.equal(answer.headers.get('x-request-id'), id)
    }
    assertRefused(await connection.answer())
    assert.equal(await connection.rest(), '')
  })

  test('returns 400 on an idle connection', async () => {
    const connection = await openRawConnection(url)
    connection.send(requestText(subjectsPath, { key }))
    dataOf(await connection.answer())
    connection.send('garbage\r\n\r\n')
    assertRefused(await connection.answer())
    assert.equal(await connection.rest(), '')
  })
})

describe('a request with a malformed body', () => {
  const headers = { 'Transfer-Encoding': 'chunked', 'X-Request-Id': 'broken-body' }
  const text = (target: string) =>
    requestText(target, { key, method: 'DELETE', headers, body: 'zz\r\nhello' })

  test('gets one response, erases nothing and is logged once', async () => {
    await shop.ingest(visit('clara'))
    const before = shop.logged.length
    errorOf(await sendBroken(text(subjectPath('clara'))), 'invalid_request')
    dataOf(await shop.ask(subjectPath('clara'), { key }))
    await shop.ask('/healthz')
    const lines = shop.logged.slice(before).filter((line) => !line.includes('"method":"GET"'))
    assert.equal(lines.length, 1, lines.join())
  })

  test('counts once', async (t) => {
    const metered = await startShop(t, { env: { LETHE_LIMIT_IP: '9/minute' }, scopes: ['analytics:view'] })
    const answer = await sendBroken(text(subjectPath('clara')), metered.url)
    assert.equal(budgetOf(answer).remaining, 8)
    assert.equal(budgetOf(await metered.ask(subjectsPath)).remaining, 7)
  })
})

describe('a truncated request', () => {
  test('gets no response and affects no other client', async () => {
    for (const text of ['', 'G', `GET ${subjectsPath}`, `GET ${subjectsPath} HTTP/1.1\r\n`, get]) {
      const connection = await openRawConnection(url)
      connection.send(text)
      connection.hangUp()
    }
    dataOf(await shop.ask(subjectsPath, { key }))
  })
})
