import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { gzipSync, zstdCompressSync } from 'node:zlib'
import { deleteTracker } from '../../src/operations/tracker.ts'
import { dataOf, errorOf, isObject, listIn } from '../support/answers.ts'
import type { Answer } from '../support/documented.ts'
import { openRawConnection, requestText } from '../support/raw-http.ts'
import { anHourAgo, startShop, subjectPath } from '../support/shop.ts'
import { until } from '../support/until.ts'

const shop = await startShop({ after }, { scopes: ['analytics:collect'] })
const { services } = shop
const reader = (await shop.createKey(shop.organisationId, ['analytics:view', 'analytics:delete-data']))
  .keyString
const path = '/v1/ingest/trackers/shop/batches'
const ndjson = 'application/x-ndjson'

function event(subjectId: string, eventId: string, more: Record<string, unknown> = {}) {
  const occurredAt = new Date(anHourAgo).toISOString()
  return { type: 'event', subjectId, sessionId: 's1', eventId, name: 'pageview', occurredAt, ...more }
}

const toLines = (lines: readonly unknown[]) =>
  lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line))).join('\n')

interface Sent {
  type?: string
  encoding?: string
  key?: string
  to?: string
}

async function send(body: string | Uint8Array<ArrayBuffer>, sent: Sent = {}): Promise<Answer> {
  const { type = ndjson, encoding, key = shop.key, to = path } = sent
  const headers = { 'content-type': type, ...(encoding && { 'content-encoding': encoding }) }
  return shop.ask(to, { method: 'POST', key, headers, body })
}

async function countsOf(subjectId: string): Promise<unknown> {
  const answer = await shop.ask(subjectPath(subjectId), { key: reader })
  return answer.status === 404 ? null : dataOf(answer).counts
}

const none = { subjects: 0, sessions: 0, events: 0 }
const clean = { unchanged: 0, tooOld: 0, ofErased: 0, refusedCount: 0, refused: [] }

describe('a batch of lines', () => {
  test('is stored before the response, and sending it again changes nothing', async () => {
    const body = toLines([
      { type: 'session', subjectId: 'anna', sessionId: 's1', startedAt: new Date(anHourAgo).toISOString() },
      event('anna', 'e1'),
      event('ben', 'e1', { trackerId: 'shop', identifiers: { email: 'ben@example.com' } }),
    ])
    const added = { subjects: 2, sessions: 2, events: 2 }
    assert.deepEqual(dataOf(await send(body)), { trackerId: 'shop', lines: 3, added, ...clean })
    assert.deepEqual(await countsOf('anna'), { sessions: 1, events: 1 })
    const again = dataOf(await send(body))
    assert.deepEqual(again, { trackerId: 'shop', lines: 3, added: none, ...clean, unchanged: 3 })
    const found = await shop.ask('/v1/analytics/subjects/search', {
      method: 'POST',
      key: reader,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ identifier: { name: 'email', value: 'BEN@example.com' } }),
    })
    assert.deepEqual(
      listIn(dataOf(found), 'subjects').map((each) => isObject(each) && each.subjectId),
      ['ben'],
    )
  })

  test('may be JSON with any spacing and any valid string', async () => {
    const odd = event('odd "[{,]}\\', 'e1', { properties: { text: '"],[{\\"\\\\' } })
    const body = `\n{ "lines" :\t[\r\n ${JSON.stringify(odd, null, 2)} , ${JSON.stringify(event('odd 2', 'e'))}\n] }\n`
    const added = { subjects: 2, sessions: 2, events: 2 }
    const answer = dataOf(await send(body, { type: 'application/json; charset=utf-8' }))
    assert.deepEqual(answer, { trackerId: 'shop', lines: 2, added, ...clean })
    assert.deepEqual(await countsOf('odd "[{,]}\\'), { sessions: 1, events: 1 })
    const empty = dataOf(await send('{"lines":[]}', { type: 'application/json' }))
    assert.deepEqual(empty, { trackerId: 'shop', lines: 0, added: none, ...clean })
  })

  test('may be compressed, as NDJSON and as JSON', async () => {
    const lines = [event('packed', 'e1'), event('packed', 'e2')]
    const pack = { gzip: gzipSync, 'x-gzip': gzipSync, zstd: zstdCompressSync }
    for (const [encoding, compress] of Object.entries(pack)) {
      const answer = await send(new Uint8Array(compress(toLines(lines))), { encoding })
      assert.equal(dataOf(answer).lines, 2, encoding)
      const json = new Uint8Array(compress(JSON.stringify({ lines })))
      assert.equal(dataOf(await send(json, { encoding, type: 'application/json' })).unchanged, 2)
    }
    assert.deepEqual(await countsOf('packed'), { sessions: 1, events: 2 })
  })

  test('may be empty or contain only empty lines', async () => {
    assert.equal(dataOf(await send('')).lines, 0)
    assert.deepEqual(dataOf(await send('\n \r\n')), { trackerId: 'shop', lines: 2, added: none, ...clean })
  })

  test('reports which lines are invalid and why, and stores the others', async () => {
    const body = toLines([
      event('cleo', 'e1'),
      'nonsense',
      event('cleo', 'e2', { trackerId: 'other' }),
      event('', 'e3'),
      event('cleo', 'e4', { occurredAt: new Date(Date.now() + 2 * 86_400_000).toISOString() }),
      { type: 'event' },
    ])
    const data = dataOf(await send(body))
    assert.deepEqual(data.refused, [
      { line: 2, message: 'not JSON' },
      { line: 3, message: 'trackerId must be the tracker in the path, or absent' },
      { line: 4, message: 'subjectId must be 1 to 256 characters, no control characters, not "." or ".."' },
      { line: 5, message: 'occurredAt is more than a day in the future' },
      { line: 6, message: 'subjectId is missing' },
    ])
    assert.equal(data.refusedCount, 5)
    assert.deepEqual(await countsOf('cleo'), { sessions: 1, events: 1 })
  })

  test('refuses numbers that would get other digits, instead of storing two events as one', async () => {
    const { eventId: _eventId, ...event0 } = event('dora', '', { properties: { order: 0 } })
    const lines = ['1234567890123456781', '1234567890123456789', '1e400', '"1234567890123456781"', '17'].map(
      (order) => JSON.stringify(event0).replace('"order":0', `"order":${order}`),
    )
    const inexact = 'properties has an integer that is too large to be exact; write it as text'
    const refused = [
      { line: 1, message: inexact },
      { line: 2, message: inexact },
      { line: 3, message: 'properties has a number that is too large' },
    ]
    assert.partialDeepStrictEqual(dataOf(await send(lines.join('\n'))), { added: { events: 2 }, refused })
    const json = await send(`{"lines":[${lines.join()}]}`, { type: 'application/json' })
    assert.partialDeepStrictEqual(dataOf(json), { unchanged: 2, refused })
  })

  test('lists the first 100 invalid lines and counts all of them', async () => {
    const data = dataOf(await send('x\n'.repeat(250)))
    assert.deepEqual([data.lines, data.refusedCount, listIn(data, 'refused').length], [250, 250, 100])
  })

  test('skips lines that are not UTF-8 or too long, and stores the others', async () => {
    const long = JSON.stringify(event('long', 'e1', { properties: { text: 'x'.repeat(300_000) } }))
    const body = Buffer.concat([
      Buffer.from(`${JSON.stringify(event('near', 'e1'))}\n`),
      Buffer.from([0xff, 0xfe, 0x0a]),
      Buffer.from(`${long}\n${JSON.stringify(event('near', 'e2'))}`),
    ])
    const data = dataOf(await send(new Uint8Array(body)))
    const refused = listIn(data, 'refused').map((each) => isObject(each) && each.line)
    assert.deepEqual([refused, await countsOf('near')], [[2, 3], { sessions: 1, events: 2 }])
  })

  test('omits data that is too old or was erased, and stores later data', async () => {
    await send(toLines([event('dora', 'e1')]))
    dataOf(await shop.ask(subjectPath('dora'), { method: 'DELETE', key: reader }))
    const later = new Date(services.clock() + 60_000).toISOString()
    const old = event('dora', 'e0', { occurredAt: '2001-01-01T00:00:00Z' })
    const body = toLines([event('dora', 'e1'), event('dora', 'e2', { occurredAt: later }), old])
    const data = dataOf(await send(body))
    assert.deepEqual(data.added, { subjects: 1, sessions: 1, events: 1 })
    assert.deepEqual([data.tooOld, data.ofErased], [1, 1])
    assert.deepEqual(await countsOf('dora'), { sessions: 1, events: 1 })
  })

  test('returns 404 for a tracker that is not visible, whoever owns it', async () => {
    const foreign = await shop.createOrganisation()
    const theirs = await shop.createTracker(foreign)
    const gone = await shop.createTracker(shop.organisationId, 'gone')
    await deleteTracker(services, gone, gone)
    for (const trackerId of [theirs, gone, 'nowhere']) {
      const answer = await send(toLines([event('anna', 'e1')]), { to: path.replace('shop', trackerId) })
      assert.equal(
        errorOf(answer, 'not_found').message,
        'This tracker does not exist, or your organisation cannot see it.',
      )
    }
  })

  test('needs its scope, which allows nothing else', async () => {
    errorOf(await send('', { key: reader }), 'forbidden')
    errorOf(await shop.ask(subjectPath('anna'), { key: shop.key }), 'forbidden')
  })
})

const line = JSON.stringify(event('nobody', 'e1'))
const refusals: [what: string, body: string | Uint8Array<ArrayBuffer>, sent: Sent, message: RegExp][] = [
  ['another type', line, { type: 'text/plain' }, /application\/x-ndjson or application\/json/],
  ['no type', line, { type: '' }, /Content-Type must be/],
  ['another encoding', line, { encoding: 'br' }, /gzip or zstd/],
  ['two encodings', line, { encoding: 'gzip, zstd' }, /gzip or zstd/],
  ['text that is not gzip', line, { encoding: 'gzip' }, /the compressed data is damaged/],
  ['text that is not zstd', line, { encoding: 'zstd' }, /the compressed data is damaged/],
  ['gzip that is cut off', new Uint8Array(gzipSync(line).subarray(0, -9)), { encoding: 'gzip' }, /truncated/],
  [
    'zstd that is cut off',
    new Uint8Array(zstdCompressSync(line).subarray(0, -4)),
    { encoding: 'zstd' },
    /truncated|damaged/,
  ],
  [
    'zstd with trailing data',
    new Uint8Array(Buffer.concat([zstdCompressSync(line), Buffer.from('more')])),
    { encoding: 'zstd' },
    /damaged/,
  ],
  ['10,001 lines', `${line}\n`.repeat(10_001), {}, /at most 10,000 lines/],
  [
    '10,001 items',
    `{"lines":[${Array(10_001).fill('1').join()}]}`,
    { type: 'application/json' },
    /10,000 lines/,
  ],
  ['more than 4 MiB', `${line}\n${' '.repeat(200_000)}\n`.repeat(22), {}, /larger than|at most 4 MiB/],
  [
    'more than 4 MiB, decoded',
    new Uint8Array(gzipSync(Buffer.alloc(5 << 20))),
    { encoding: 'gzip' },
    /4 MiB, decoded/,
  ],
  ['broken JSON', '{"lines":[{"type":"event"},]}', { type: 'application/json' }, /JSON object in UTF-8/],
  ['JSON that ends early', `{"lines":[${line}`, { type: 'application/json' }, /JSON object in UTF-8/],
  ['JSON with too many brackets', '{"lines":[}]}', { type: 'application/json' }, /JSON object in UTF-8/],
  ['JSON and more', `{"lines":[${line}]} {}`, { type: 'application/json' }, /JSON object in UTF-8/],
  [
    'JSON that is not text',
    new Uint8Array([...Buffer.from('{"lines":["'), 0xff, ...Buffer.from('"]}')]),
    { type: 'application/json' },
    /JSON object in UTF-8/,
  ],
  ['nothing, as JSON', '', { type: 'application/json' }, /JSON object in UTF-8/],
]

describe('an unreadable body', () => {
  for (const [what, body, sent, message] of refusals) {
    test(`returns 400 for ${what}, and stores nothing`, async () => {
      const answer = await send(body, sent)
      assert.match(String(errorOf(answer, 'invalid_request').message), message)
      assert.equal(await countsOf('nobody'), null)
    })
  }

  const lines = { field: 'lines', message: 'lines must be a list' }
  const unknown = (field: string) => ({ field, message: `${field} is not a parameter of this request` })
  const otherForms: [body: string, details: unknown[]][] = [
    ['[]', [{ field: 'body', message: 'body must be a JSON object' }]],
    ['5', [{ field: 'body', message: 'body must be a JSON object' }]],
    ['{}', [lines]],
    ['{"lines":1}', [lines]],
    [`{"line":[${line}]}`, [unknown('line'), lines]],
    [`{"a":1,"lines":[${line}]}`, [unknown('a')]],
    [`{"lines":[${line}],"a":1,"__proto__":2}`, [unknown('a'), unknown('__proto__')]],
    [`{"lines":[${line}],"lines":[]}`, [{ field: 'lines', message: 'lines must be given once' }]],
  ]
  for (const [number, [body, details]] of otherForms.entries()) {
    test(`returns 422 for another form (${number + 1}), and stores nothing`, async () => {
      const error = errorOf(await send(body, { type: 'application/json' }), 'validation_error')
      assert.deepEqual(error.details, details)
      assert.equal(await countsOf('nobody'), null)
    })
  }

  test('lists every problem of the request if it has another form', async () => {
    const sent = { type: 'application/json', to: `${path.replace('shop', '%00')}?limit=1` }
    const error = errorOf(await send('{"a":1}', sent), 'validation_error')
    assert.deepEqual(
      listIn(error, 'details').map((each) => isObject(each) && each.field),
      ['a', 'lines', 'trackerId', 'limit'],
    )
  })

  for (const encoding of ['gzip', 'zstd']) {
    test(`that expands a thousandfold is rejected before it is expanded (${encoding})`, async () => {
      const compress = encoding === 'gzip' ? gzipSync : zstdCompressSync
      const before = process.memoryUsage().rss
      const bomb = new Uint8Array(compress(Buffer.alloc(400 << 20)))
      const answers = await Promise.all(Array.from({ length: 8 }, () => send(bomb, { encoding })))
      for (const answer of answers) assert.match(String(errorOf(answer, 'invalid_request').message), /4 MiB/)
      assert.ok(process.memoryUsage().rss - before < 1 << 30, 'eight of them would take 3.2 GB')
    })
  }

  test('is not stored if half of it is missing', async () => {
    const connection = await openRawConnection(shop.url)
    const whole = `${line}\n${line}\n`
    const headers = { 'Content-Type': ndjson, 'Content-Length': String(whole.length) }
    connection.send(requestText(path, { method: 'POST', key: shop.key, headers, body: `${line}\n` }))
    connection.finish()
    await connection.rest()
    connection.hangUp()
    assert.equal(await countsOf('nobody'), null)
  })

  test('is not stored if its client disconnects', async () => {
    const connection = await openRawConnection(shop.url)
    const headers = { 'Content-Type': ndjson, 'Transfer-Encoding': 'chunked' }
    const chunk = `${line}\n`
    const body = `${chunk.length.toString(16)}\r\n${chunk}\r\n`
    const known = shop.logged.length
    connection.send(requestText(path, { method: 'POST', key: shop.key, headers, body }))
    connection.reset()
    await until(() => shop.logged.length > known)
    assert.equal(await countsOf('nobody'), null)
  })
})

describe('many large batches of one organisation', () => {
  /** An unfinished batch on a connection of its own. */
  async function beginBatch(key: string) {
    const connection = await openRawConnection(shop.url)
    after(() => connection.hangUp())
    const headers = { 'Content-Type': ndjson, 'Transfer-Encoding': 'chunked' }
    connection.send(requestText(path, { method: 'POST', key, headers, body: '1\r\n\n\r\n' }))
    return connection
  }

  test('wait, up to a limit, and do not delay other organisations', async (t) => {
    // Eight are read and a hundred wait; the next one is refused.
    const begun = await Promise.all(Array.from({ length: 109 }, () => beginBatch(shop.key)))
    const answers = begun.map((connection) => connection.answerOrEnd('POST'))
    const first = await Promise.race(answers)
    assert.ok(first)
    errorOf(first, 'internal_error')

    const other = await shop.createOrganisation()
    const trackerId = await shop.createTracker(other)
    const { keyString } = await shop.createKey(other, ['analytics:collect'])
    const large = `${toLines([event('large', 'e1')])}\n${' '.repeat(100_000)}`
    const from = performance.now()
    const answer = await send(large, { key: keyString, to: path.replace('shop', trackerId) })
    assert.equal(dataOf(answer).lines, 2)
    t.diagnostic(`another organisation was answered after ${Math.round(performance.now() - from)} ms`)
    const small = await send(toLines([event('small', 'e1')]))
    assert.deepEqual(dataOf(small).added, { subjects: 1, sessions: 1, events: 1 })

    for (const connection of begun) connection.hangUp()
    await Promise.all(answers.map((each) => each.catch(() => null)))
    assert.equal(dataOf(await send(large)).lines, 2)
  })
})
