import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { createVariableToken } from '../../src/operations/variable-token.ts'
import { dataOf, isObject, textIn } from '../support/answers.ts'
import { askRaw, openRawConnection, requestText } from '../support/raw-http.ts'
import { startShop, visit } from '../support/shop.ts'
import { until } from '../support/until.ts'

const shop = await startShop({ after }, { scopes: ['analytics:view', 'analytics:delete-data'] })
const { key, url, logged } = shop

// Values that must never be logged.
const tracker = 'tracker-marker'
const subject = 'subject-marker'
const list = `/v1/analytics/trackers/${tracker}/subjects`
const path = `${list}/${subject}`
await shop.createTracker(shop.organisationId, tracker)
for (const name of ['', '-2', '-3'])
  await shop.ingest(visit(subject + name, { trackerId: tracker, events: 3 }))
const cursor = textIn(dataOf(await shop.ask(`${list}?limit=1`, { key })), 'nextCursor')
await until(() => logged.length === 1)
const issued = await createVariableToken(shop.services, { trackerId: tracker, name: 'website' })
const token = issued.tokenString
const tokenId = issued.token.id
const noOne = key.slice(0, -1) + (key.endsWith('0') ? '1' : '0')

type Line = Record<string, unknown>

/** The lines that `work` logs, once there are at least as many as `count`. */
async function linesOf(count: number, work: () => Promise<unknown>): Promise<Line[]> {
  const before = logged.length
  await work()
  await until(() => logged.length >= before + count)
  return logged.slice(before).map((line) => {
    const parsed: unknown = JSON.parse(line)
    assert.ok(isObject(parsed))
    return parsed
  })
}

const pattern = '/v1/analytics/trackers/{trackerId}/subjects'
const requests: [what: string, ask: () => Promise<unknown>, expected: Line][] = [
  ['a list', () => shop.ask(list, { key }), { method: 'GET', route: pattern, status: 200 }],
  ['a page', () => shop.ask(`${list}?limit=1&cursor=${cursor}`, { key }), { route: pattern, status: 200 }],
  [
    'a search',
    () => shop.ask(`${list}?subjectIdPrefix=${subject}`, { key }),
    { route: pattern, status: 200 },
  ],
  ['a read', () => shop.ask(path, { key }), { route: `${pattern}/{subjectId}`, status: 200 }],
  ['sessions', () => shop.ask(`${path}/sessions`, { key }), { route: `${pattern}/{subjectId}/sessions` }],
  ['events', () => shop.ask(`${path}/events`, { key }), { route: `${pattern}/{subjectId}/events` }],
  [
    'an erasure',
    () => shop.ask(`${path}-3`, { key, method: 'DELETE' }),
    { method: 'DELETE', route: `${pattern}/{subjectId}`, status: 200 },
  ],
  ['HEAD', () => shop.ask(path, { key, method: 'HEAD' }), { method: 'HEAD', status: 200 }],
  [
    'an unknown subject',
    () => shop.ask(`${path}-9`, { key }),
    { route: `${pattern}/{subjectId}`, status: 404 },
  ],
  ['a bad cursor', () => shop.ask(`${list}?cursor=${cursor}x`, { key }), { route: pattern, status: 422 }],
  ['a bad parameter', () => shop.ask(`${path}?${subject}=${key}`, { key }), { status: 422 }],
  ['a bad id', () => shop.ask(`${path}%00`, { key }), { route: `${pattern}/{subjectId}`, status: 422 }],
  [
    'a wrong method',
    () => shop.ask(path, { key, method: 'PUT' }),
    { route: `${pattern}/{subjectId}`, status: 400 },
  ],
  ['an unknown path', () => shop.ask(`/v1/${subject}`, { key }), { route: null, status: 404 }],
  ['a broken path', () => askRaw(url, `${path}%zz`, { key }), { route: null, status: 400 }],
  [
    'a large body',
    () => shop.ask(path, { key, method: 'DELETE', body: subject.repeat(9_000) }),
    { status: 400 },
  ],
  ['no key', () => shop.ask(path), { status: 401, keyId: null }],
  ['a damaged key', () => shop.ask(path, { key: noOne }), { status: 401, keyId: null }],
  ['a key in the query', () => shop.ask(`${path}?key=${key}`), { status: 401, keyId: null }],
  ['a key as an id', () => shop.ask(`${list}/${key}`, { key }), { status: 404 }],
  [
    'other headers',
    () => shop.ask(path, { key, headers: { 'user-agent': subject, referer: path, cookie: key } }),
    { status: 200 },
  ],
  [
    'an unusable request id',
    () => shop.ask(path, { key, headers: { 'x-request-id': subject.repeat(20) } }),
    { status: 400, keyId: null },
  ],
  [
    'a key as a request id',
    () => shop.ask(path, { key, headers: { 'x-request-id': `my ${key}` } }),
    { status: 200 },
  ],
  [
    'variables',
    () => shop.ask(`/v1/variables?token=${token}`),
    { route: '/v1/variables', status: 200, keyId: null, tokenId },
  ],
  [
    'a damaged token',
    () => shop.ask(`/v1/variables?token=${token}x`),
    { route: '/v1/variables', status: 401, keyId: null },
  ],
  [
    'a token as a request id',
    () => shop.ask(`/v1/variables?token=${token}`, { headers: { 'x-request-id': `my ${token}` } }),
    { status: 200, keyId: null, tokenId },
  ],
  ['a token as a key', () => shop.ask(path, { key: token }), { status: 401, keyId: null }],
  ['a probe', () => shop.ask('/healthz', { key }), { route: '/healthz', status: 200, keyId: null }],
  [
    'the document',
    () => shop.ask('/v1/analytics/openapi.json'),
    { route: '/v1/analytics/openapi.json', status: 200, keyId: null },
  ],
]

describe('the log', () => {
  for (const [what, ask, expected] of requests) {
    test(`has one line for each request with permitted fields only: ${what}`, async () => {
      const lines = await linesOf(1, ask)
      assert.equal(lines.length, 1)
      const [line = {}] = lines
      const known = ['durationMs', 'keyId', 'level', 'method', 'msg', 'requestId', 'route', 'status', 'time']
      assert.deepEqual(Object.keys(line).sort(), [...known, ...('tokenId' in expected ? ['tokenId'] : [])])
      assert.partialDeepStrictEqual(line, { msg: 'request', keyId: shop.keyId, ...expected })
      assert.equal(typeof line.durationMs, 'number')
      assert.ok(Number(line.durationMs) >= 0)
    })
  }

  test('has the request ID of the response', async () => {
    let told: string | null = null
    const [line] = await linesOf(1, async () => {
      told = (await shop.ask(path, { key })).headers.get('x-request-id')
    })
    assert.equal(line?.requestId, told)
  })

  test('has requests that exceed a budget or lack a scope', async (t) => {
    const own = await startShop(t, { env: { LETHE_LIMIT_KEY: '1/minute' }, scopes: ['analytics:view'] })
    await own.ask(path, { key: own.key, method: 'DELETE' })
    await own.ask(path, { key: own.key })
    const requests = () => own.logged.map((line) => JSON.parse(line)).filter(({ msg }) => msg === 'request')
    await until(() => requests().length === 2)
    const lines: unknown[] = requests()
    assert.partialDeepStrictEqual(lines, [
      { status: 403, keyId: own.keyId, route: `${pattern}/{subjectId}` },
      { status: 429, keyId: own.keyId, route: `${pattern}/{subjectId}` },
    ])
    assert.doesNotMatch(own.logged.join(), /marker/)
  })

  test('has the cause of a failure, but no ID, key or cursor', async () => {
    const { read } = shop.services.subjects
    shop.services.subjects.read = () => Promise.reject(new Error('the disk is gone'))
    const lines = await linesOf(2, () => shop.ask(path, { key, headers: { 'x-request-id': 'failing' } }))
    shop.services.subjects.read = read
    assert.deepEqual(
      lines.map(({ requestId, msg, level }) => [requestId, msg, level]),
      [
        ['failing', 'request failed', 50],
        ['failing', 'request', 30],
      ],
    )
    assert.match(JSON.stringify(lines[0]), /the disk is gone/)
    assert.equal(lines[1]?.status, 500)
  })

  const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
  const ofPeople = [subject, 'marker@example.com']
  const encodings = ['utf8', 'base64', 'base64url', 'hex'] as const

  test('has a generated ID if the body may contain the one of the client, which the response still has', async () => {
    const bodies = [
      JSON.stringify({ subjectId: subject }),
      JSON.stringify({ identifier: { name: 'email', value: 'marker@example.com' } }),
      '{"broken',
      JSON.stringify({ [subject]: 0 }),
      '',
    ]
    for (const person of ofPeople) {
      for (const encoding of encodings) {
        const id = `find ${Buffer.from(person).toString(encoding)}`
        for (const body of bodies) {
          const headers = { 'x-request-id': id, 'content-type': 'application/json' }
          const lines = await linesOf(1, async () => {
            const answer = await shop.ask('/v1/analytics/subjects/search', {
              key,
              method: 'POST',
              headers,
              body,
            })
            assert.equal(answer.headers.get('x-request-id'), id)
          })
          assert.match(String(lines[0]?.requestId), uuid)
        }
        const headers = { 'x-request-id': id }
        const [line] = await linesOf(1, () =>
          shop.ask('/v1/analytics/search', { method: 'PUT', headers, body: person }),
        )
        assert.match(String(line?.requestId), uuid)
      }
    }
  })

  test("has the client's UUID of a request with a body, unless the body contains it", async () => {
    const chosen = '6f8b2c1e-5a0d-4a57-9b7e-0c2f6d1f7a34'
    const digits = Buffer.from('marker-of-16-let').toString('hex')
    const spelled = digits.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
    for (const [id, subjectId, isKept] of [
      [chosen, 'someone', true],
      [chosen, chosen, false],
      [chosen, `visitor-${chosen.toUpperCase()}`, false],
      [chosen.toUpperCase(), chosen.replaceAll('-', ''), false],
      [spelled, 'marker-of-16-let', false],
    ] as const) {
      const headers = { 'x-request-id': id, 'content-type': 'application/json' }
      const [line] = await linesOf(1, () =>
        shop.ask('/v1/analytics/subjects/search', {
          key,
          method: 'POST',
          headers,
          body: JSON.stringify({ subjectId }),
        }),
      )
      assert.equal(line?.requestId === id, isKept, `${id} with ${subjectId}`)
      assert.match(String(line?.requestId), /^[0-9a-f-]{36}$/i)
    }
  })

  test("has the client's UUID of a batch unless a line contains it, and no other ID", async () => {
    const chosen = '6f8b2c1e-5a0d-4a57-9b7e-0c2f6d1f7a35'
    const collector = (await shop.createKey(shop.organisationId, ['analytics:collect'])).keyString
    for (const [id, subjectId, isKept] of [
      [chosen, 'someone', true],
      [chosen, chosen, false],
      ['nightly batch', 'someone', false],
    ] as const) {
      const headers = { 'x-request-id': id, 'content-type': 'application/x-ndjson' }
      const body = `\n{"type":"event","subjectId":"${subjectId}"}`
      const [line] = await linesOf(1, () =>
        shop.ask('/v1/ingest/trackers/shop/batches', { key: collector, method: 'POST', headers, body }),
      )
      assert.equal(line?.requestId === id, isKept, `${id} with ${subjectId}`)
    }
  })

  test("has a generated ID instead of the client's UUID if the body is not known", async () => {
    const chosen = '6f8b2c1e-5a0d-4a57-9b7e-0c2f6d1f7a36'
    const collector = (await shop.createKey(shop.organisationId, ['analytics:collect'])).keyString
    const line = JSON.stringify({ type: 'event', subjectId: chosen })
    const json = { 'content-type': 'application/json' }
    const ndjson = { 'content-type': 'application/x-ndjson' }
    const long = JSON.stringify({ subjectId: chosen, text: 'a'.repeat(300 * 1024) })
    const bodies: [what: string, headers: Record<string, string>, body: string | Buffer<ArrayBuffer>][] = [
      ['too many lines', ndjson, `${line}\n`.repeat(10_001)],
      ['too many bytes', { ...ndjson, 'content-encoding': 'gzip' }, gzipSync(`${long}\n`.repeat(15))],
      ['a line that is too long', ndjson, long],
      ['a line that is no text', ndjson, Buffer.concat([Buffer.from([0xff]), Buffer.from(line)])],
      ['damaged compression', { ...ndjson, 'content-encoding': 'gzip' }, gzipSync(line).subarray(0, -8)],
      ['an unknown compression', { ...ndjson, 'content-encoding': 'br' }, line],
      ['another type', { 'content-type': 'text/plain' }, line],
      ['broken JSON', json, `{"lines":[${line}`],
      ['a field besides the lines', json, `{"lines":[],"subjectId":"${chosen}"}`],
      ['no lines', json, line],
      ['its UUID in capitals', ndjson, line.toUpperCase()],
      ['its UUID without hyphens', ndjson, line.replaceAll('-', '')],
      ['what it spells', ndjson, JSON.stringify({ type: 'event', subjectId: 'marker-of-16-let' })],
    ]
    const digits = Buffer.from('marker-of-16-let').toString('hex')
    const spelled = digits.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
    for (const [what, headers, body] of bodies) {
      const sent = { ...headers, 'x-request-id': what === 'what it spells' ? spelled : chosen }
      const [logLine] = await linesOf(1, () =>
        shop.ask('/v1/ingest/trackers/shop/batches', { key: collector, method: 'POST', headers: sent, body }),
      )
      assert.match(String(logLine?.requestId), uuid, what)
      assert.notEqual(logLine?.requestId, sent['x-request-id'], what)
    }
    for (const body of [
      `{"subjectId":"${chosen}"`,
      `{"subjectId":"${chosen}","subjectId":"someone"}`,
      `{"${chosen}":0}`,
      `{"subjectId":"${chosen}${'a'.repeat(70_000)}"}`,
    ]) {
      const headers = { ...json, 'x-request-id': chosen }
      const [logLine] = await linesOf(1, () =>
        shop.ask('/v1/analytics/subjects/search', { key, method: 'POST', headers, body }),
      )
      assert.match(String(logLine?.requestId), uuid, body)
      assert.notEqual(logLine?.requestId, chosen, body.slice(0, 80))
    }
  })

  test("has a generated ID if the client's contains a part of the URL, encoded or not", async () => {
    for (const encoding of encodings) {
      const id = `read-${Buffer.from(subject).toString(encoding)}`
      for (const target of [
        path,
        `${path}/events`,
        `${list}?subjectIdPrefix=${subject}`,
        `${list}?subject=${subject}`,
        `/v1/${subject}`,
        `/v1/analytics/trackers/${tracker}/subject/${subject}`,
      ]) {
        const [line] = await linesOf(1, () => shop.ask(target, { key, headers: { 'x-request-id': id } }))
        assert.match(String(line?.requestId), uuid, target)
      }
    }
    for (const id of [cursor, `page ${Buffer.from(subject).toString('base64')}`]) {
      const headers = { 'x-request-id': id }
      const [line] = await linesOf(1, () => shop.ask(`${list}?limit=1&cursor=${cursor}`, { key, headers }))
      assert.match(String(line?.requestId), uuid, id)
    }
    const [line] = await linesOf(1, () => shop.ask(path, { key, headers: { 'x-request-id': 'ticket 4711' } }))
    assert.equal(line?.requestId, 'ticket 4711')
  })

  test('has the same ID in all lines of a request', async () => {
    const { subjects } = shop.services.search
    shop.services.search.subjects = () => Promise.reject(new Error('the disk is gone'))
    const headers = { 'x-request-id': subject, 'content-type': 'application/json' }
    const body = JSON.stringify({ subjectId: subject })
    const lines = await linesOf(2, () =>
      shop.ask('/v1/analytics/subjects/search', { key, method: 'POST', headers, body }),
    )
    shop.services.search.subjects = subjects
    assert.deepEqual(
      lines.map(({ msg }) => msg),
      ['request failed', 'request'],
    )
    assert.match(String(lines[0]?.requestId), uuid)
    assert.equal(lines[0]?.requestId, lines[1]?.requestId)
  })

  test('has one line for a request whose client disconnected', async () => {
    const { read } = shop.services.subjects
    const { promise: reached, resolve: reach } = Promise.withResolvers<void>()
    const { promise: gone, resolve: leave } = Promise.withResolvers<void>()
    shop.services.subjects.read = async (...args) => {
      reach()
      await gone
      return read(...args)
    }
    const [line] = await linesOf(1, async () => {
      const connection = await openRawConnection(url)
      connection.send(requestText(path, { key }))
      await reached
      connection.hangUp()
    })
    leave()
    shop.services.subjects.read = read
    assert.equal(line?.hungUp, true)
    await linesOf(1, async () => dataOf(await shop.ask(path, { key })))
  })

  test('has one line for each request on a connection', async () => {
    const lines = await linesOf(3, async () => {
      const connection = await openRawConnection(url)
      connection.send(requestText(path, { key }).repeat(3))
      for (let i = 0; i < 3; i++) dataOf(await connection.answer())
      connection.hangUp()
    })
    assert.equal(lines.length, 3)
  })

  test('contains no key, ID, cursor or URL after all of these requests', async () => {
    const all = logged.join('\n')
    assert.ok(logged.length > requests.length)
    for (const [what, secret] of [
      ['the tracker', tracker],
      ['the subject', 'subject-marker'],
      ['the subject in Base64', Buffer.from(subject).toString('base64').replaceAll('=', '')],
      ['the subject in digits', Buffer.from(subject).toString('hex')],
      ['an address of a person', 'marker@example.com'],
      ['the cursor', cursor],
      ['the key', key],
      ['the secret of the key', key.slice(-38)],
      ['the secret without its checksum', key.slice(-38, -6)],
      ['a damaged key', noOne],
      ['the token', token],
      ['the secret of the token', token.slice(-38, -6)],
      ['an address', '127.0.0.1'],
      ['a header', 'Bearer'],
    ] as const) {
      assert.ok(!all.includes(secret), `${what} is in the log`)
    }
    assert.doesNotMatch(all, /trackers\/[^{]/)
    assert.doesNotMatch(all, /[?&]\w+=/)
  })
})
