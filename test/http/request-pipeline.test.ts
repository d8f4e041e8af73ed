import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import type { Scope } from '../../src/domain/api-key.ts'
import { budgetOf, dataOf, errorOf, problemFields } from '../support/answers.ts'
import { askRaw } from '../support/raw-http.ts'
import { startShop, subjectPath, subjectsPath, visit } from '../support/shop.ts'

const view = ['analytics:view'] as const
const both = ['analytics:view', 'analytics:delete-data'] as const
/** One with one request per key, one with two erasures per key. Each test uses keys of its own. */
const tight = await startShop({ after }, { env: { LETHE_LIMIT_KEY: '1/minute' }, scopes: view })
const shop = await startShop({ after }, { env: { LETHE_LIMIT_ERASURE: '2/hour' }, scopes: view })
const { ask, url } = shop
const keyOf = async (scopes: readonly Scope[]) =>
  (await shop.createKey(shop.organisationId, scopes)).keyString
const tightKey = async () => (await tight.createKey(tight.organisationId, view)).keyString
const unusableId: [string, string] = ['X-Request-Id', 'i'.repeat(201)]

// Each test compares one step with all later ones.
describe('the request pipeline', () => {
  test('checks the budget of the address before the request ID, the key and everything else', async (t) => {
    const { ask, url, key } = await startShop(t, { env: { LETHE_LIMIT_IP: '1/minute' }, scopes: view })
    dataOf(await ask(subjectsPath, { key }))
    for (const answer of [
      await ask(subjectsPath),
      await ask(subjectsPath, { key: 'nonsense' }),
      await askRaw(url, subjectsPath, { headers: [unusableId] }),
      await ask('/v1/nowhere'),
      await ask('/v1/nowhere', { key }),
      await askRaw(url, '/v1/%zz', { key }),
      await ask(subjectsPath, { key, method: 'PUT' }),
      await ask(subjectPath('anna'), { key, method: 'DELETE' }),
      await ask(`${subjectsPath}?limit=0`, { key }),
    ]) {
      errorOf(answer, 'rate_limited')
    }
  })

  test('checks the request ID before the key, its budget and the path', async () => {
    const { ask, url } = tight
    const key = await tightKey()
    dataOf(await ask(subjectsPath, { key }))
    errorOf(await askRaw(url, subjectsPath, { headers: [unusableId] }), 'invalid_request')
    errorOf(await askRaw(url, '/v1/nowhere', { headers: [unusableId] }), 'invalid_request')
    errorOf(await askRaw(url, subjectsPath, { key, headers: [unusableId] }), 'invalid_request')
  })

  test('checks the key before the path, the method, the encoding and the parameters', async () => {
    for (const key of [undefined, 'nonsense']) {
      const credential = key === undefined ? {} : { key }
      for (const answer of [
        await ask('/v1/nowhere', credential),
        await ask(subjectsPath, { ...credential, method: 'PATCH' }),
        await askRaw(url, '/v1/%zz', credential),
        await ask(`${subjectsPath}?limit=0`, credential),
        await ask(subjectPath('%00'), { ...credential, method: 'DELETE' }),
      ]) {
        errorOf(answer, 'unauthorized')
        assert.equal(answer.headers.get('allow'), null)
      }
    }
  })

  test('counts an invalid key against no key', async () => {
    const { ask } = tight
    const key = await tightKey()
    for (let i = 0; i < 3; i++) {
      const answer = await ask(subjectsPath, { key: `${key.slice(0, -1)}!` })
      errorOf(answer, 'unauthorized')
      assert.ok(budgetOf(answer).limit > 1)
    }
    dataOf(await ask(subjectsPath, { key }))
  })

  test('checks the budget of the key before the route, its scope and its parameters', async () => {
    const { ask, url } = tight
    const key = await tightKey()
    dataOf(await ask(subjectsPath, { key }))
    for (const answer of [
      await ask('/v1/nowhere', { key }),
      await askRaw(url, '/v1/%zz', { key }),
      await ask(subjectsPath, { key, method: 'PUT' }),
      await ask(subjectPath('anna'), { key, method: 'DELETE' }),
      await ask(`${subjectsPath}?limit=0`, { key }),
    ]) {
      errorOf(answer, 'rate_limited')
      assert.equal(answer.headers.get('allow'), null)
    }
  })

  test('checks the route before the scope', async () => {
    const key = await keyOf(['analytics:delete-data'])
    errorOf(await ask('/v1/nowhere', { key }), 'not_found')
    const answer = await ask(subjectsPath, { key, method: 'DELETE' })
    errorOf(answer, 'invalid_request')
    assert.equal(answer.headers.get('allow'), 'GET, HEAD')
  })

  test('checks the scope before the erasure budget, which is not charged, and before the parameters', async () => {
    const key = await keyOf(view)
    for (let i = 0; i < 3; i++) {
      const answer = await ask(`${subjectPath('anna')}?force=1`, { key, method: 'DELETE' })
      errorOf(answer, 'forbidden')
      assert.ok(budgetOf(answer).limit > 2)
    }
  })

  test('charges the erasure budget before it checks parameters, even if later steps fail', async () => {
    const key = await keyOf(both)
    const bad = await ask(`${subjectPath('anna')}?force=1`, { key, method: 'DELETE' })
    assert.deepEqual(problemFields(bad), ['force'])
    assert.deepEqual([budgetOf(bad).limit, budgetOf(bad).remaining], [2, 1])
    errorOf(await ask(subjectPath('anna', 'nowhere'), { key, method: 'DELETE' }), 'not_found')
    errorOf(await ask(`${subjectPath('anna')}?force=1`, { key, method: 'DELETE' }), 'rate_limited')
    errorOf(await ask(subjectPath('anna'), { key, method: 'DELETE' }), 'rate_limited')
  })

  test('charges the erasure budget for erasures only', async () => {
    const key = await keyOf(both)
    await shop.ingest(visit('anna'))
    for (let i = 0; i < 3; i++) dataOf(await ask(subjectPath('anna'), { key }))
    errorOf(await ask(subjectPath('anna'), { key, method: 'PUT' }), 'invalid_request')
    for (let i = 0; i < 2; i++) dataOf(await ask(subjectPath('anna'), { key, method: 'DELETE' }))
    errorOf(await ask(subjectPath('anna'), { key, method: 'DELETE' }), 'rate_limited')
    errorOf(await ask(subjectPath('anna'), { key }), 'not_found')
  })

  test('checks parameters before the operation', async () => {
    const key = await keyOf(both)
    await shop.ingest(visit('berta'))
    assert.deepEqual(problemFields(await ask(`${subjectPath('berta')}?limit=1`, { key, method: 'DELETE' })), [
      'limit',
    ])
    assert.deepEqual(problemFields(await ask(`${subjectPath('nobody')}?x=1`, { key })), ['x'])
    dataOf(await ask(subjectPath('berta'), { key }))
  })
})
