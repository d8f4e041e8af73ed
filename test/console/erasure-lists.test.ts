import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { verifyReceipt } from '@lethe/client'
import { dataOf, errorOf, isObject, listIn, objectIn, problemFields, textIn } from '../support/answers.ts'
import { openConsole, rawPost } from '../support/console.ts'
import { startShop, subjectPath, visit } from '../support/shop.ts'
import { until } from '../support/until.ts'
import { hideByPlan } from '../support/windows.ts'

const env = { LETHE_BATCH_PACE: '1000000/second' }
const scopes = ['analytics:view', 'analytics:delete-data'] as const
const shop = await startShop({ after }, { env, scopes })
const { organisationId, key } = shop
await shop.createTracker(organisationId, 'blog')
const client = await openConsole(shop, organisationId)

const byId = { format: 'lines', by: 'subjectId', trackerIds: [], reference: 'List' }

function preview(text: string, fields: object = {}) {
  return client.ask('/erasure-lists/preview', { method: 'POST', body: { ...byId, text, ...fields } })
}

function start(text: string, subjects: number, fields: object = {}) {
  return client.ask('/erasure-lists', { method: 'POST', body: { ...byId, text, subjects, ...fields } })
}

const groupOf = async (reference: string) =>
  dataOf(await client.ask(`/request-groups?reference=${encodeURIComponent(reference)}`))

/** Reads the store, because requests count against a budget. */
async function untilClosed(reference: string): Promise<void> {
  const { requestGroups } = shop.services
  await until(async () => (await requestGroups.find(organisationId, reference))?.closedAt != null)
}

/** Starts a list with a reference, and waits until all of its requests are done. */
async function erase(reference: string, text: string, subjects: number, fields: object = {}) {
  dataOf(await start(text, subjects, { ...fields, reference }))
  await untilClosed(reference)
  return groupOf(reference)
}

async function report(reference: string) {
  const answer = await client.ask(`/request-groups/report?reference=${encodeURIComponent(reference)}`)
  const disposition = answer.headers.get('content-disposition')
  assert.equal(disposition, 'attachment; filename="lethe-report.json"')
  return { group: objectIn(answer.body, 'group'), requests: listIn(answer.body, 'requests').filter(isObject) }
}

async function isStored(subjectId: string, trackerId = 'shop'): Promise<boolean> {
  return (await shop.ask(subjectPath(subjectId, trackerId), { key })).status === 200
}

describe('the preview of a list', () => {
  test('reports which IDs match, which do not and which are invalid, and erases nobody', async () => {
    await shop.ingest([
      ...visit('anna', { events: 3 }),
      ...visit('anna', { trackerId: 'blog' }),
      ...visit('bert'),
    ])
    const plan = dataOf(await preview('anna\n\nnobody\nbert\r\nanna\n..\n bert\n'))
    assert.deepEqual(plan, {
      ...{ read: 7, used: 4, empty: 1, invalid: 1, repeated: 1, other: 0 },
      ...{ lines: 6, matched: 2, nothing: 2, requested: 0 },
      ...{ found: { subjects: 3, sessions: 3, events: 5 }, hidden: 0 },
      trackers: [
        { trackerId: 'blog', subjects: 1 },
        { trackerId: 'shop', subjects: 2 },
      ],
      unused: [
        { line: 3, outcome: 'nothing' },
        { line: 5, outcome: 'repeated' },
        { line: 6, outcome: 'invalid' },
        { line: 7, outcome: 'nothing' },
      ],
    })
    assert.deepEqual([await isStored('anna'), await isStored('bert')], [true, true])
  })

  test('searches the given trackers', async () => {
    const plan = dataOf(await preview('anna\nbert', { trackerIds: ['blog'] }))
    assert.deepEqual([objectIn(plan, 'found').subjects, plan.nothing], [1, 1])
    assert.deepEqual(problemFields(await preview('anna', { trackerIds: ['blog', 'other'] })), ['trackerIds'])
  })

  test('finds people by the e-mail addresses in a column of a CSV file', async () => {
    await shop.ingest([
      ...visit('cora-1', { identifiers: { email: 'cora@example.com' } }),
      ...visit('cora-2', { trackerId: 'blog', identifiers: { email: 'cora@example.com' } }),
    ])
    const text =
      '\ufeffname;"e-mail"\r\n"Cora; the ""first""\nof them";Cora@Example.com \r\nDan;dan@example.com\nEve;eve\n'
    const csv = { by: 'email', format: 'csv', column: 'e-mail' }
    const plan = dataOf(await preview(text, csv))
    assert.deepEqual([plan.lines, plan.matched, plan.nothing, plan.invalid], [3, 1, 1, 1])
    assert.equal(objectIn(plan, 'found').subjects, 2)
    assert.deepEqual(plan.unused, [
      { line: 4, outcome: 'nothing' },
      { line: 5, outcome: 'invalid' },
    ])
    assert.deepEqual(problemFields(await preview(text, { ...csv, column: 'mail' })), ['column'])
    assert.deepEqual(problemFields(await preview(text, { ...csv, column: undefined })), ['column'])
  })

  test('accounts for every line of a file', async () => {
    await shop.ingest([...visit('tina'), ...visit('uwe')])
    const text = 'name,id\nT,tina\n\n"U\nwe",uwe\nV,\nW,..\nX,tina\nY,nobody\n\n'
    const csv = { format: 'csv', column: 'id' }
    const counts = { read: 10, used: 3, empty: 3, invalid: 1, repeated: 1, other: 2 }
    const plan = dataOf(await preview(text, csv))
    assert.partialDeepStrictEqual(plan, { ...counts, matched: 2, nothing: 1 })
    const { used, empty, invalid, repeated, other } = counts
    assert.equal(used + empty + invalid + repeated + other, counts.read)
  })

  test('rejects a malformed file with the number of the line, also on submission', async () => {
    const rows = Array.from({ length: 1_000 }, (_, i) => `"P ${i}",person-${i}`)
    rows[200] = '"P 200,person-200'
    const text = ['name,id', ...rows].join('\n')
    const csv = { format: 'csv', column: 'id' }
    for (const answer of [await preview(text, csv), await start(text, 200, csv)]) {
      assert.deepEqual(problemFields(answer), ['text'])
      assert.match(JSON.stringify(answer.body), /line 203 /)
    }
  })

  test('looks up a person once for any number of lines', async (t) => {
    const { search } = shop.services
    const lookUp = t.mock.method(search, 'subjects')
    await shop.ingest(visit('ivan', { identifiers: { email: 'ivan@example.com' } }))
    const text = Array.from({ length: 500 }, (_, i) =>
      i % 2 ? 'ivan@example.com' : ' IVAN@example.com',
    ).join('\n')
    const plan = dataOf(await preview(text, { by: 'email' }))
    assert.deepEqual([plan.matched, plan.repeated], [1, 499])
    const unknown = dataOf(await preview('x@example.com\n'.repeat(100), { by: 'email' }))
    assert.deepEqual([unknown.nothing, unknown.repeated], [1, 99])
    assert.equal(lookUp.mock.callCount(), 2)
  })

  test('runs one at a time per organisation, and ends when the client disconnects', async (t) => {
    const { search } = shop.services
    const first = Promise.withResolvers<void>()
    const reached = Promise.withResolvers<void>()
    let lookUps = 0
    const original = search.subjects
    t.mock.method(search, 'subjects', async (...args: Parameters<typeof original>) => {
      lookUps += 1
      reached.resolve()
      await first.promise
      return original.apply(search, args)
    })
    const text = Array.from({ length: 1_000 }, (_, i) => `nobody-${i}`).join('\n')
    const requestId = '00000000-0000-4000-8000-00000000000d'
    const request = await rawPost(shop, client, '/erasure-lists/preview', { ...byId, text }, { requestId })
    await reached.promise
    const begun = lookUps
    const second = preview('nobody')
    dataOf(await client.ask('/trackers'))
    assert.equal(lookUps, begun, 'the second has not begun')
    request.hangUp()
    const logged = () => shop.logged.filter((line) => line.includes(requestId))
    await until(() => logged().length > 0)
    first.resolve()
    dataOf(await second)
    assert.equal(lookUps, begun + 1)
    assert.equal(logged().length, 1, 'nobody is told of a failure')
  })

  test('reads long lists one at a time per organisation, without blocking others', async (t) => {
    // More than 64 KiB in few lines, so that a slow machine does not cut off the body that waits here.
    const text = Array.from({ length: 300 }, (_, i) => `${'nobody-'.repeat(35)}${i}`).join('\n')
    const body = { ...byId, text }
    const found = t.mock.method(shop.services.signIns, 'find')
    // The first part is enough to make the others wait.
    const request = await rawPost(shop, client, '/erasure-lists/preview', body, { end: 50_000 })
    await until(() => found.mock.callCount() > 0)
    let isAnswered = false
    const second = client.ask('/erasure-lists/preview', { method: 'POST', body }).finally(() => {
      isAnswered = true
    })
    const other = await openConsole(shop, await shop.createOrganisation())
    assert.equal(dataOf(await other.ask('/erasure-lists/preview', { method: 'POST', body })).nothing, 300)
    assert.equal(dataOf(await preview('nobody')).nothing, 1)
    assert.equal(isAnswered, false)
    request.sendRest()
    assert.equal(dataOf(await request.answer()).nothing, 300)
    assert.equal(dataOf(await second).nothing, 300)
    request.hangUp()
  })

  test('rejects a list that is too long or empty', async () => {
    assert.deepEqual(problemFields(await preview(' \n\n')), ['text'])
    assert.deepEqual(problemFields(await preview('x\n'.repeat(10_001))), ['text'])
    assert.deepEqual(problemFields(await preview('x', { format: 'xls', by: 'name' })), ['format', 'by'])
    const large = await preview('x'.repeat(4 * 1024 * 1024))
    assert.match(textIn(errorOf(large, 'invalid_request'), 'message'), /4194304 bytes/)
  })

  test('accepts 10,000 lines', async () => {
    const text = Array.from({ length: 10_000 }, (_, i) => `visitor-${i}`).join('\n')
    assert.equal(dataOf(await preview(text)).nothing, 10_000)
  })
})

describe('a list', () => {
  test('does not start unless the typed number matches the current data subjects', async () => {
    await shop.ingest(visit('dorothea'))
    for (const subjects of [2, 0])
      assert.deepEqual(problemFields(await start('dorothea', subjects)), ['subjects'])
    assert.deepEqual(problemFields(await start('nobody', 0)), ['text'])
    for (const reference of ['', 'a\nb', 'x'.repeat(201)])
      assert.deepEqual(problemFields(await start('dorothea', 1, { reference })), ['reference'])
    assert.deepEqual(problemFields(await start('dorothea', 1, { reference: 'Account of dorothea' })), [
      'reference',
    ])
    errorOf(await client.ask('/request-groups?reference=List'), 'not_found')
    assert.equal(await isStored('dorothea'), true)
  })

  test('has a reference that contains no ID of the people it finds, even if their data is hidden', async () => {
    const { organisations } = shop.services
    const identifiers = { email: 'nora@example.com' }
    await organisations.setPlan(organisationId, 'pro')
    await shop.ingest([
      ...visit('visitor-39710012', { identifiers }),
      ...visit('visitor-39710013', { startedAt: Date.now() - 300 * 86_400_000, identifiers }),
    ])
    await hideByPlan({ services: shop.services, organisationId })
    for (const named of ['visitor-39710012', 'visitor-39710013', 'nora@example.com']) {
      const fields = { by: 'email', reference: `Account of ${named}` }
      assert.deepEqual(problemFields(await preview('nora@example.com', fields)), ['reference'])
      assert.deepEqual(problemFields(await start('nora@example.com', 2, fields)), ['reference'])
      const group = `/request-groups?reference=${encodeURIComponent(fields.reference)}`
      errorOf(await client.ask(group), 'not_found')
    }
  })

  test('reports and erases data that a shorter plan hides', async () => {
    const startedAt = Date.now() - 300 * 86_400_000
    const identifiers = { email: 'hid@example.com' }
    const rows = [
      ...visit('hid-old', { startedAt, identifiers }),
      ...visit('hid-new', { trackerId: 'blog', identifiers }),
      ...visit('hid-new', { trackerId: 'blog', sessionId: 's0', startedAt }),
    ]
    const { organisations } = shop.services
    await organisations.setPlan(organisationId, 'pro')
    await shop.ingest(rows)
    await hideByPlan({ services: shop.services, organisationId })
    const plan = dataOf(await preview('hid@example.com', { by: 'email' }))
    assert.partialDeepStrictEqual(plan, {
      ...{ matched: 1, nothing: 0, hidden: 1, found: { subjects: 2, sessions: 1, events: 1 } },
    })
    assert.partialDeepStrictEqual(dataOf(await preview('hid-old')), { matched: 1, hidden: 1 })
    await erase('Hidden', 'hid@example.com', 2, { by: 'email' })
    await organisations.setPlan(organisationId, 'pro')
    assert.deepEqual([await isStored('hid-old'), await isStored('hid-new', 'blog')], [false, false])
    await hideByPlan({ services: shop.services, organisationId })
  })

  test('creates a request per person and a report with their receipts; neither the report nor the log has an ID', async () => {
    await shop.ingest([
      ...visit('emil-alone', { events: 2 }),
      ...visit('emil-alone', { trackerId: 'blog' }),
      ...visit('fred-alone'),
    ])
    const group = await erase('Closed', 'emil-alone\nnobody\nfred-alone\nfred-alone', 3)
    assert.partialDeepStrictEqual(group, {
      counts: { open: 0, running: 0, done: 2, rejected: 0, cancelled: 0 },
      erased: { subjects: 3, sessions: 3, events: 4 },
    })
    for (const trackerId of ['shop', 'blog']) assert.equal(await isStored('emil-alone', trackerId), false)
    const { group: head, requests } = await report('Closed')
    const { ownWaiting, ...shown } = group
    assert.equal(ownWaiting, 0)
    assert.deepEqual(head, shown)
    requests.sort((a, b) => Number(a.line) - Number(b.line))
    assert.deepEqual(
      requests.map(({ line, state, reference }) => [line, state, reference]),
      [
        [1, 'done', 'Closed'],
        [3, 'done', 'Closed'],
      ],
    )
    const verifierKeys = listIn(dataOf(await shop.ask('/v1/analytics/ledger', { key })), 'verifierKeys').map(
      String,
    )
    const trackers: unknown[] = []
    for (const [i, subjectId] of ['emil-alone', 'fred-alone'].entries())
      for (const entry of listIn(requests[i], 'entries')) {
        const trackerId = textIn(entry, 'trackerId')
        const proven = { verifierKeys, trackerId, subjectId }
        const { record } = await verifyReceipt(textIn(entry, 'receipt'), proven)
        assert.equal(record.alreadyErased, false)
        trackers.push(trackerId)
      }
    assert.deepEqual(trackers.sort(), ['blog', 'shop', 'shop'])
    assert.doesNotMatch(JSON.stringify(requests), /emil-alone|fred-alone/)
    const entries = listIn(dataOf(await client.ask('/activity?kind=request-group.exported')), 'entries')
    assert.deepEqual(
      entries.map((entry) => textIn(entry, 'target')),
      ['Closed'],
    )
    const isLogged = () =>
      shop.logged.filter((line) => line.includes('a privacy request is done')).length >= 2
    await until(isLogged)
    assert.doesNotMatch(shop.logged.join('\n'), /emil-alone|fred-alone/)
  })

  test('is in the activity with its author, under one request ID', async () => {
    await shop.ingest(visit('gina'))
    const headers = { 'x-request-id': '6f8b2c1e-5a0d-4a57-9b7e-0c2f6d1f7a34' }
    const body = { ...byId, text: 'gina', subjects: 1, reference: 'Traced' }
    dataOf(await client.ask('/erasure-lists', { method: 'POST', body, headers }))
    await untilClosed('Traced')
    const path = `/activity?requestId=${headers['x-request-id']}`
    const entries = listIn(dataOf(await client.ask(path)), 'entries').filter(isObject)
    assert.deepEqual(
      entries.map(({ kind }) => kind),
      ['request.finished', 'subject.erased', 'request.started', 'request.created'],
    )
    for (const { actor } of entries)
      assert.deepEqual(actor, { kind: 'member', id: client.member.id, name: client.member.email })
  })

  test('creates no second request with its reference, even after the secret changed', async () => {
    await shop.ingest([...visit('hans'), ...visit('inge')])
    await erase('Again', 'hans', 1)
    await shop.ingest([...visit('hans', { startedAt: Date.now() })])
    assert.partialDeepStrictEqual(dataOf(await preview('hans\ninge', { reference: 'Again' })), {
      ...{ requested: 1, matched: 1, found: { subjects: 1 } },
    })
    assert.partialDeepStrictEqual(await erase('Again', 'hans\ninge', 1), { counts: { done: 2 } })
    assert.deepEqual(problemFields(await start('hans\ninge', 0, { reference: 'Again' })), ['text'])
    assert.partialDeepStrictEqual(await erase('Another', 'hans', 1), { counts: { done: 1 } })
  })

  test('erases nobody if interrupted while it is stored, and continues when submitted again', async (t) => {
    const ids = Array.from({ length: 260 }, (_, i) => `cut-${i}`)
    await shop.ingest(ids.flatMap((id) => visit(id)))
    const before = Number(dataOf(await client.ask('/ledger')).size)
    const { requestGroups } = shop.services
    const create = requestGroups.create
    let calls = 0
    const cut = t.mock.method(requestGroups, 'create', async (...args: Parameters<typeof create>) => {
      calls += 1
      if (calls === 2) throw new Error('the process ends')
      return create(...args)
    })
    errorOf(await start(ids.join('\n'), 260, { reference: 'Cut' }), 'internal_error')
    cut.mock.restore()
    assert.partialDeepStrictEqual(await groupOf('Cut'), { startable: 250, counts: { open: 250, running: 0 } })
    const text = ids.toReversed().join('\n')
    assert.partialDeepStrictEqual(dataOf(await preview(text, { reference: 'Cut' })), {
      ...{ requested: 0, matched: 260 },
    })
    const begin = requestGroups.start
    let starts = 0
    const stopped = t.mock.method(requestGroups, 'start', async (...args: Parameters<typeof begin>) => {
      starts += 1
      if (starts === 2) throw new Error('the process ends')
      return begin(...args)
    })
    errorOf(await start(text, 260, { reference: 'Cut' }), 'internal_error')
    stopped.mock.restore()
    const { startable } = await groupOf('Cut')
    assert.equal(startable, 10)
    const typed = async (requests: number) =>
      client.ask('/request-groups/start', { method: 'POST', body: { reference: 'Cut', requests } })
    assert.deepEqual(problemFields(await typed(11)), ['requests'])
    assert.deepEqual(problemFields(await start(text, 259, { reference: 'Cut' })), ['subjects'])
    assert.partialDeepStrictEqual(dataOf(await start(text, 260, { reference: 'Cut' })), { startable: 0 })
    await untilClosed('Cut')
    const done = { counts: { done: 260 }, erased: { subjects: 260 } }
    assert.partialDeepStrictEqual(await groupOf('Cut'), done)
    // As after a lost response.
    assert.partialDeepStrictEqual(dataOf(await start(text, 260, { reference: 'Cut' })), done)
    const { size } = dataOf(await client.ask('/ledger'))
    const entries = (await report('Cut')).requests.flatMap((each) => listIn(each, 'entries'))
    assert.equal(entries.length, 260)
    assert.equal(size, before + 260)
  })

  test('is erased even if the client disconnects before the response', async (t) => {
    const ids = Array.from({ length: 300 }, (_, i) => `gone-${i}`)
    await shop.ingest(ids.flatMap((id) => visit(id)))
    const { requestGroups } = shop.services
    const create = requestGroups.create
    const [reached, mayGoOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    t.mock.method(requestGroups, 'create', async (...args: Parameters<typeof create>) => {
      reached.resolve()
      await mayGoOn.promise
      return create(...args)
    })
    const body = { ...byId, text: ids.join('\n'), subjects: 300, reference: 'Gone' }
    const requestId = '00000000-0000-4000-8000-00000000000e'
    const request = await rawPost(shop, client, '/erasure-lists', body, { requestId })
    await reached.promise
    request.hangUp()
    await until(() => shop.logged.some((line) => line.includes(requestId)))
    mayGoOn.resolve()
    await untilClosed('Gone')
    assert.partialDeepStrictEqual(await groupOf('Gone'), { counts: { done: 300 }, erased: { subjects: 300 } })
  })

  test('interrupted between the requests of a line gets the missing ones when submitted again', async (t) => {
    const trackers = Array.from({ length: 40 }, (_, i) => `half-${i}`)
    for (const id of trackers) await shop.createTracker(organisationId, id)
    await shop.ingest(trackers.flatMap((trackerId) => visit('half', { trackerId })))
    const { requestGroups } = shop.services
    const create = requestGroups.create
    const cut = t.mock.method(requestGroups, 'create', async (...args: Parameters<typeof create>) => {
      const [organisationId, creations] = args
      const first = creations.filter(({ request }) => request.person.subjects.length === 32)
      await create(organisationId, first)
      throw new Error('the process ends')
    })
    errorOf(await start('half', 40, { reference: 'Half' }), 'internal_error')
    cut.mock.restore()
    dataOf(await start('half', 40, { reference: 'Half' }))
    const { requests } = await report('Half')
    assert.equal(requests.length, 2)
    await untilClosed('Half')
    assert.partialDeepStrictEqual(await groupOf('Half'), {
      ...{ counts: { done: 2 }, erased: { subjects: 40 } },
    })
  })

  test('interrupted after some requests of a line started continues with the others', async (t) => {
    const trackers = Array.from({ length: 40 }, (_, i) => `begun-${i}`)
    for (const id of trackers) await shop.createTracker(organisationId, id)
    await shop.ingest(trackers.flatMap((trackerId) => visit('begun', { trackerId })))
    const { requestGroups } = shop.services
    const begin = requestGroups.start
    const cut = t.mock.method(requestGroups, 'start', async (...args: Parameters<typeof begin>) => {
      const [starts, action] = args
      await begin(
        starts.filter(({ starter }) => starter.found.subjects === 32),
        action,
      )
      throw new Error('the process ends')
    })
    errorOf(await start('begun', 40, { reference: 'Begun' }), 'internal_error')
    cut.mock.restore()
    const counts = async () => (await requestGroups.find(organisationId, 'Begun'))?.counts
    await until(async () => (await counts())?.done === 1)
    assert.partialDeepStrictEqual(dataOf(await preview('begun', { reference: 'Begun' })), {
      ...{ matched: 1, requested: 0, found: { subjects: 8 } },
    })
    dataOf(await start('begun', 40, { reference: 'Begun' }))
    await untilClosed('Begun')
    assert.partialDeepStrictEqual(await groupOf('Begun'), {
      ...{ counts: { done: 2 }, erased: { subjects: 40 } },
    })
  })

  test('interrupted before it started also erases data that has arrived since', async (t) => {
    for (const id of ['early', 'late']) await shop.createTracker(organisationId, id)
    await shop.ingest(visit('later', { trackerId: 'early' }))
    const { requestGroups } = shop.services
    const cut = t.mock.method(requestGroups, 'start', async () => {
      throw new Error('the process ends')
    })
    errorOf(await start('later', 1, { reference: 'Later' }), 'internal_error')
    cut.mock.restore()
    await shop.ingest(visit('later', { trackerId: 'late' }))
    assert.deepEqual(problemFields(await start('later', 1, { reference: 'Later' })), ['subjects'])
    assert.partialDeepStrictEqual(await erase('Later', 'later', 2), {
      ...{ counts: { done: 2 }, erased: { subjects: 2 } },
    })
    for (const trackerId of ['early', 'late']) assert.equal(await isStored('later', trackerId), false)
  })

  test('divides data subjects on more trackers than a request allows into several requests', async () => {
    const trackers = Array.from({ length: 40 }, (_, i) => `many-${i}`)
    for (const id of trackers) await shop.createTracker(organisationId, id)
    await shop.ingest(trackers.flatMap((trackerId) => visit('everywhere', { trackerId })))
    assert.partialDeepStrictEqual(await erase('Many', 'everywhere', 40), {
      ...{ counts: { done: 2 }, erased: { subjects: 40 } },
    })
  })
})

describe('a list at a slow pace', async () => {
  const slow = await startShop({ after }, { env: { LETHE_BATCH_PACE: '1/day' }, scopes })
  const member = await openConsole(slow, slow.organisationId)
  const post = async (path: string, body: object) => dataOf(await member.ask(path, { method: 'POST', body }))

  test('is one row in the inbox, does not delay other requests, and can be cancelled part way', async () => {
    const ids = ['ida', 'jack', 'kim']
    await slow.ingest(ids.flatMap((id) => visit(id)))
    const body = { ...byId, text: ids.join('\n'), subjects: 3, reference: 'Slow list' }
    await post('/erasure-lists', body)
    const { requestGroups } = slow.services
    const isDone = async (count: number) =>
      (await requestGroups.find(slow.organisationId, 'Slow list'))?.counts.done === count
    // The first erasure happens immediately.
    await until(() => isDone(1))
    const person = { identifiers: [{ name: 'email', value: 'nobody@example.com' }], subjects: [] }
    const { request } = await post('/requests', { kind: 'erasure', person, reference: 'Slow list' })
    const id = textIn(request, 'requestId')
    await post(`/requests/${id}/erase`, { subjects: 0 })
    await until(() => isDone(2))
    const rows = listIn(dataOf(await member.ask('/requests')), 'rows').filter(isObject)
    assert.deepEqual(
      rows.map(({ size }) => size),
      [2],
    )
    const own = '/requests?state=all&reference=Slow%20list&limit=3'
    const page = dataOf(await member.ask(own))
    const rest = dataOf(await member.ask(`${own}&cursor=${page.nextCursor}`))
    assert.deepEqual(
      [listIn(page, 'rows').length, listIn(rest, 'rows').length, rest.nextCursor],
      [3, 1, null],
    )
    assert.deepEqual(problemFields(await member.ask(`${own}&assignee=me`)), ['assignee'])
    const cancel = { method: 'POST', body: { reference: 'Slow list', requests: 3 } }
    assert.deepEqual(problemFields(await member.ask('/request-groups/cancel', cancel)), ['requests'])
    assert.partialDeepStrictEqual(await requestGroups.find(slow.organisationId, 'Slow list'), {
      counts: { running: 2, cancelled: 0 },
    })
    const cancelled = await post('/request-groups/cancel', { ...cancel.body, requests: 4 })
    assert.partialDeepStrictEqual(cancelled, {
      ...{ counts: { running: 0, done: 2, cancelled: 2 }, erased: { subjects: 1 } },
    })
    for (const each of ['jack', 'kim'])
      assert.equal((await slow.ask(subjectPath(each), { key: slow.key })).status, 200)
  })
})
