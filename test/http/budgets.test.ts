import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { readConfig } from '../../src/config.ts'
import { rotateKey } from '../../src/operations/api-key.ts'
import { assertUnmetered, budgetOf, dataOf, errorOf } from '../support/answers.ts'
import type { Answer } from '../support/documented.ts'
import { type Shop, startShop, subjectPath, subjectsPath } from '../support/shop.ts'

/** An empty variable selects its default. */
const defaults = { LETHE_LIMIT_IP: '', LETHE_LIMIT_KEY: '', LETHE_LIMIT_ERASURE: '' }
const behindProxy = { LETHE_TRUSTED_PROXIES: '127.0.0.1/32' }
const both = ['analytics:view', 'analytics:delete-data'] as const

const from = (address: string) => ({ 'x-forwarded-for': address })
const many = <Result>(count: number, work: (number: number) => Promise<Result>) =>
  Promise.all(Array.from({ length: count }, (_, number) => work(number)))

function tally(answers: readonly Answer[]): Record<number, number> {
  const counts: Record<number, number> = {}
  for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1
  return counts
}

const limitsOfRefusals = (answers: readonly Answer[]) => [
  ...new Set(answers.filter(({ status }) => status === 429).map((answer) => budgetOf(answer).limit)),
]

const shop = await startShop({ after }, { env: { ...defaults, ...behindProxy }, scopes: both })
const tight = await startShop(
  { after },
  { env: { LETHE_LIMIT_KEY: '3/minute', LETHE_LIMIT_ERASURE: '1/hour' }, scopes: both },
)

/** A new key, whose budgets are full. */
const newKey = ({ createKey, organisationId }: Shop) => createKey(organisationId, both)

describe('the budgets', () => {
  test('default to 60 a minute per address, 120 a minute per key, 60 erasures an hour per key and 6,000 a minute per token', () => {
    assert.deepEqual(readConfig({}).budgets, {
      ip: { name: 'ip', limit: 60, windowMs: 60_000 },
      key: { name: 'key', limit: 120, windowMs: 60_000 },
      erasure: { name: 'erasure', limit: 60, windowMs: 3_600_000 },
      variables: { name: 'variables', limit: 6_000, windowMs: 60_000 },
    })
  })

  test('allow exactly 60 of 63 concurrent requests from one address', async () => {
    const { keyString: key } = await newKey(shop)
    const answers = await many(63, () => shop.ask(subjectsPath, { key }))
    assert.deepEqual(tally(answers), { 200: 60, 429: 3 })
    assert.deepEqual(limitsOfRefusals(answers), [60])
  })

  test('allow exactly 120 of 123 concurrent requests with one key, from any number of addresses', async () => {
    const { keyString: key } = await newKey(shop)
    const ask = (number: number) => shop.ask(subjectsPath, { key, headers: from(`203.0.113.${number}`) })
    const answers = await many(123, ask)
    assert.deepEqual(tally(answers), { 200: 120, 429: 3 })
    assert.deepEqual(limitsOfRefusals(answers), [120])
    shop.passTime(60_000)
    dataOf(await ask(0))
  })

  test('allow exactly 60 of 63 concurrent erasures with one key, and reads at the same time', async () => {
    const { keyString: key } = await newKey(shop)
    const headers = from('203.0.113.1')
    const answers = await many(63, (number) =>
      shop.ask(subjectPath(`visitor-${number}`), {
        method: 'DELETE',
        key,
        headers: from(`203.0.113.${number}`),
      }),
    )
    assert.deepEqual(tally(answers), { 200: 60, 429: 3 })
    for (const answer of answers.filter(({ status }) => status === 429)) {
      assert.equal(budgetOf(answer).limit, 60)
      assert.ok(Number(answer.headers.get('retry-after')) > 3_000)
    }
    // The refused erasures also count against the key.
    const read = await shop.ask(subjectsPath, { key, headers })
    dataOf(read)
    assert.deepEqual([budgetOf(read).limit, budgetOf(read).remaining], [120, 56])
    shop.passTime(3_600_000)
    dataOf(await shop.ask(subjectPath('anna'), { method: 'DELETE', key, headers }))
  })

  test('belong to a key, not to its organisation', async () => {
    for (const { keyString: key } of [await newKey(tight), await newKey(tight)]) {
      const answers = await many(5, () => tight.ask(subjectsPath, { key }))
      assert.deepEqual(tally(answers), { 200: 3, 429: 2 })
    }
  })

  test('belong to an address, regardless of its keys', async (t) => {
    const shop = await startShop(t, { env: { LETHE_LIMIT_IP: '3/minute' }, scopes: ['analytics:view'] })
    const other = (await shop.createKey(shop.organisationId, ['analytics:view'])).keyString
    const answers = [
      await shop.ask(subjectsPath, { key: shop.key }),
      await shop.ask(subjectsPath, { key: other }),
      await shop.ask(subjectsPath),
      await shop.ask(subjectsPath, { key: other }),
    ]
    assert.deepEqual(
      answers.map(({ status }) => status),
      [200, 200, 401, 429],
    )
  })

  test('are not refilled by rotating a key', async () => {
    const { key, keyString: old } = await newKey(tight)
    const erase = (key: string) => tight.ask(subjectPath('anna'), { method: 'DELETE', key })
    dataOf(await erase(old))
    const { keyString } = await rotateKey(tight.services, key.id)
    const refused = await erase(keyString)
    errorOf(refused, 'rate_limited')
    assert.equal(budgetOf(refused).limit, 1)
    dataOf(await tight.ask(subjectsPath, { key: keyString }))
    const spent = await tight.ask(subjectsPath, { key: keyString })
    errorOf(spent, 'rate_limited')
    assert.equal(budgetOf(spent).limit, 3)
  })

  test('count HEAD requests, failures and missing scopes like other requests', async (t) => {
    const shop = await startShop(t, { env: { LETHE_LIMIT_KEY: '6/minute' }, scopes: ['analytics:view'] })
    const { key } = shop
    const answers = [
      await shop.ask(subjectsPath, { key, method: 'HEAD' }),
      await shop.ask('/v1/nowhere', { key }),
      await shop.ask(subjectsPath, { key, method: 'POST' }),
      await shop.ask(subjectPath('anna'), { key, method: 'DELETE' }),
      await shop.ask(`${subjectsPath}?limit=0`, { key }),
      await shop.ask(subjectPath('nobody'), { key }),
      await shop.ask(subjectsPath, { key }),
    ]
    assert.deepEqual(
      answers.map((answer) => [answer.status, budgetOf(answer).remaining]),
      [
        [200, 5],
        [404, 4],
        [400, 3],
        [403, 2],
        [422, 1],
        [404, 0],
        [429, 0],
      ],
    )
  })

  test('have fixed windows that start with the first request and end as a whole', async () => {
    const { keyString: key } = await newKey(tight)
    const ask = () => tight.ask(subjectsPath, { key })
    dataOf(await ask())
    tight.passTime(50_000)
    dataOf(await ask())
    dataOf(await ask())
    errorOf(await ask(), 'rate_limited')
    tight.passTime(10_000)
    assert.deepEqual(tally(await many(4, ask)), { 200: 3, 429: 1 })
  })
})

describe('a request that exceeds a budget', () => {
  test('uses up neither that budget nor later ones, but counts against earlier ones', async (t) => {
    const env = { ...behindProxy, LETHE_LIMIT_IP: '3/minute', LETHE_LIMIT_KEY: '4/minute' }
    const { ask, key } = await startShop(t, { env, scopes: ['analytics:view'] })
    const askFrom = async (address: string) => {
      const answer = await ask(subjectsPath, { key, headers: from(address) })
      return [answer.status, budgetOf(answer).limit, budgetOf(answer).remaining]
    }
    const [one, other] = ['203.0.113.1', '203.0.113.2']
    assert.deepEqual(await askFrom(one), [200, 3, 2])
    assert.deepEqual(await askFrom(one), [200, 3, 1])
    assert.deepEqual(await askFrom(one), [200, 3, 0])
    // The address exceeds its budget: the key has used three requests and keeps the fourth.
    assert.deepEqual(await askFrom(one), [429, 3, 0])
    assert.deepEqual(await askFrom(one), [429, 3, 0])
    assert.deepEqual(await askFrom(other), [200, 4, 0])
    // The key exceeds its budget: the address is still counted until it exceeds its own.
    assert.deepEqual(await askFrom(other), [429, 4, 0])
    assert.deepEqual(await askFrom(other), [429, 4, 0])
    assert.deepEqual(await askFrom(other), [429, 3, 0])
  })

  test('does not count as an erasure if the key or the address exceeds its budget', async (t) => {
    const env = { ...behindProxy, LETHE_LIMIT_KEY: '1/minute', LETHE_LIMIT_ERASURE: '2/hour' }
    const shop = await startShop(t, { env, scopes: both })
    const erase = () => shop.ask(subjectPath('anna'), { method: 'DELETE', key: shop.key })
    dataOf(await erase())
    for (let i = 0; i < 5; i++) assert.equal(budgetOf(await erase()).limit, 1)
    shop.passTime(60_000)
    dataOf(await erase())
    shop.passTime(60_000)
    const refused = await erase()
    errorOf(refused, 'rate_limited')
    assert.equal(budgetOf(refused).limit, 2)
  })
})

describe('an unmetered path', () => {
  test('has no rate-limit headers, is not counted, and responds when the budget is used up', async (t) => {
    const shop = await startShop(t, { env: { LETHE_LIMIT_IP: '1/minute' }, scopes: ['analytics:view'] })
    const askAll = async () => {
      for (const path of ['/healthz', '/readyz', '/v1/analytics/openapi.json']) {
        for (const method of ['GET', 'HEAD']) {
          const answer = await shop.ask(path, { method, key: shop.key })
          assert.equal(answer.status, 200)
          assertUnmetered(answer)
        }
      }
    }
    await askAll()
    const spent = await shop.ask(subjectsPath, { key: shop.key })
    dataOf(spent)
    assert.equal(budgetOf(spent).remaining, 0)
    errorOf(await shop.ask(subjectsPath, { key: shop.key }), 'rate_limited')
    await askAll()
  })
})
