import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { dataOf, isObject, listIn, objectIn, problemFields, textIn } from '../support/answers.ts'
import { openConsole, rawPost } from '../support/console.ts'
import { startShop, visit } from '../support/shop.ts'
import { until } from '../support/until.ts'
import { hideByPlan } from '../support/windows.ts'

const shop = await startShop({ after }, { scopes: ['analytics:view'] })
await shop.createTracker(shop.organisationId, 'blog')
const email = 'ada@example.com'
await shop.ingest([
  ...visit('laptop', { identifiers: { email, userId: '42' } }),
  ...visit('42-other'),
  ...visit('phone', { identifiers: { email } }),
  ...visit('reader', { trackerId: 'blog', identifiers: { email: 'Ada@Example.com' } }),
  ...visit('phone-2', { trackerId: 'blog', identifiers: { order: 'order 7', phone: 'laptop' } }),
  ...visit('a@b=c'),
  ...Array.from({ length: 7 }, (_, i) => visit(`crowd-${i}`)).flat(),
])
const client = await openConsole(shop, shop.organisationId)

/** The IDs found in each tracker; `…` stands for more. */
async function find(text: string, limit?: number): Promise<Record<string, string[]>> {
  const body = { text, ...(limit !== undefined && { limit }) }
  const groups = listIn(dataOf(await client.ask('/find', { method: 'POST', body })), 'groups')
  return Object.fromEntries(
    groups.map((group) => {
      const ids = listIn(group, 'subjects').map((subject) => textIn(subject, 'subjectId'))
      const hasMore = objectIn({ group }, 'group').hasMore === true
      return [textIn(objectIn(group, 'tracker'), 'name'), [...ids, ...(hasMore ? ['…'] : [])]]
    }),
  )
}

describe('a search for people', () => {
  test('finds an address in any case, on all trackers', async () => {
    const found = await find('ADA@example.com')
    assert.deepEqual(found.shop?.toSorted(), ['laptop', 'phone'])
    assert.deepEqual(found.blog, ['reader'])
  })

  test('finds other identifiers with their name', async () => {
    assert.deepEqual(await find('userId=42'), { shop: ['laptop'] })
    assert.deepEqual(await find('userId=43'), {})
  })

  test('matches identifier names in any case, or all names if none is given', async () => {
    assert.deepEqual(await find('userid=42'), { shop: ['laptop'] })
    assert.deepEqual(await find('USERID=42'), { shop: ['laptop'] })
    assert.deepEqual(await find('42'), { shop: ['laptop', '42-other'] })
    assert.deepEqual(await find('order 7'), { blog: ['phone-2'] })
  })

  test('finds an ID by itself or its start', async () => {
    assert.deepEqual(await find('phone'), { shop: ['phone'], blog: ['phone-2'] })
    assert.deepEqual(await find('a@b=c'), { shop: ['a@b=c'] }, 'an id may look like an address')
  })

  test('returns a few of many, and reports that there are more', async () => {
    assert.deepEqual(await find('crowd', 3), { shop: ['crowd-0', 'crowd-1', 'crowd-2', '…'] })
    assert.equal((await find('crowd', 200)).shop?.length, 7)
  })

  test('returns nothing for text that cannot match', async () => {
    for (const text of ['.', '\u0000', '\ud800', 'x'.repeat(300), '=', '@'])
      assert.deepEqual(await find(text), {})
    const refused = await client.ask('/find', { method: 'POST', body: { text: '', limit: 0 } })
    assert.deepEqual(problemFields(refused), ['text', 'limit'])
  })
})

describe('a person', () => {
  /** The people that match a text: their identifier and their IDs. */
  async function people(text: string): Promise<[by: string | null, ids: string[], hidden: string[]][]> {
    const found = listIn(dataOf(await client.ask('/find', { method: 'POST', body: { text } })), 'people')
    const refs = (list: unknown[]) =>
      list.map((each) => `${textIn(each, 'trackerId')} ${textIn(each, 'subjectId')}`).sort()
    return found.filter(isObject).map(({ identifier, ...person }) => {
      const by = identifier === null ? null : `${textIn(identifier, 'name')}=${textIn(identifier, 'value')}`
      return [by, refs(listIn(person, 'subjects')), refs(listIn(person, 'hidden'))]
    })
  }

  test('is found by its identifier or complete ID, not by the start of an ID', async () => {
    assert.deepEqual(await people('ada@example.com'), [
      ['email=ada@example.com', ['blog reader', 'shop laptop', 'shop phone'], []],
    ])
    assert.deepEqual(await people('phone'), [[null, ['shop phone'], []]])
    assert.deepEqual(await people('crowd'), [], 'seven strangers')
    assert.deepEqual(await people('crowd-1'), [[null, ['shop crowd-1'], []]])
  })

  test('is separate from others that match the same text', async () => {
    assert.deepEqual(await people('laptop'), [
      ['phone=laptop', ['blog phone-2'], []],
      [null, ['shop laptop'], []],
    ])
  })

  test('has data subjects hidden by a shorter plan', async () => {
    const { organisations } = shop.services
    await organisations.setPlan(shop.organisationId, 'pro')
    const startedAt = Date.now() - 300 * 86_400_000
    await shop.ingest(visit('faded', { startedAt, identifiers: { email: 'faded@example.com' } }))
    await hideByPlan(shop)
    assert.deepEqual(await find('faded@example.com'), {})
    assert.deepEqual(await people('faded@example.com'), [['email=faded@example.com', [], ['shop faded']]])
    assert.deepEqual(await people('faded'), [[null, [], ['shop faded']]])
  })
})

describe('a search with very many results', () => {
  test('returns 1,000 in total across all names', async () => {
    const organisationId = await shop.createOrganisation()
    await shop.createTracker(organisationId, 'crowded')
    const member = await openConsole(shop, organisationId)
    const identifiers = { a: '42', b: '42', c: '42' }
    await shop.ingest(
      Array.from({ length: 450 }, (_, i) =>
        visit(`crowd-${i}`, { trackerId: 'crowded', identifiers }),
      ).flat(),
    )
    const found = dataOf(await member.ask('/find', { method: 'POST', body: { text: '42' } }))
    const people = listIn(found, 'people').map((person) => listIn(person, 'subjects').length)
    assert.deepEqual(people, [450, 450, 100])
  })

  test('ends when the client disconnects', async (t) => {
    const { search } = shop.services
    const { identifierNames } = search
    const reached = Promise.withResolvers<void>()
    const released = Promise.withResolvers<void>()
    t.mock.method(search, 'identifierNames', async (...args: Parameters<typeof identifierNames>) => {
      reached.resolve()
      await released.promise
      return identifierNames.apply(search, args)
    })
    const lookUp = t.mock.method(search, 'subjects')
    const member = await openConsole(shop, shop.organisationId)
    const requestId = '6f8b2c1e-5a0d-4a57-9b7e-0c2f6d1f7a99'
    const request = await rawPost(shop, member, '/find', { text: 'somebody' }, { requestId })
    await reached.promise
    request.hangUp()
    const lines = () => shop.logged.filter((line) => line.includes(requestId))
    await until(() => lines().length > 0)
    released.resolve()
    dataOf(await member.ask('/trackers'))
    await nextTurn()
    assert.deepEqual([lookUp.mock.callCount(), lines().length], [0, 1])
  })
})
