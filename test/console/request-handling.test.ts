import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { maxNotes } from '../../src/domain/request-handling.ts'
import { dataOf, errorOf, isObject, listIn, objectIn, problemFields, textIn } from '../support/answers.ts'
import { addMember, openConsole } from '../support/console.ts'
import { ofEmail, requestDesk } from '../support/console-requests.ts'
import { startShop, visit } from '../support/shop.ts'
import { hideByPlan } from '../support/windows.ts'

const shop = await startShop({ after }, { scopes: ['analytics:view'] })
const client = await openConsole(shop, shop.organisationId)
const desk = requestDesk(client)
const by = { kind: 'member', id: client.member.id, name: client.member.email }

describe('the assignee of a request', () => {
  test('is a member of the organisation, until the member is removed', async () => {
    const colleague = await addMember(shop, shop.organisationId)
    const stranger = await addMember(shop, await shop.createOrganisation())
    const id = await desk.open('access', ofEmail('ada@example.com'))
    const assigned = dataOf(await desk.change(id, 'assign', { memberId: colleague.id }))
    const assignee = { id: colleague.id, email: colleague.email }
    assert.deepEqual(objectIn(assigned, 'request').assignee, assignee)
    dataOf(await desk.change(id, 'assign', { memberId: colleague.id }))
    for (const memberId of [stranger.id, 'nobody'])
      assert.deepEqual(problemFields(await desk.change(id, 'assign', { memberId })), ['memberId'])
    assert.deepEqual(await desk.story(id), ['created', 'assigned'], 'nothing changed the second time')
    dataOf(await client.ask(`/members/${colleague.id}`, { method: 'DELETE', body: {} }))
    assert.equal((await desk.request(id)).assignee, null)
    dataOf(await desk.change(id, 'assign', { memberId: null }))
    assert.deepEqual(await desk.list('?assignee=none'), [id])
  })
})

describe('the notes of a request', () => {
  test('are written and deleted by any member, and are deleted when the request is closed', async () => {
    const id = await desk.open('access', ofEmail('ada@example.com'))
    dataOf(await desk.change(id, 'notes', { text: '\r\nAda called.\r\nCall back 🎫\n' }))
    const page = dataOf(await desk.change(id, 'notes', { text: 'Second' }))
    const [first, second] = listIn(page, 'notes').filter(isObject)
    assert.deepEqual([first?.text, first?.by, second?.text], ['Ada called.\nCall back 🎫', by, 'Second'])
    const remove = () =>
      client.ask(`/requests/${id}/notes/${String(first?.id)}`, { method: 'DELETE', body: {} })
    assert.deepEqual(listIn(dataOf(await remove()), 'notes'), [second])
    errorOf(await remove(), 'not_found')
    for (const text of ['', ' \n ', 'x'.repeat(2_001), 'a\u0000b', '\ud800', '🎫'.repeat(2_001)])
      assert.deepEqual(problemFields(await desk.change(id, 'notes', { text })), ['text'])
    dataOf(await desk.change(id, 'notes', { text: '🎫'.repeat(2_000) }))
    assert.deepEqual(dataOf(await desk.change(id, 'cancel')).notes, [])
    const story = ['created', 'note-added', 'note-added', 'note-deleted', 'note-added', 'cancelled']
    assert.deepEqual(await desk.story(id), story)
  })

  test('are limited in number, also when they arrive concurrently', async () => {
    const id = await desk.open('access', ofEmail('ada@example.com'))
    const answers = await Promise.all(
      Array.from({ length: maxNotes + 5 }, (_, i) => desk.change(id, 'notes', { text: `${i}` })),
    )
    assert.equal(answers.filter(({ status }) => status === 200).length, maxNotes)
    assert.equal(listIn(await desk.page(id), 'notes').length, maxNotes)
  })
})

describe('the records of a request', () => {
  const email = 'eve@example.com'

  test('are all data stored about the person, page by page, with hidden data', async () => {
    const own = await startShop({ after }, { scopes: ['analytics:view'] })
    const theirs = requestDesk(await openConsole(own, own.organisationId))
    const then = Date.now() - 300 * 86_400_000
    await own.ingest([
      ...Array.from({ length: 120 }, (_, i) =>
        visit(`eve-${String(i).padStart(3, '0')}`, { identifiers: { email } }),
      ).flat(),
      ...visit('eve-then', { startedAt: then, identifiers: { email } }),
    ])
    await hideByPlan(own)
    const id = await theirs.open('erasure', ofEmail(email))
    const first = await theirs.records(id)
    assert.deepEqual(first.next, { trackerId: 'shop', subjectId: 'eve-099' })
    const second = await theirs.records(id, first.next as object)
    assert.equal(second.next, null)
    const records = [...first.records, ...second.records]
    assert.equal(new Set(records.map((each) => each.subjectId)).size, 121)
    assert.partialDeepStrictEqual(records[0], {
      ...{ trackerId: 'shop', subjectId: 'eve-000', isHidden: false, exclusion: null },
      counts: { sessions: 1, events: 1 },
    })
    assert.deepEqual(records.at(-1), {
      ...{ trackerId: 'shop', subjectId: 'eve-then', isHidden: true, exclusion: null },
      ...{ firstSeenAt: null, lastSeenAt: null, counts: null },
    })
    assert.deepEqual((await theirs.request(id)).found, { subjects: 121, sessions: 120, events: 120 })
  })

  test('can be excluded with a reason, and included again, while the request is open', async () => {
    const address = 'shared@example.com'
    await shop.ingest(['mine', 'hers'].flatMap((id) => visit(id, { identifiers: { email: address } })))
    const id = await desk.open('erasure', ofEmail(address))
    const hers = { trackerId: 'shop', subjectId: 'hers' }
    const reason = 'The device of somebody else'
    const excluded = dataOf(await desk.change(id, 'exclude', { ...hers, reason }))
    assert.partialDeepStrictEqual(objectIn(excluded, 'request').found, { subjects: 1 })
    const [exclusion] = listIn(excluded, 'exclusions').filter(isObject)
    assert.deepEqual({ ...exclusion, at: null }, { trackerId: 'shop', reason, by, at: null })
    const { records } = await desk.records(id)
    assert.deepEqual(
      records.map((each) => [each.subjectId, isObject(each.exclusion) ? each.exclusion.reason : null]),
      [
        ['hers', reason],
        ['mine', null],
      ],
    )
    assert.deepEqual(problemFields(await desk.change(id, 'erase', { subjects: 2 })), ['subjects'])
    assert.deepEqual(problemFields(await desk.change(id, 'exclude', { ...hers, reason })), ['subjectId'])
    const included = dataOf(await desk.change(id, 'include', hers))
    assert.partialDeepStrictEqual(objectIn(included, 'request').found, { subjects: 2 })
    dataOf(await desk.change(id, 'include', hers))
    dataOf(await desk.change(id, 'exclude', { ...hers, reason }))
    const closed = dataOf(await desk.change(id, 'cancel'))
    assert.equal(textIn(listIn(closed, 'exclusions')[0], 'reason'), reason)
    assert.deepEqual(await desk.records(id), { records: [], next: null })
    for (const [verb, body] of [
      ['exclude', { ...hers, reason }],
      ['include', hers],
    ] as const) {
      assert.deepEqual(problemFields(await desk.change(id, verb, body)), ['state'])
    }
    const story = ['created', 'record-excluded', 'record-included', 'record-excluded', 'cancelled']
    assert.deepEqual(await desk.story(id), story)
  })

  test('cannot be excluded if they belong to someone else, or with a reason that identifies the person', async () => {
    await shop.ingest([
      ...visit('frida-4711', { identifiers: { email: 'frida@example.com' } }),
      ...visit('someone'),
    ])
    const id = await desk.open('erasure', ofEmail('frida@example.com'))
    const exclude = (subjectId: string, reason: string, trackerId = 'shop') =>
      desk.change(id, 'exclude', { trackerId, subjectId, reason })
    assert.deepEqual(problemFields(await exclude('someone', 'Not her')), ['subjectId'])
    assert.deepEqual(problemFields(await exclude('frida-4711', 'Not her', 'elsewhere')), ['subjectId'])
    for (const reason of ['Not Frida@Example.com', 'see frida-4711', ' ', 'x'.repeat(501)])
      assert.deepEqual(problemFields(await exclude('frida-4711', reason)), ['reason'], reason)
    dataOf(await exclude('frida-4711', 'Not her'))
  })

  test('are excluded once if several members exclude them concurrently', async () => {
    await shop.ingest(visit('gus', { identifiers: { email: 'gus@example.com' } }))
    const id = await desk.open('erasure', ofEmail('gus@example.com'))
    const body = { trackerId: 'shop', subjectId: 'gus', reason: 'Not him' }
    await Promise.all(Array.from({ length: 6 }, () => desk.change(id, 'exclude', body)))
    assert.equal(listIn(await desk.page(id), 'exclusions').length, 1)
    assert.deepEqual(await desk.story(id), ['created', 'record-excluded'])
  })
})

describe('the reply to a request', () => {
  const reply = async (id: string, query = '') => dataOf(await client.ask(`/requests/${id}/reply${query}`))
  const textOf = async (id: string, name: string, query = '') => {
    const found = listIn(await reply(id, query), 'replies').find((each) => textIn(each, 'name') === name)
    return found ? textIn(found, 'text') : null
  }

  test('has the facts filled in, in either language, and only texts that apply', async () => {
    await shop.ingest(visit('hal', { events: 2, identifiers: { email: 'hal@example.com' } }))
    const receivedAt = '2026-05-03T10:00:00Z'
    const id = await desk.open('access', ofEmail('hal@example.com'), { receivedAt, reference: 'DSR-9' })
    const first = await reply(id)
    assert.deepEqual([first.language, first.suggested], ['en', 'access.received'])
    assert.deepEqual(
      listIn(first, 'replies').map((each) => textIn(each, 'name')),
      ['access.received', 'access.more-information', 'access.copy-ready'],
    )
    assert.match((await textOf(id, 'access.received')) ?? '', /3 May 2026.*3 June 2026.*DSR-9/s)
    assert.match((await textOf(id, 'access.copy-ready')) ?? '', /Recorded events: 2/)
    assert.match((await textOf(id, 'access.received', '?language=de')) ?? '', /3\. Mai 2026/)
    dataOf(await desk.change(id, 'extend', { reason: 'Many systems' }))
    assert.equal((await reply(id)).suggested, 'access.extended')
    assert.match((await textOf(id, 'access.extended')) ?? '', /Many systems.*3 August 2026/s)
    dataOf(await desk.change(id, 'reject', { reason: 'We cannot tell who asks' }))
    const last = await reply(id)
    assert.equal(last.suggested, 'access.rejected')
    assert.equal(listIn(last, 'replies').length, 1)
    assert.match((await textOf(id, 'access.rejected')) ?? '', /We cannot tell who asks/)
    assert.deepEqual(problemFields(await client.ask(`/requests/${id}/reply?language=fr`)), ['language'])
  })

  test('says that no data is held, with the request ID if there is no reference', async () => {
    const id = await desk.open('access', ofEmail('nobody@example.com'))
    assert.equal((await reply(id)).suggested, 'access.nothing-held')
    dataOf(await desk.change(id, 'close'))
    assert.match((await textOf(id, 'access.nothing-held')) ?? '', new RegExp(id))
    const cancelled = await desk.open('erasure', ofEmail('nobody@example.com'))
    dataOf(await desk.change(cancelled, 'cancel'))
    assert.partialDeepStrictEqual(await reply(cancelled), { suggested: null, replies: [] })
  })

  test('uses the organisation’s own text', async () => {
    const id = await desk.open('erasure', ofEmail('hal@example.com'))
    const text = { name: 'erasure.received', language: 'en', text: 'Until {dueAt}, {organisation}' }
    dataOf(await client.ask('/reply-texts', { method: 'POST', body: text }))
    const { name } = (await shop.services.organisations.find(shop.organisationId)) ?? {}
    assert.match(
      (await textOf(id, 'erasure.received')) ?? '',
      new RegExp(`^Until \\d+ \\w+ \\d{4}, ${name}$`),
    )
  })
})
