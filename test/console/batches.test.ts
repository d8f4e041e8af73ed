import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { verifyReceipt } from '@lethe/client'
import { runErasureBatches } from '../../src/maintenance/erasure-batches.ts'
import { dataOf, errorOf, isObject, listIn, objectIn, problemFields, textIn } from '../support/answers.ts'
import { openConsole } from '../support/console.ts'
import { openRawConnection, requestText } from '../support/raw-http.ts'
import { startShop, subjectPath, visit } from '../support/shop.ts'
import { until } from '../support/until.ts'

const env = { LETHE_BATCH_PACE: '1000000/second' }
const scopes = ['analytics:view', 'analytics:delete-data'] as const
const shop = await startShop({ after }, { env, scopes })
const { organisationId, key } = shop
await shop.createTracker(organisationId, 'blog')
const client = await openConsole(shop, organisationId)

const byId = { format: 'lines', by: 'subjectId', trackerIds: [] }

function preview(text: string, fields: object = {}) {
  return client.ask('/batches/preview', { method: 'POST', body: { ...byId, text, ...fields } })
}

function start(text: string, subjects: number, fields: object = {}) {
  return client.ask('/batches', { method: 'POST', body: { ...byId, text, subjects, ...fields } })
}

async function finished(id: string) {
  const { erasureBatches } = shop.services
  await until(async () => (await erasureBatches.find(organisationId, id))?.state === 'done')
  return dataOf(await client.ask(`/batches/${id}`))
}

async function report(id: string) {
  const answer = await client.ask(`/batches/${id}/report`)
  const [, name] = /^attachment; filename="(.*)"$/.exec(answer.headers.get('content-disposition') ?? '') ?? []
  assert.equal(name, `lethe-${id}.json`)
  return { batch: objectIn(answer.body, 'batch'), items: listIn(answer.body, 'items').filter(isObject) }
}

async function isStored(subjectId: string, trackerId = 'shop'): Promise<boolean> {
  return (await shop.ask(subjectPath(subjectId, trackerId), { key })).status === 200
}

describe('the preview of a batch', () => {
  test('reports which IDs match, which do not and which are invalid, and erases nobody', async () => {
    await shop.ingest([
      ...visit('anna', { events: 3 }),
      ...visit('anna', { trackerId: 'blog' }),
      ...visit('bert'),
    ])
    const plan = dataOf(await preview('anna\n\nnobody\nbert\r\nanna\n..\n bert\n'))
    assert.deepEqual(plan, {
      ...{ read: 7, used: 4, empty: 1, invalid: 1, repeated: 1, other: 0 },
      ...{ lines: 6, found: 2, nothing: 2, subjects: 3 },
      ...{ counts: { sessions: 3, events: 5 }, hidden: 0 },
      trackers: [
        { trackerId: 'blog', subjects: 1 },
        { trackerId: 'shop', subjects: 2 },
      ],
      others: [
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
    assert.deepEqual([plan.subjects, plan.nothing], [1, 1])
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
    assert.deepEqual([plan.lines, plan.found, plan.nothing, plan.invalid, plan.subjects], [3, 1, 1, 1, 2])
    assert.deepEqual(plan.others, [
      { line: 4, outcome: 'nothing' },
      { line: 5, outcome: 'invalid' },
    ])
    assert.deepEqual(problemFields(await preview(text, { ...csv, column: 'mail' })), ['column'])
    assert.deepEqual(problemFields(await preview(text, { ...csv, column: undefined })), ['column'])
  })

  test('accounts for every line of a file, and so does the batch', async () => {
    await shop.ingest([...visit('tina'), ...visit('uwe')])
    const text = 'name,id\nT,tina\n\n"U\nwe",uwe\nV,\nW,..\nX,tina\nY,nobody\n\n'
    const csv = { format: 'csv', column: 'id' }
    const counts = { read: 10, used: 3, empty: 3, invalid: 1, repeated: 1, other: 2 }
    const plan = dataOf(await preview(text, csv))
    assert.partialDeepStrictEqual(plan, { ...counts, found: 2, nothing: 1 })
    const begun = dataOf(await start(text, 2, csv))
    assert.partialDeepStrictEqual(begun, counts)
    const batch = await finished(textIn(begun, 'id'))
    assert.partialDeepStrictEqual(batch, counts)
    const { used, empty, invalid, repeated, other } = counts
    assert.equal(used + empty + invalid + repeated + other, counts.read)
  })

  test('refuses a broken file by the number of its line, and so does the batch', async () => {
    const rows = Array.from({ length: 1_000 }, (_, i) => `"P ${i}",person-${i}`)
    rows[200] = '"P 200,person-200'
    const text = ['name,id', ...rows].join('\n')
    const csv = { format: 'csv', column: 'id' }
    for (const answer of [await preview(text, csv), await start(text, 200, csv)]) {
      assert.deepEqual(problemFields(answer), ['text'])
      assert.match(JSON.stringify(answer.body), /line 203 /)
    }
  })

  test('looks up a person once, on any number of lines', async (t) => {
    const { search } = shop.services
    const lookUp = t.mock.method(search, 'subjects')
    await shop.ingest(visit('ivan', { identifiers: { email: 'ivan@example.com' } }))
    const text = Array.from({ length: 500 }, (_, i) =>
      i % 2 ? 'ivan@example.com' : ' IVAN@example.com',
    ).join('\n')
    const plan = dataOf(await preview(text, { by: 'email' }))
    assert.deepEqual([plan.found, plan.repeated], [1, 499])
    const unknown = dataOf(await preview('x@example.com\n'.repeat(100), { by: 'email' }))
    assert.deepEqual([unknown.nothing, unknown.repeated], [1, 99])
    assert.equal(lookUp.mock.callCount(), 2)
  })

  test('runs once at a time per organisation, and ends when the client disconnects', async (t) => {
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
    const body = JSON.stringify({ ...byId, text })
    const connection = await openRawConnection(shop.url)
    connection.send(
      requestText('/console/api/batches/preview', {
        method: 'POST',
        headers: [
          ['Content-Type', 'application/json'],
          ['Content-Length', String(body.length)],
          ['Origin', 'http://test'],
          ['Cookie', client.cookie ?? ''],
          ['X-Request-Id', '00000000-0000-4000-8000-00000000000d'],
        ],
        body,
      }),
    )
    await reached.promise
    const begun = lookUps
    const second = preview('nobody')
    dataOf(await client.ask('/trackers'))
    assert.equal(lookUps, begun, 'the second has not begun')
    connection.hangUp()
    const logged = () => shop.logged.filter((line) => line.includes('00000000000d'))
    await until(() => logged().length > 0)
    first.resolve()
    dataOf(await second)
    assert.equal(lookUps, begun + 1)
    assert.equal(logged().length, 1, 'nobody is told of a failure')
  })

  test('reads long lists one at a time per organisation, without blocking others', async (t) => {
    const body = JSON.stringify({
      ...byId,
      text: Array.from({ length: 1_500 }, (_, i) => `${'nobody-'.repeat(8)}${i}`).join('\n'),
    })
    const connection = await openRawConnection(shop.url)
    const headers: [string, string][] = [
      ['Content-Type', 'application/json'],
      ['Content-Length', String(body.length)],
      ['Origin', 'http://test'],
      ['Cookie', client.cookie ?? ''],
    ]
    const found = t.mock.method(shop.services.signIns, 'find')
    // Only the first part keeps the others waiting.
    connection.send(
      requestText('/console/api/batches/preview', { method: 'POST', headers, body: body.slice(0, 50_000) }),
    )
    await until(() => found.mock.callCount() > 0)
    let isAnswered = false
    const second = client.ask('/batches/preview', { method: 'POST', body }).finally(() => {
      isAnswered = true
    })
    const other = await openConsole(shop, await shop.createOrganisation())
    assert.equal(dataOf(await other.ask('/batches/preview', { method: 'POST', body })).nothing, 1_500)
    assert.equal(dataOf(await preview('nobody')).nothing, 1)
    assert.equal(isAnswered, false)
    connection.send(body.slice(50_000))
    assert.equal(dataOf(await connection.answer()).nothing, 1_500)
    assert.equal(dataOf(await second).nothing, 1_500)
    connection.hangUp()
  })

  test('refuses a list that is too long or empty', async () => {
    assert.deepEqual(problemFields(await preview(' \n\n')), ['text'])
    assert.deepEqual(problemFields(await preview('x\n'.repeat(10_001))), ['text'])
    assert.deepEqual(problemFields(await preview('x', { format: 'xls', by: 'name' })), ['format', 'by'])
    const large = await preview('x'.repeat(4 * 1024 * 1024))
    assert.match(textIn(errorOf(large, 'invalid_request'), 'message'), /4194304 bytes/)
  })

  test('takes ten thousand lines', async () => {
    const text = Array.from({ length: 10_000 }, (_, i) => `visitor-${i}`).join('\n')
    assert.equal(dataOf(await preview(text)).nothing, 10_000)
  })
})

describe('a batch', () => {
  test('does not start unless the typed number matches the current data subjects', async () => {
    await shop.ingest(visit('dora'))
    const batches = async () => listIn(dataOf(await client.ask('/batches')), 'batches').length
    const before = await batches()
    for (const [subjects, field] of [
      [2, 'subjects'],
      [0, 'subjects'],
    ] as const) {
      assert.deepEqual(problemFields(await start('dora', subjects)), [field])
    }
    assert.deepEqual(problemFields(await start('nobody', 0)), ['text'])
    assert.equal(await batches(), before)
    assert.equal(await isStored('dora'), true)
  })

  test('covers data that a shorter plan hides, says so, and erases it', async () => {
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
    await organisations.setPlan(organisationId, 'free')
    const plan = dataOf(await preview('hid@example.com', { by: 'email' }))
    assert.partialDeepStrictEqual(plan, {
      ...{ found: 1, nothing: 0, subjects: 2, hidden: 1, counts: { sessions: 1, events: 1 } },
    })
    assert.partialDeepStrictEqual(dataOf(await preview('hid-old')), { found: 1, subjects: 1, hidden: 1 })
    await finished(textIn(dataOf(await start('hid@example.com', 2, { by: 'email' })), 'id'))
    await organisations.setPlan(organisationId, 'pro')
    assert.deepEqual([await isStored('hid-old'), await isStored('hid-new', 'blog')], [false, false])
    await organisations.setPlan(organisationId, 'free')
  })

  test('erases everyone on its list, and produces a report with a receipt for each, without IDs there or in the log', async () => {
    await shop.ingest([
      ...visit('emil-alone', { events: 2 }),
      ...visit('emil-alone', { trackerId: 'blog' }),
      ...visit('fred-alone'),
    ])
    const begun = dataOf(await start('emil-alone\nnobody\nfred-alone\nfred-alone', 3))
    const id = textIn(begun, 'id')
    const batch = await finished(id)
    assert.deepEqual(objectIn(batch, 'erased'), { subjects: 3, sessions: 3, events: 4 })
    for (const [subjectId, trackerId] of [
      ['emil-alone', 'shop'],
      ['emil-alone', 'blog'],
      ['fred-alone', 'shop'],
    ]) {
      assert.equal(await isStored(subjectId ?? '', trackerId), false)
    }
    const { batch: head, items } = await report(id)
    assert.deepEqual(head, batch)
    assert.deepEqual(
      items.map(({ line, outcome, trackerId }) => [line, outcome, trackerId]),
      [
        [1, 'erased', 'blog'],
        [1, 'erased', 'shop'],
        [3, 'erased', 'shop'],
        [2, 'nothing', null],
        [4, 'repeated', null],
      ],
    )
    const verifierKeys = listIn(dataOf(await shop.ask('/v1/analytics/ledger', { key })), 'verifierKeys').map(
      String,
    )
    for (const [i, subjectId] of ['emil-alone', 'emil-alone', 'fred-alone'].entries()) {
      const receipt = String(items[i]?.receipt)
      const trackerId = String(items[i]?.trackerId)
      const { record } = await verifyReceipt(receipt, { verifierKeys, trackerId, subjectId })
      assert.equal(record.alreadyErased, false)
    }
    assert.doesNotMatch(JSON.stringify(await report(id)), /emil-alone|fred-alone/)
    await until(() => shop.logged.some((line) => line.includes('an erasure batch has finished')))
    assert.doesNotMatch(shop.logged.join('\n'), /emil-alone|fred-alone/)
  })

  test('is in the activity with who started it, and so is each of its erasures, under one request ID', async () => {
    await shop.ingest(visit('gina'))
    const headers = { 'x-request-id': '6f8b2c1e-5a0d-4a57-9b7e-0c2f6d1f7a34' }
    const body = { ...byId, text: 'gina', subjects: 1 }
    const begun = dataOf(await client.ask('/batches', { method: 'POST', body, headers }))
    const id = textIn(begun, 'id')
    await finished(id)
    const path = `/activity?requestId=${headers['x-request-id']}`
    const entries = listIn(dataOf(await client.ask(path)), 'entries').filter(isObject)
    assert.deepEqual(
      entries.map(({ kind, target }) => [kind, target]),
      [
        ['batch.finished', id],
        ['subject.erased', 'shop'],
        ['batch.started', id],
      ],
    )
    for (const { actor } of entries)
      assert.deepEqual(actor, { kind: 'member', id: client.member.id, name: client.member.email })
  })
})

describe('a batch at a slow pace', async () => {
  const slow = await startShop({ after }, { env: { LETHE_BATCH_PACE: '1/day' }, scopes })
  const member = await openConsole(slow, slow.organisationId)
  const ask = async (path: string) => member.ask(path, { method: 'POST', body: {} })

  async function begin(...ids: string[]): Promise<string> {
    await slow.ingest(ids.flatMap((id) => visit(id)))
    const body = { ...byId, text: ids.join('\n'), subjects: ids.length }
    const id = textIn(dataOf(await member.ask('/batches', { method: 'POST', body })), 'id')
    // Its first erasure happens immediately.
    const { erasureBatches } = slow.services
    await until(async () => (await erasureBatches.find(slow.organisationId, id))?.settled === 1)
    return id
  }

  test('is paused, resumed and stopped, which discards the rest of the list', async () => {
    const id = await begin('ida', 'jack')
    assert.equal(dataOf(await ask(`/batches/${id}/pause`)).state, 'paused')
    errorOf(await ask(`/batches/${id}/pause`), 'invalid_request')
    assert.equal(dataOf(await ask(`/batches/${id}/resume`)).state, 'running')
    const stopped = dataOf(await ask(`/batches/${id}/stop`))
    assert.deepEqual([stopped.state, objectIn(stopped, 'erased').subjects], ['stopped', 1])
    for (const verb of ['pause', 'resume', 'stop'])
      errorOf(await ask(`/batches/${id}/${verb}`), 'invalid_request')
    assert.equal((await slow.ask(subjectPath('jack'), { key: slow.key })).status, 200)
    const kinds = listIn(dataOf(await member.ask('/activity?limit=4')), 'entries').filter(isObject)
    assert.deepEqual(
      kinds.map(({ kind }) => kind),
      ['batch.stopped', 'batch.resumed', 'batch.paused', 'subject.erased'],
    )
  })

  test('takes turns with others', async () => {
    const [first, second] = [await begin('kim', 'lea'), await begin('max', 'nora')]
    const batches = listIn(dataOf(await member.ask('/batches')), 'batches').filter(isObject)
    assert.deepEqual(
      batches.slice(0, 2).map(({ id, settled }) => [id, settled]),
      [
        [second, 1],
        [first, 1],
      ],
    )
  })

  test('is one of five at most', async () => {
    const open = await slow.services.erasureBatches.listOverdue(slow.services.clock() + 1)
    const missing = Array.from({ length: 5 - open.length }, (_, i) => i)
    await Promise.all(missing.map((i) => begin(`one-${i}`, `other-${i}`)))
    const body = { ...byId, text: 't', subjects: 1 }
    await slow.ingest(visit('t'))
    assert.deepEqual(problemFields(await member.ask('/batches', { method: 'POST', body })), ['text'])
  })

  test('is stopped if it has not finished within 30 days', async () => {
    const { erasureBatches, clock } = slow.services
    const open = await erasureBatches.listOverdue(clock() + 1)
    assert.equal(open.length, 5)
    for (const { id } of open) dataOf(await ask(`/batches/${id}/pause`))
    slow.passTime(31 * 86_400_000)
    const reports = { onFinished() {}, onError: assert.fail }
    const runner = runErasureBatches(slow.services, { paceMs: 1, countErasure: () => assert.fail() }, reports)
    await until(async () => (await erasureBatches.listOverdue(clock())).length === 0)
    await runner.stop()
    for (const { id } of open)
      assert.equal((await erasureBatches.find(slow.organisationId, id))?.state, 'stopped')
  })
})
