import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { dataOf, errorOf, listIn, objectIn, problemFields, textIn, uuidPattern } from '../support/answers.ts'
import { openConsole } from '../support/console.ts'
import { ofEmail, requestDesk } from '../support/console-requests.ts'
import { startShop, visit } from '../support/shop.ts'

const shop = await startShop({ after }, { scopes: ['analytics:view'] })
const blog = `${shop.organisationId}-blog`
await shop.createTracker(shop.organisationId, blog)
const client = await openConsole(shop, shop.organisationId)
const desk = requestDesk(client)
const me = { kind: 'member', id: client.member.id, name: client.member.email }
await shop.ingest([
  ...visit('ada-1', { events: 3, identifiers: { email: 'ada@example.com' } }),
  ...visit('ada-2', { trackerId: blog, identifiers: { email: 'Ada@Example.com' } }),
  ...visit('ben', { identifiers: { email: 'ben@example.com' } }),
])

const day = (text: string) => new Date(`${text}T10:00:00.000Z`).toISOString()

describe('a new request of a member', () => {
  test('finds the person in every tracker, is due in a month, and has its author', async () => {
    const receivedAt = day('2026-01-31')
    const fields = { receivedAt, reference: 'DSR-7' }
    const page = dataOf(await desk.create('access', ofEmail('ADA@example.com'), fields))
    const request = objectIn(page, 'request')
    assert.match(textIn(request, 'requestId'), uuidPattern)
    assert.partialDeepStrictEqual(request, {
      ...{ kind: 'access', state: 'open', reference: 'DSR-7', receivedAt, dueAt: day('2026-02-28') },
      ...{
        found: { subjects: 2, sessions: 2, events: 4 },
        person: { identifiers: [{ name: 'email', value: 'ADA@example.com' }], subjects: [] },
      },
      ...{ assignee: null, createdBy: me, startedBy: null, closedAt: null, reason: null },
    })
    assert.deepEqual([page.notes, page.exclusions, page.earlier, page.hasMoreStory], [[], [], [], false])
    assert.deepEqual(await desk.story(textIn(request, 'requestId')), ['created'])
  })

  const refused: [string, object, string[]][] = [
    ['a time in the future', { receivedAt: '2999-01-01T00:00:00Z' }, ['receivedAt']],
    ['no time', { receivedAt: 'yesterday' }, ['receivedAt']],
    ['a long reference', { reference: 'x'.repeat(201) }, ['reference']],
    ['an unknown kind', { kind: 'objection' }, ['kind']],
    ['nobody', { person: { identifiers: [], subjects: [] } }, ['person']],
    [
      'a foreign tracker',
      { person: { identifiers: [], subjects: [{ trackerId: 'x', subjectId: 'ada-1' }] } },
      ['person'],
    ],
  ]
  for (const [what, fields, expected] of refused) {
    test(`is rejected with ${what}`, async () => {
      assert.deepEqual(
        problemFields(await desk.create('access', ofEmail('ada@example.com'), fields)),
        expected,
      )
    })
  }

  test('is created once for the same ID and content', async () => {
    const requestId = '6f8b2c1e-5a0d-4a57-9b7e-0c2f6d1f7a34'
    const person = ofEmail('dora@example.com')
    const ids = [
      await desk.open('access', person, { requestId }),
      await desk.open('access', person, { requestId }),
    ]
    assert.deepEqual(ids, [requestId, requestId])
    assert.deepEqual(await desk.story(requestId), ['created'])
    assert.deepEqual(problemFields(await desk.create('erasure', person, { requestId })), ['requestId'])
    assert.deepEqual(problemFields(await desk.create('access', person, { requestId: 'x' })), ['requestId'])
  })

  test('shows other requests of the same person, closed ones included', async () => {
    const first = await desk.open('access', ofEmail('carla@example.com'), { reference: 'first' })
    dataOf(await desk.change(first, 'cancel'))
    const second = await desk.open('erasure', {
      identifiers: [
        { name: 'email', value: 'CARLA@example.com' },
        { name: 'userId', value: '7' },
      ],
    })
    const earlierOf = async (id: string) =>
      listIn(await desk.page(id), 'earlier').map((each) => [textIn(each, 'requestId'), textIn(each, 'state')])
    assert.deepEqual(await earlierOf(second), [[first, 'cancelled']])
    assert.deepEqual(await earlierOf(first), [[second, 'open']])
  })
})

describe('a change of a request', () => {
  test('returns its page, and is in its history', async () => {
    const id = await desk.open('erasure', ofEmail('ben@example.com'), { receivedAt: day('2026-03-15') })
    const extended = dataOf(await desk.change(id, 'extend', { reason: 'Many systems' }))
    const state = { state: 'open', dueAt: day('2026-06-15'), reason: 'Many systems' }
    assert.partialDeepStrictEqual(extended.request, state)
    assert.deepEqual(problemFields(await desk.change(id, 'extend', { reason: 'Again' })), ['extendedAt'])
    assert.deepEqual(problemFields(await desk.change(id, 'close')), ['kind'])
    assert.deepEqual(problemFields(await desk.change(id, 'reject', { reason: '' })), ['reason'])
    const rejected = dataOf(await desk.change(id, 'reject', { reason: 'Not identified' }))
    const end = { state: 'rejected', reason: 'Not identified', person: null }
    assert.partialDeepStrictEqual(rejected.request, end)
    for (const [verb, body] of [
      ['cancel', {}],
      ['extend', { reason: 'x' }],
      ['reject', { reason: 'x' }],
      ['erase', { subjects: 1 }],
      ['assign', { memberId: client.member.id }],
      ['notes', { text: 'x' }],
    ] as const) {
      assert.deepEqual(problemFields(await desk.change(id, verb, body)), ['state'], verb)
    }
    assert.deepEqual(await desk.story(id), ['created', 'extended', 'rejected'])
  })

  test('starts an erasure only if the typed number matches the current one', async () => {
    const id = await desk.open('erasure', ofEmail('ada@example.com'))
    const answer = await desk.change(id, 'erase', { subjects: 1 })
    assert.deepEqual(problemFields(answer), ['subjects'])
    assert.match(JSON.stringify(answer.body), /now finds 2 data subjects, not 1/)
    assert.equal((await desk.request(id)).state, 'open')
    const access = await desk.open('access', ofEmail('ada@example.com'))
    assert.deepEqual(problemFields(await desk.change(access, 'erase', { subjects: 2 })), ['kind'])
    for (const each of [id, access]) dataOf(await desk.change(each, 'cancel'))
  })
})

describe('the inbox', () => {
  const theirs = async () => {
    const organisationId = await shop.createOrganisation()
    const browser = await openConsole(shop, organisationId)
    return { browser, desk: requestDesk(browser), organisationId }
  }

  test('lists open requests with the soonest due date first, and closed ones with the latest first', async () => {
    const { desk } = await theirs()
    const opened: string[] = []
    for (const date of ['2026-03-03', '2026-03-01', '2026-03-02'])
      opened.push(await desk.open('access', ofEmail('x@example.com'), { receivedAt: day(date) }))
    const [third, first, second] = opened
    assert.deepEqual(await desk.list(), [first, second, third])
    assert.deepEqual(await desk.list('?state=open'), [first, second, third])
    for (const id of [first, third]) dataOf(await desk.change(String(id), 'cancel'))
    assert.deepEqual(await desk.list(), [second])
    assert.deepEqual(await desk.list('?state=cancelled'), [third, first])
    assert.deepEqual(await desk.list('?state=all'), [third, second, first])
    assert.deepEqual(await desk.list('?state=done'), [])
  })

  test('is filtered by kind, member and overdue state, page by page, and counted', async () => {
    const { desk, browser, organisationId } = await theirs()
    const other = await openConsole(shop, organisationId)
    const soon = new Date(Date.now() - 27 * 86_400_000).toISOString()
    const late = await desk.open('access', ofEmail('x@example.com'), { receivedAt: day('2026-01-01') })
    const due = await desk.open('erasure', ofEmail('x@example.com'), { receivedAt: soon })
    const fresh = await desk.open('access', ofEmail('x@example.com'))
    dataOf(await desk.change(due, 'assign', { memberId: browser.member.id }))
    dataOf(await desk.change(fresh, 'assign', { memberId: other.member.id }))
    assert.deepEqual(await desk.list('?overdue=true'), [late])
    assert.deepEqual(await desk.list('?kind=erasure'), [due])
    assert.deepEqual(await desk.list('?assignee=me'), [due])
    assert.deepEqual(await desk.list('?assignee=none'), [late])
    assert.deepEqual(await desk.list(`?assignee=${other.member.id}&kind=access`), [fresh])
    assert.deepEqual(await desk.list(`?assignee=${other.member.id}&state=all&kind=erasure`), [])
    const [page] = [dataOf(await browser.ask('/requests?limit=2'))]
    const next = dataOf(await browser.ask(`/requests?limit=2&cursor=${textIn(page, 'nextCursor')}`))
    assert.deepEqual([listIn(page, 'rows').length, listIn(next, 'rows').length], [2, 1])
    assert.equal(next.nextCursor, null)
    const elsewhere = await browser.ask(`/requests?kind=access&cursor=${textIn(page, 'nextCursor')}`)
    assert.deepEqual(problemFields(elsewhere), ['cursor'])
    const counts = { open: 3, dueSoon: 1, overdue: 1, mine: 1 }
    assert.deepEqual(dataOf(await browser.ask('/request-counts')), counts)
  })

  test('rejects filters that exclude each other, and unknown ones', async () => {
    const refused = {
      overdue: '?state=done&overdue=true',
      state: '?state=closed',
      kind: '?kind=x',
      who: '?who=me',
    }
    for (const [field, query] of Object.entries(refused))
      assert.deepEqual(problemFields(await client.ask(`/requests${query}`)), [field])
  })

  test('has no ID of a person in cursors', async () => {
    const { desk, browser } = await theirs()
    for (let i = 0; i < 2; i++)
      await desk.open('access', { identifiers: [{ name: 'userId', value: 'marker-4711' }] })
    const cursor = textIn(dataOf(await browser.ask('/requests?limit=1')), 'nextCursor')
    assert.doesNotMatch(Buffer.from(cursor.slice(12), 'base64url').toString(), /marker/)
  })
})

describe('a request that does not exist', () => {
  test('returns 404 for an ID of any form', async () => {
    for (const id of ['x', '00000000-0000-4000-8000-000000000000', '%00', '..%2F'])
      assert.ok([404, 422].includes((await client.ask(`/requests/${id}`)).status), id)
    errorOf(await client.ask('/requests/x/records', { method: 'POST', body: {} }), 'not_found')
  })
})
