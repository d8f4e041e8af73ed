import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { apiRoutes } from '../../src/http/api/routes.ts'
import { dataOf, errorOf, indistinct } from '../support/answers.ts'
import { startShop, subjectPath, visit } from '../support/shop.ts'

const shop = await startShop({ after }, { scopes: ['analytics:view', 'analytics:delete-data'] })
const rival = await shop.createOrganisation()
const foreign = await shop.createTracker(rival)
const rivalKey = (await shop.createKey(rival)).keyString
await shop.ingest([...visit('anna'), ...visit('anna', { trackerId: foreign, events: 5 })])
await shop.ingest(visit('secret', { trackerId: foreign }))

// As long as the foreign id, so that not even Content-Length may differ.
const missing = 'x'.repeat(foreign.length)

for (const { method, path } of apiRoutes.filter((route) => route.path.includes('{trackerId}'))) {
  const fill = (trackerId: string, subjectId: string) =>
    path.replace('{trackerId}', trackerId).replace('{subjectId}', subjectId)

  describe(`${method} ${path}`, () => {
    test('cannot tell a tracker of another organisation from one that does not exist', async () => {
      const expected = await shop.ask(fill(missing, 'anna'), { method, key: shop.key })
      errorOf(expected, 'not_found')
      for (const subjectId of ['anna', 'secret', 'nobody']) {
        const answer = await shop.ask(fill(foreign, subjectId), { method, key: shop.key })
        assert.deepEqual(indistinct(answer), indistinct(expected), subjectId)
      }
    })

    test('cannot tell them apart by what is wrong with a request either', async () => {
      for (const query of ['?limit=0', '?unknown=1', '?cursor=abc', '?sessionId=s1']) {
        const [theirs, none] = [fill(foreign, 'anna'), fill(missing, 'anna')]
        assert.deepEqual(
          indistinct(await shop.ask(theirs + query, { method, key: shop.key })),
          indistinct(await shop.ask(none + query, { method, key: shop.key })),
        )
      }
    })

    test('cannot tell them apart without the scope', async () => {
      const scope = method === 'GET' ? 'analytics:delete-data' : 'analytics:view'
      const narrow = (await shop.createKey(shop.organisationId, [scope])).keyString
      assert.deepEqual(
        indistinct(await shop.ask(fill(foreign, 'anna'), { method, key: narrow })),
        indistinct(await shop.ask(fill(missing, 'anna'), { method, key: narrow })),
      )
    })
  })
}

test('HEAD tells no more', async () => {
  const [theirs, none] = [subjectPath('anna', foreign), subjectPath('anna', missing)]
  assert.deepEqual(
    indistinct(await shop.ask(theirs, { method: 'HEAD', key: shop.key })),
    indistinct(await shop.ask(none, { method: 'HEAD', key: shop.key })),
  )
})

test('an erasure that was refused has erased nothing', async () => {
  const record = dataOf(await shop.ask(subjectPath('anna', foreign), { key: rivalKey }))
  assert.deepEqual(record.counts, { sessions: 1, events: 5 })
  dataOf(await shop.ask(subjectPath('secret', foreign), { key: rivalKey }))
})

test('a subject of the same id in two organisations is two subjects', async () => {
  dataOf(await shop.ask(subjectPath('anna'), { method: 'DELETE', key: shop.key }))
  errorOf(await shop.ask(subjectPath('anna'), { key: shop.key }), 'not_found')
  dataOf(await shop.ask(subjectPath('anna', foreign), { key: rivalKey }))
})

test('a cursor of another organisation opens nothing', async () => {
  const list = `/v1/analytics/trackers/${foreign}/subjects`
  const cursor = dataOf(await shop.ask(`${list}?limit=1`, { key: rivalKey })).nextCursor
  assert.equal(typeof cursor, 'string')
  errorOf(await shop.ask(`${list}?limit=1&cursor=${cursor}`, { key: shop.key }), 'not_found')
})
