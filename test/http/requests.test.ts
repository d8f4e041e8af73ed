import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { verifyReceipt } from '@lethe/client'
import { maxFoundSubjects } from '../../src/operations/find-person.ts'
import { dataOf, errorOf, isObject, listIn, objectIn, problemFields, textIn } from '../support/answers.ts'
import { eventRow } from '../support/rows.ts'
import { startShop, subjectPath, visit } from '../support/shop.ts'
import { until } from '../support/until.ts'
import { fileIn, readZip } from '../support/zip.ts'

const scopes = ['analytics:manage-requests', 'analytics:delete-data', 'analytics:view'] as const
const shop = await startShop({ after }, { scopes, env: { LETHE_LIMIT_ERASURE: '1000000/hour' } })
const { key } = shop
const blog = await shop.createTracker(shop.organisationId, 'blog')
const rival = await shop.createOrganisation()
const foreign = await shop.createTracker(rival)
const rivalKey = (await shop.createKey(rival)).keyString
const path = '/v1/analytics/requests'
let count = 0

/** Creates a person with a data subject in each of two trackers. */
async function somebody() {
  const name = `somebody-${++count}`
  const email = `${name}@example.com`
  const identifiers = { email }
  for (const trackerId of ['shop', blog])
    await shop.ingest(visit(name, { trackerId, events: 2, identifiers }))
  return { name, person: { identifiers: [{ name: 'email', value: email }], subjects: [] } }
}

const send = (to: string, body: object = {}, by = key) =>
  shop.ask(`${path}${to}`, {
    ...{ method: 'POST', key: by, body: JSON.stringify(body) },
    headers: { 'content-type': 'application/json' },
  })
const get = (to: string, by = key) => shop.ask(`${path}${to}`, { key: by })

/** Erases the data of a request. On a slow machine, that takes longer than the response waits. */
async function erase(id: string): Promise<Record<string, unknown>> {
  const read = async () => dataOf(await get(`/${id}`))
  const answer = dataOf(await send(`/${id}/erase`))
  if (answer.state !== 'running') return answer
  await until(async () => (await read()).state !== 'running')
  return read()
}

async function create(fields: object = {}) {
  const { name, person } = await somebody()
  const created = dataOf(await send('', { kind: 'erasure', person, ...fields }))
  return { id: textIn(created, 'requestId'), name, person, created }
}

describe('a request over HTTP', () => {
  test('can be created, read and listed with every field', async () => {
    const { created, person, id } = await create({ reference: 'Ticket 7' })
    const [receivedAt, dueAt] = [textIn(created, 'receivedAt'), textIn(created, 'dueAt')]
    assert.deepEqual(created, {
      ...{ requestId: id, kind: 'erasure', state: 'open', reference: 'Ticket 7', receivedAt, dueAt },
      ...{ extendedAt: null, closedAt: null, reason: null, person, left: null, resumesAt: null },
      ...{ found: { subjects: 2, sessions: 2, events: 4 } },
      ...{ erased: { subjects: 0, sessions: 0, events: 0 } },
    })
    assert.ok(Math.abs(Date.parse(receivedAt) - Date.now()) < 60_000)
    assert.deepEqual(dataOf(await get(`/${id}`)), created)
    const listed = listIn(dataOf(await get('?limit=200&kind=erasure&state=open')), 'requests')
    assert.deepEqual(
      listed.find((each) => isObject(each) && each.requestId === id),
      created,
    )
  })

  const part = { name: 'email', value: 'ada@example.com' }
  const invalid: [what: string, fields: Record<string, unknown>, problems: string[]][] = [
    ['nothing', {}, ['kind', 'person']],
    [
      'everything wrong',
      {
        ...{ kind: 'both', person: [], receivedAt: 'yesterday', reference: 'a'.repeat(201) },
        ...{ requestId: '42', more: 1 },
      },
      ['kind', 'person', 'receivedAt', 'reference', 'requestId', 'more'],
    ],
    ['nobody', { kind: 'access', person: {} }, ['person']],
    [
      'a blank reference',
      { kind: 'access', person: { identifiers: [part] }, reference: '  ' },
      ['reference'],
    ],
    ['too many', { kind: 'access', person: { identifiers: Array(33).fill(part) } }, ['person']],
    [
      'too many in total',
      {
        kind: 'access',
        person: {
          identifiers: Array(17).fill(part),
          subjects: Array(16).fill({ trackerId: 'shop', subjectId: 'a' }),
        },
      },
      ['person'],
    ],
    ['a person with more', { kind: 'access', person: { identifiers: [part], name: 'Ada' } }, ['person']],
    [
      'half a character',
      { kind: 'access', person: { identifiers: [{ ...part, value: '\ud800' }] } },
      ['person'],
    ],
    [
      'a foreign tracker',
      { kind: 'access', person: { subjects: [{ trackerId: foreign, subjectId: 'a' }] } },
      ['person'],
    ],
    [
      'the future, and an unknown kind',
      { kind: 'x', person: { identifiers: [part] }, receivedAt: '2999-01-01T00:00:00Z' },
      ['kind', 'receivedAt'],
    ],
  ]
  for (const [what, fields, problems] of invalid) {
    test(`lists every problem of ${what}`, async () => {
      assert.deepEqual(problemFields(await send('', fields)).sort(), problems.sort())
    })
  }

  test('can be created again with its ID only if the content is the same', async () => {
    const requestId = 'E7A1F6F2-9B1C-4D8E-8F0A-0C2F6D1F7A34'
    const { person, created } = await create({ requestId })
    assert.equal(created.requestId, requestId.toLowerCase())
    assert.deepEqual(dataOf(await send('', { kind: 'erasure', person, requestId })), created)
    assert.deepEqual(problemFields(await send('', { kind: 'access', person, requestId })), ['requestId'])
    dataOf(await get(`/${requestId}`))
  })

  test('returns 404 to another organisation for every operation', async () => {
    const { id, name } = await create()
    const unknown = '00000000-0000-4000-8000-000000000000'
    for (const [of, by] of [
      [id, rivalKey],
      [unknown, key],
      ['no-uuid', key],
    ] as const) {
      for (const to of ['', '/export', '/certificate']) errorOf(await get(`/${of}${to}`, by), 'not_found')
      for (const to of ['cancel', 'close', 'erase']) errorOf(await send(`/${of}/${to}`, {}, by), 'not_found')
      for (const to of ['extend', 'reject'])
        errorOf(await send(`/${of}/${to}`, { reason: 'a' }, by), 'not_found')
    }
    assert.deepEqual(listIn(dataOf(await get('', rivalKey)), 'requests'), [])
    dataOf(await shop.ask(subjectPath(name), { key }))
  })

  test('is listed page by page, soonest due date first, with filters', async () => {
    const own = await shop.createOrganisation()
    const by = (await shop.createKey(own)).keyString
    const ids: unknown[] = []
    for (const day of ['03', '01', '02']) {
      const fields = {
        kind: 'access',
        person: { identifiers: [part] },
        receivedAt: `2026-01-${day}T00:00:00Z`,
      }
      ids.push(dataOf(await send('', fields, by)).requestId)
    }
    const [third, first, second] = ids
    const page = dataOf(await get('?limit=2', by))
    const idsOf = (data: Record<string, unknown>) =>
      listIn(data, 'requests').map((each) => textIn(each, 'requestId'))
    assert.deepEqual(idsOf(page), [first, second])
    assert.deepEqual(idsOf(dataOf(await get(`?cursor=${page.nextCursor}`, by))), [third])
    assert.deepEqual(idsOf(dataOf(await get('?dueBefore=2026-02-02T00:00:00Z', by))), [first])
    assert.deepEqual(idsOf(dataOf(await get('?state=done', by))), [])
    for (const [query, problem] of [
      ['limit=0', 'limit'],
      ['state=pending', 'state'],
      ['kind=erase', 'kind'],
      ['dueBefore=soon', 'dueBefore'],
      ['dueAfter=2026-02-02T00:00:00Z', 'dueAfter'],
      ['state=open&state=open', 'state'],
      [`cursor=${page.nextCursor}&state=open`, 'cursor'],
    ]) {
      assert.deepEqual(problemFields(await get(`?${query}`, by)), [problem])
    }
  })

  test('can be extended once, and rejected, cancelled or closed, depending on its state', async () => {
    const { id, created } = await create({ receivedAt: '2026-01-31T10:00:00Z' })
    assert.equal(created.dueAt, '2026-02-28T10:00:00.000Z')
    const reason = 'Two systems,\nand a holiday'
    const extended = dataOf(await send(`/${id}/extend`, { reason }))
    assert.partialDeepStrictEqual(extended, { dueAt: '2026-04-28T10:00:00.000Z', reason })
    assert.deepEqual(problemFields(await send(`/${id}/extend`, { reason })), ['extendedAt'])
    for (const to of ['extend', 'reject']) {
      assert.deepEqual(problemFields(await send(`/${id}/${to}`)), ['reason'])
      assert.deepEqual(problemFields(await send(`/${id}/${to}`, { reason: '\0' })), ['reason'])
    }
    assert.deepEqual(problemFields(await send(`/${id}/close`)), ['kind'])
    assert.deepEqual(problemFields(await send(`/${id}/cancel`, { reason: 'none' })), ['reason'])
    const rejected = dataOf(await send(`/${id}/reject`, { reason: 'Not the person' }))
    assert.partialDeepStrictEqual(rejected, { state: 'rejected', reason: 'Not the person', person: null })
    for (const to of ['reject', 'extend'])
      assert.deepEqual(problemFields(await send(`/${id}/${to}`, { reason })), ['state'])
    for (const to of ['cancel', 'erase'])
      assert.deepEqual(problemFields(await send(`/${id}/${to}`)), ['state'])
    assert.deepEqual(problemFields(await get(`/${id}/export`)), ['state'])
    const access = await create({ kind: 'access' })
    assert.deepEqual(problemFields(await send(`/${access.id}/erase`)), ['kind'])
    assert.equal(dataOf(await send(`/${access.id}/close`)).state, 'done')
    assert.equal(dataOf(await send(`/${(await create()).id}/cancel`)).state, 'cancelled')
  })
})

describe('an erasure request over HTTP', () => {
  test('erases every subject it found and certifies this', async () => {
    const { id, name, person } = await create()
    const { identifiers } = person
    const other = { name: 'userId', value: 'nobody' }
    const both = dataOf(await send('', { kind: 'erasure', person: { identifiers: [...identifiers, other] } }))
    const before = dataOf(await get(`/${id}/certificate`))
    assert.partialDeepStrictEqual(before, { complete: false, closedAt: null })
    assert.deepEqual([before.entries, before.nothingHeld], [[], []])
    const erased = await erase(id)
    assert.partialDeepStrictEqual(erased, {
      ...{ state: 'done', person: null, left: 0, resumesAt: null },
      ...{ found: { subjects: 2, sessions: 2, events: 4 }, erased: { subjects: 2, sessions: 2, events: 4 } },
    })
    for (const trackerId of ['shop', blog])
      errorOf(await shop.ask(subjectPath(name, trackerId), { key }), 'not_found')
    const { complete, entries, nothingHeld } = dataOf(await get(`/${id}/certificate`))
    assert.deepEqual([complete, nothingHeld], [true, []])
    assert.ok(Array.isArray(entries) && entries.length === 2)
    const ledger = dataOf(await shop.ask('/v1/analytics/ledger', { key }))
    const verifierKeys = listIn(ledger, 'verifierKeys').map(String)
    for (const entry of entries) {
      const trackerId = textIn(entry, 'trackerId')
      const { record } = await verifyReceipt(textIn(entry, 'receipt'), {
        verifierKeys,
        trackerId,
        subjectId: name,
      })
      assert.deepEqual(record.counts, { sessions: 1, events: 2 })
    }
    const second = await erase(textIn(both, 'requestId'))
    assert.deepEqual(second.erased, { subjects: 0, sessions: 0, events: 0 })
    const certificate = dataOf(await get(`/${textIn(both, 'requestId')}/certificate`))
    assert.deepEqual([certificate.complete, certificate.entries], [true, []])
    const absent = listIn(certificate, 'nothingHeld')
    assert.deepEqual(
      absent.map((each) => textIn(each, 'name')),
      ['email', 'userId'],
    )
    for (const [i, identifier] of [...identifiers, other].entries())
      await verifyReceipt(textIn(absent[i], 'receipt'), { verifierKeys, identifier })
  })

  test('can be sent repeatedly and concurrently, and erases once', async () => {
    const { id, name } = await create()
    const answers = await Promise.all([1, 2, 3, 4].map(() => erase(id)))
    for (const { state } of answers) assert.equal(state, 'done')
    assert.equal(listIn(dataOf(await get(`/${id}/certificate`)), 'entries').length, 2)
    errorOf(await shop.ask(subjectPath(name), { key }), 'not_found')
    assert.deepEqual(problemFields(await send(`/${id}/erase`)), ['state'])
  })

  test('certifies the erasure of a subject that it names, whether or not it is stored', async () => {
    const { name } = await somebody()
    const subjects = [name, 'nobody'].map((subjectId) => ({ trackerId: 'shop', subjectId }))
    const request = dataOf(await send('', { kind: 'erasure', person: { subjects } }))
    assert.deepEqual(request.found, { subjects: 1, sessions: 1, events: 2 })
    const id = textIn(request, 'requestId')
    assert.deepEqual((await erase(id)).erased, { subjects: 1, sessions: 1, events: 2 })
    const entries = listIn(dataOf(await get(`/${id}/certificate`)), 'entries')
    assert.deepEqual(
      entries.map((entry) => isObject(entry) && entry.alreadyErased),
      [false, true],
    )
    dataOf(await shop.ask(subjectPath(name, blog), { key }))
  })
})

describe('the export of a request', () => {
  test('is a ZIP file with a page, a file for each data subject as the API exports it, and the schema', async () => {
    const { id, name, person } = await create({ kind: 'access', reference: 'Ticket 9' })
    const answer = await get(`/${id}/export`)
    assert.equal(answer.headers.get('content-type'), 'application/zip')
    assert.equal(answer.headers.get('content-disposition'), `attachment; filename="request-${id}.zip"`)
    assert.ok(Buffer.isBuffer(answer.body))
    const files = readZip(answer.body)
    const [email] = person.identifiers
    const page = fileIn(files, 'index.html')
    for (const text of ['Ticket 9', email?.value ?? assert.fail(), 'blog'])
      assert.ok(page.includes(text), text)
    for (const [file, trackerId] of [
      ['records/001-blog.json', blog],
      ['records/002-shop.json', 'shop'],
    ] as const) {
      const exported = dataOf(await shop.ask(`${subjectPath(name, trackerId)}/export`, { key }))
      assert.deepEqual(JSON.parse(fileIn(files, file)), exported)
    }
    assert.ok(isObject(JSON.parse(fileIn(files, 'subject-export.schema.json'))))
    const { rows } = await shop.services.activity.list(shop.organisationId, {
      ...{ limit: 9, after: null, requestId: null, kind: 'request.exported' },
    })
    assert.deepEqual(
      rows.map(({ target }) => target).filter((target) => target === id),
      [id],
    )
  })

  test('is refused if it would be incomplete', async () => {
    const identifiers = { household: 'all' }
    const rows = Array.from({ length: maxFoundSubjects + 300 }, (_, i) =>
      eventRow({ trackerId: blog, subjectId: `one-${i}`, eventId: 'e', identifiers }),
    )
    await shop.services.ingest.ingest(rows, shop.services.keyring.tombstoneKeys)
    const person = { identifiers: [{ name: 'household', value: 'all' }] }
    const id = textIn(dataOf(await send('', { kind: 'access', person })), 'requestId')
    assert.deepEqual(problemFields(await get(`/${id}/export`)), ['person'])
  })

  test('responds to HEAD without creating an export', async () => {
    const { id } = await create()
    const head = await shop.ask(`${path}/${id}/export`, { method: 'HEAD', key })
    assert.equal(head.headers.get('content-type'), 'application/zip')
    const { rows } = await shop.services.activity.list(shop.organisationId, {
      ...{ limit: 9, after: null, requestId: null, kind: 'request.exported' },
    })
    assert.ok(rows.every(({ target }) => target !== id))
    errorOf({ ...(await get('/00000000-0000-4000-8000-000000000000/export')) }, 'not_found')
  })

  test('is a ZIP file that says so if no data is stored', async () => {
    const person = { identifiers: [{ name: 'email', value: 'nobody@example.com' }] }
    const { requestId } = dataOf(await send('', { kind: 'access', person }))
    const { body } = await get(`/${requestId}/export`)
    assert.ok(Buffer.isBuffer(body))
    assert.deepEqual(
      readZip(body).map(({ name }) => name),
      ['subject-export.schema.json', 'index.html'],
    )
  })
})

describe('the activity of a request', () => {
  test('contains every change with its author, but not the person', async () => {
    const { id, person } = await create()
    await send(`/${id}/extend`, { reason: 'Holiday' })
    await get(`/${id}/export`)
    await erase(id)
    const { rows } = await shop.services.activity.list(shop.organisationId, {
      ...{ limit: 9, after: null, requestId: null },
    })
    const kinds = rows.filter(({ target, kind }) => target === id || kind === 'subject.erased')
    assert.deepEqual(kinds.map(({ kind }) => kind).slice(0, 7), [
      ...['request.finished', 'subject.erased', 'subject.erased', 'request.started'],
      ...['request.exported', 'request.extended', 'request.created'],
    ])
    for (const { actor } of rows) assert.equal(objectIn({ actor }, 'actor').kind, 'key')
    const [email] = person.identifiers
    assert.ok(!JSON.stringify(rows).includes(email?.value ?? ''))
  })

  test('does not contain a request ID of the client unless it is a UUID', async () => {
    const { id, person } = await create()
    const [email] = person.identifiers
    assert.ok(email)
    const headers = { 'x-request-id': `erase ${email.value}` }
    const answer = await shop.ask(`${path}/${id}/erase`, { method: 'POST', key, headers })
    assert.equal(objectIn(answer.body, 'meta').requestId, `erase ${email.value}`)
    const stored = await shop.services.privacyRequests.find({ organisationId: shop.organisationId, id })
    assert.match(stored?.requestId ?? '', /^[0-9a-f-]{36}$/)
  })
})
