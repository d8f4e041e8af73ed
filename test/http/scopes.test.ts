import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import type { Scope } from '../../src/domain/api-key.ts'
import { apiRoutes } from '../../src/http/api/routes.ts'
import { dataOf, errorOf, isObject } from '../support/answers.ts'
import { startShop, subjectPath, subjectsPath, visit } from '../support/shop.ts'

const shop = await startShop({ after }, { scopes: ['analytics:view'] })
const eraser = (await shop.createKey(shop.organisationId, ['analytics:delete-data'])).keyString
const manager = (await shop.createKey(shop.organisationId, ['analytics:manage-requests'])).keyString
const collector = (await shop.createKey(shop.organisationId, ['analytics:collect'])).keyString
await shop.ingest(visit('anna'))
const requestsPath = '/v1/analytics/requests'
const requestPath = (number: number) => `${requestsPath}/00000000-0000-4000-8000-00000000000${number}`
const person = { identifiers: [{ name: 'email', value: 'anna@example.com' }] }
for (const [number, kind] of ['erasure', 'erasure', 'access', 'erasure'].entries()) {
  const body = { kind, person, requestId: requestPath(number).slice(requestsPath.length + 1) }
  dataOf(await shop.ask(requestsPath, { method: 'POST', key: manager, ...json(body) }))
}

const operations: [method: string, path: string, scope: Scope][] = [
  ['GET', subjectsPath, 'analytics:view'],
  ['GET', subjectPath('anna'), 'analytics:view'],
  ['GET', `${subjectPath('anna')}/sessions`, 'analytics:view'],
  ['GET', `${subjectPath('anna')}/events`, 'analytics:view'],
  ['GET', `${subjectPath('anna')}/export`, 'analytics:view'],
  ['GET', `${subjectPath('anna')}/receipts`, 'analytics:view'],
  ['POST', '/v1/analytics/subjects/search', 'analytics:view'],
  ['GET', '/v1/analytics/ledger', 'analytics:view'],
  ['GET', '/v1/analytics/ledger/entries', 'analytics:view'],
  ['GET', '/v1/analytics/ledger/consistency?from=0', 'analytics:view'],
  ['DELETE', subjectPath('anna'), 'analytics:delete-data'],
  ['POST', requestsPath, 'analytics:manage-requests'],
  ['GET', requestsPath, 'analytics:manage-requests'],
  ['GET', requestPath(0), 'analytics:manage-requests'],
  ['POST', `${requestPath(0)}/extend`, 'analytics:manage-requests'],
  ['POST', `${requestPath(0)}/reject`, 'analytics:manage-requests'],
  ['POST', `${requestPath(1)}/cancel`, 'analytics:manage-requests'],
  ['POST', `${requestPath(2)}/close`, 'analytics:manage-requests'],
  ['GET', `${requestPath(3)}/export`, 'analytics:view'],
  ['POST', `${requestPath(3)}/erase`, 'analytics:delete-data'],
  ['GET', `${requestPath(3)}/certificate`, 'analytics:manage-requests'],
  ['POST', '/v1/ingest/trackers/shop/batches', 'analytics:collect'],
]

const keys: Record<Scope, string> = {
  'analytics:view': shop.key,
  'analytics:delete-data': eraser,
  'analytics:collect': collector,
  'analytics:manage-requests': manager,
}

const bodies: [end: string, body: object][] = [
  ['/batches', { lines: [] }],
  ['/search', { subjectId: 'anna' }],
  ['/requests', { kind: 'access', person }],
  ['/extend', { reason: 'Many systems' }],
  ['/reject', { reason: 'Not a customer' }],
]

function json(body: object) {
  return { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
}

/** The keys with one other scope each. */
function keysWithout(scope: Scope): string[] {
  return Object.entries(keys).flatMap(([granted, key]) => (granted === scope ? [] : [key]))
}

test('every operation is in the table below', () => {
  assert.deepEqual(
    apiRoutes.map(({ method, access }) => `${method} ${access}`).sort(),
    operations.map(([method, , scope]) => `${method} ${scope}`).sort(),
  )
})

for (const [method, path, scope] of operations) {
  describe(`${method} ${path}`, () => {
    test(`returns 403 for a key without ${scope}, which the message names`, async () => {
      for (const key of keysWithout(scope)) {
        const answer = await shop.ask(path, { method, key })
        assert.ok(String(errorOf(answer, 'forbidden').message).includes(scope))
        assert.equal(
          answer.headers.get('www-authenticate'),
          `Bearer error="insufficient_scope", scope="${scope}"`,
        )
      }
    })

    test('returns 403 before the parameters and the tracker are checked', async () => {
      const [key = ''] = keysWithout(scope)
      errorOf(await shop.ask(`${path.split('?')[0]}?limit=nonsense&what=ever`, { method, key }), 'forbidden')
      errorOf(await shop.ask(path.replace('shop', 'nowhere'), { method, key }), 'forbidden')
      errorOf(await shop.ask(path.replace('shop', '%00'), { method, key }), 'forbidden')
    })

    test(`needs only ${scope}`, async () => {
      const [, body = {}] = bodies.find(([end]) => path.endsWith(end)) ?? []
      const sent = method === 'POST' ? json(body) : {}
      assert.equal((await shop.ask(path, { method, key: keys[scope], ...sent })).status, 200)
    })
  })
}

test('HEAD needs the scope that GET needs', async () => {
  const answer = await shop.ask(subjectsPath, { method: 'HEAD', key: eraser })
  assert.equal(answer.status, 403)
  assert.equal(
    answer.headers.get('www-authenticate'),
    'Bearer error="insufficient_scope", scope="analytics:view"',
  )
})

test('a key without the scope erases nothing', async () => {
  await shop.ingest(visit('berta'))
  errorOf(await shop.ask(subjectPath('berta'), { method: 'DELETE', key: shop.key }), 'forbidden')
  assert.ok(isObject(dataOf(await shop.ask(subjectPath('berta'), { key: shop.key }))))
})

test('a key without the scope does not learn which subjects exist', async () => {
  errorOf(await shop.ask('/v1/nowhere', { key: eraser }), 'not_found')
  errorOf(await shop.ask(subjectsPath, { key: eraser, method: 'POST' }), 'invalid_request')
})
