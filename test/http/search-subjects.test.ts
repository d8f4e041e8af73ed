import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { dataOf, errorOf, listIn, pagesOf, problemFields, textIn } from '../support/answers.ts'
import { anHourAgo, startShop, subjectPath, visit } from '../support/shop.ts'

const shop = await startShop({ after }, { scopes: ['analytics:view', 'analytics:delete-data'] })
const blog = await shop.createTracker(shop.organisationId, 'blog')
const rival = await shop.createOrganisation()
const foreign = await shop.createTracker(rival)
const rivalKey = (await shop.createKey(rival)).keyString
const path = '/v1/analytics/subjects/search'
const ada = { identifier: { name: 'email', value: 'ada@example.com' } }

/** A visit with identifiers. */
function known(subjectId: string, identifiers: Record<string, string>, trackerId = 'shop') {
  return visit(subjectId, { trackerId, events: 2 }).map((row) => ({ ...row, identifiers }))
}

await shop.ingest([
  ...known('anna', { email: 'Ada@Example.com', userId: '42' }),
  ...known('a/b?c=%20 🦦', { email: 'ada@example.com' }),
  ...known('anna', { email: 'ADA@EXAMPLE.COM' }, blog),
  ...known('ben', { email: 'ben@example.com', userId: 'Ab' }),
  ...known('anna', { email: 'ada@example.com' }, foreign),
])

const send = (body: string, headers: Record<string, string> = { 'content-type': 'application/json' }) =>
  shop.ask(path, { method: 'POST', key: shop.key, headers, body })
const search = (body: object) => send(JSON.stringify(body))

async function found(body: object): Promise<string[]> {
  const subjects = listIn(dataOf(await search(body)), 'subjects')
  return subjects.map((each) => `${textIn(each, 'trackerId')} ${textIn(each, 'subjectId')}`).sort()
}

describe('a search', () => {
  test('finds the subjects of a person in every tracker, with an address in any case', async () => {
    const all = ['blog anna', 'shop a/b?c=%20 🦦', 'shop anna']
    assert.deepEqual(await found(ada), all)
    assert.deepEqual(await found({ identifier: { name: 'email', value: 'aDA@example.COM' } }), all)
    const { subjects } = dataOf(await search({ identifier: { name: 'userId', value: '42' } }))
    const at = new Date(anHourAgo).toISOString()
    assert.deepEqual(subjects, [
      {
        ...{ trackerId: 'shop', subjectId: 'anna', firstSeenAt: at },
        ...{ lastSeenAt: new Date(anHourAgo + 1_000).toISOString(), counts: { sessions: 1, events: 2 } },
      },
    ])
  })

  test('finds an ID in every tracker', async () => {
    assert.deepEqual(await found({ subjectId: 'anna' }), ['blog anna', 'shop anna'])
    assert.deepEqual(await found({ subjectId: 'a/b?c=%20 🦦' }), ['shop a/b?c=%20 🦦'])
  })

  test('returns an empty list if nothing matches', async () => {
    const none = { subjects: [], nextCursor: null }
    for (const body of [
      { identifier: { name: 'email', value: 'nobody@example.com' } },
      { identifier: { name: 'userId', value: 'ab' } },
      { identifier: { name: 'unheardOf', value: 'ada@example.com' } },
      { subjectId: 'Anna' },
    ]) {
      assert.deepEqual(dataOf(await search(body)), none)
    }
  })

  test('finds no subject of another organisation', async () => {
    const body = JSON.stringify(ada)
    const headers = { 'content-type': 'application/json' }
    const theirs = await shop.ask(path, { method: 'POST', key: rivalKey, headers, body })
    const subjects = listIn(dataOf(theirs), 'subjects')
    assert.deepEqual(
      subjects.map((each) => textIn(each, 'trackerId')),
      [foreign],
    )
  })

  test('returns all matches page by page', async () => {
    const ids: string[] = []
    for await (const page of pagesOf((after) => search({ ...ada, limit: 1, ...after })))
      ids.push(...listIn(page, 'subjects').map((each) => textIn(each, 'trackerId')))
    assert.deepEqual(ids.sort(), ['blog', 'shop', 'shop'])
  })

  test('has cursors that are valid for that search only', async () => {
    const { nextCursor } = dataOf(await search({ ...ada, limit: 1 }))
    const cursor = String(nextCursor)
    const others = [{ identifier: { name: 'email', value: 'ben@example.com' } }, { subjectId: 'anna' }]
    for (const other of others)
      assert.deepEqual(problemFields(await search({ ...other, cursor })), ['cursor'])
    assert.deepEqual(problemFields(await search({ ...ada, cursor: `${cursor}x` })), ['cursor'])
    dataOf(await search({ identifier: { name: 'email', value: 'ADA@example.com' }, cursor }))
    const byId = String(dataOf(await search({ subjectId: 'anna', limit: 1 })).nextCursor)
    assert.deepEqual(problemFields(await search({ ...ada, cursor: byId })), ['cursor'])
  })

  test('returns current data of a subject', async () => {
    const answer = await shop.ask('/v1/analytics/trackers/shop/subjects/anna', { key: shop.key })
    assert.deepEqual(dataOf(answer).identifiers, [
      { name: 'email', value: 'Ada@Example.com' },
      { name: 'userId', value: '42' },
    ])
  })
})

describe('while a shorter plan hides data that is still stored', () => {
  const dayMs = 86_400_000
  /** Within the window of `pro`, outside that of `free`. */
  const longAgo = Date.now() - 300 * dayMs
  const cora = { identifier: { name: 'email', value: 'cora@example.com' } }
  const identifiers = { email: 'cora@example.com' }
  const { retentionDays, activityDays, clock, retention, organisations } = shop.services
  const policy = { retentionDays, activityDays }

  /** As the command does it, which also settles the window in the store. */
  async function setPlan(plan: 'pro' | 'free', now = clock()): Promise<void> {
    await organisations.setPlan(shop.organisationId, plan)
    await retention.settleWindows({ policy, now, rule: 'grace' })
  }

  /**
   * Two subjects of Cora: one last seen long ago; the other seen recently too, but with her address only long
   * ago.
   */
  async function seeCora() {
    await setPlan('pro')
    await shop.ingest([
      ...visit('cora-old', { startedAt: longAgo, identifiers }),
      ...visit('cora', { trackerId: blog, startedAt: longAgo, identifiers }),
      ...visit('cora', { trackerId: blog, sessionId: 's2' }),
      ...visit('cora-new', { identifiers }),
    ])
    await setPlan('free')
  }

  test('a search lists hidden subjects so that they can be erased', async () => {
    await seeCora()
    const data = dataOf(await search(cora))
    const refs = (field: string) =>
      listIn(data, field).map((each) => `${textIn(each, 'trackerId')} ${textIn(each, 'subjectId')}`)
    assert.deepEqual(refs('subjects'), ['shop cora-new'])
    assert.deepEqual(refs('hidden').sort(), ['blog cora', 'shop cora-old'])
    for (const each of listIn(data, 'hidden'))
      assert.deepEqual(Object.keys(each ?? {}), ['trackerId', 'subjectId'])
    const byId = dataOf(await search({ subjectId: 'cora-old' }))
    assert.deepEqual(byId, {
      ...{ subjects: [], nextCursor: null, hidden: [{ trackerId: 'shop', subjectId: 'cora-old' }] },
    })
  })

  test('hidden subjects are paged with the others', async () => {
    const names: string[] = []
    for await (const page of pagesOf((after) => search({ ...cora, limit: 1, ...after }))) {
      const onPage = [...listIn(page, 'subjects'), ...('hidden' in page ? listIn(page, 'hidden') : [])]
      assert.equal(onPage.length, 1)
      names.push(...onPage.map((each) => textIn(each, 'subjectId')))
    }
    assert.deepEqual(names.sort(), ['cora', 'cora-new', 'cora-old'])
  })

  test('erasing a hidden subject is final, even if a longer plan follows', async () => {
    const { subjects, hidden } = dataOf(await search(cora))
    for (const each of [...listIn({ subjects }, 'subjects'), ...listIn({ hidden }, 'hidden')]) {
      const of = subjectPath(textIn(each, 'subjectId'), textIn(each, 'trackerId'))
      dataOf(await shop.ask(of, { method: 'DELETE', key: shop.key }))
    }
    assert.deepEqual(dataOf(await search(cora)), { subjects: [], nextCursor: null })
    await setPlan('pro')
    assert.deepEqual(dataOf(await search(cora)), { subjects: [], nextCursor: null })
    assert.equal((await shop.ask(subjectPath('cora', blog), { key: shop.key })).status, 404)
  })

  test('a search does not list subjects that have expired by the effective window', async () => {
    await seeCora()
    await setPlan('pro')
    await setPlan('free', clock() - dayMs)
    assert.deepEqual(dataOf(await search({ subjectId: 'cora-old' })), { subjects: [], nextCursor: null })
  })
})

describe('the body of a search', () => {
  test('returns 422 with all its problems if it is invalid', async () => {
    const value = 'x'.repeat(257)
    const cases: [object, string[]][] = [
      [{}, ['identifier']],
      [{ ...ada, subjectId: 'anna' }, ['subjectId']],
      [{ identifier: 'email' }, ['identifier']],
      [{ identifier: { name: 'email' } }, ['identifier']],
      [{ identifier: { name: 'email', value: 7 } }, ['identifier']],
      [{ identifier: { name: 'e-mail', value: 'a' } }, ['identifier']],
      [{ identifier: { name: 'email', value: '' } }, ['identifier']],
      [{ identifier: { name: 'email', value } }, ['identifier']],
      [{ identifier: { name: 'email', value: 'a\nb' } }, ['identifier']],
      [{ identifier: { name: 'email', value: '\ud800' } }, ['identifier']],
      [{ identifier: { name: 'email', value: 'a', more: 1 } }, ['identifier']],
      [{ subjectId: '\ud800' }, ['subjectId']],
      [{ subjectId: '..' }, ['subjectId']],
      [{ ...ada, limit: 0, cursor: 7, what: 'ever' }, ['limit', 'cursor', 'what']],
      [{ ...ada, limit: '5' }, ['limit']],
      [[], ['body']],
    ]
    for (const [body, fields] of cases) {
      const answer = await search(body)
      assert.deepEqual(problemFields(answer), fields, JSON.stringify(body))
    }
    assert.deepEqual(problemFields(await send('7')), ['body'])
  })

  test('returns 400 for another type, malformed UTF-8 or malformed JSON', async () => {
    errorOf(await send(JSON.stringify(ada), { 'content-type': 'text/plain' }), 'invalid_request')
    errorOf(await send('{"identifier":'), 'invalid_request')
    const bytes = Buffer.concat([Buffer.from('{"subjectId":"'), Buffer.from([0xff]), Buffer.from('"}')])
    const response = await fetch(shop.url + path, {
      method: 'POST',
      headers: { authorization: `Bearer ${shop.key}`, 'content-type': 'application/json' },
      body: bytes,
    })
    assert.equal(response.status, 400)
  })

  test('cannot be combined with or replaced by a query', async () => {
    const answer = await shop.ask(`${path}?limit=1`, {
      ...{ method: 'POST', key: shop.key, headers: { 'content-type': 'application/json' } },
      body: JSON.stringify(ada),
    })
    assert.deepEqual(problemFields(answer), ['limit'])
    errorOf(await shop.ask(path, { key: shop.key }), 'invalid_request')
  })

  test('is never logged', () => {
    assert.ok(shop.logged.length > 0)
    for (const line of shop.logged) assert.doesNotMatch(line, /ada@example|ben@example/i)
  })
})
