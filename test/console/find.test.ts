import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { dataOf, listIn, objectIn, problemFields, textIn } from '../support/answers.ts'
import { openConsole } from '../support/console.ts'
import { startShop, visit } from '../support/shop.ts'

const shop = await startShop({ after }, { scopes: ['analytics:view'] })
await shop.createTracker(shop.organisationId, 'blog')
const email = 'ada@example.com'
await shop.ingest([
  ...visit('laptop', { identifiers: { email, userId: '42' } }),
  ...visit('phone', { identifiers: { email } }),
  ...visit('reader', { trackerId: 'blog', identifiers: { email: 'Ada@Example.com' } }),
  ...visit('phone-2', { trackerId: 'blog' }),
  ...visit('a@b=c'),
  ...Array.from({ length: 7 }, (_, i) => visit(`crowd-${i}`)).flat(),
])
const client = await openConsole(shop, shop.organisationId)

/** The ids that were found, by tracker; `…` for more. */
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

describe('finding anyone', () => {
  test('goes by an address in whatever case, on all trackers', async () => {
    const found = await find('ADA@example.com')
    assert.deepEqual(found.shop?.toSorted(), ['laptop', 'phone'])
    assert.deepEqual(found.blog, ['reader'])
  })

  test('goes by another identifier with its name', async () => {
    assert.deepEqual(await find('userId=42'), { shop: ['laptop'] })
    assert.deepEqual(await find('userId=43'), {})
  })

  test('goes by an id or its beginning', async () => {
    assert.deepEqual(await find('phone'), { shop: ['phone'], blog: ['phone-2'] })
    assert.deepEqual(await find('a@b=c'), { shop: ['a@b=c'] }, 'an id may look like an address')
  })

  test('tells a few of many, and that there are more', async () => {
    assert.deepEqual(await find('crowd', 3), { shop: ['crowd-0', 'crowd-1', 'crowd-2', '…'] })
    assert.equal((await find('crowd', 200)).shop?.length, 7)
  })

  test('finds nobody by what can be nobody', async () => {
    for (const text of ['.', '\u0000', '\ud800', 'x'.repeat(300), '=', '@'])
      assert.deepEqual(await find(text), {})
    const refused = await client.ask('/find', { method: 'POST', body: { text: '', limit: 0 } })
    assert.deepEqual(problemFields(refused), ['text', 'limit'])
  })
})
