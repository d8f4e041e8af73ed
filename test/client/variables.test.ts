import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { LetheClient } from '@lethe/client'
import {
  ApiError,
  createVariables,
  type VariablesChange,
  type VariablesOptions,
  VariableTypeError,
} from '@lethe/client/variables'
import { revokeVariableToken, rotateVariableToken } from '../../src/operations/variable-token.ts'
import { recordingFetch, steppedTime } from '../support/client.ts'
import { until } from '../support/until.ts'
import { startVariableShop, type VariableShop } from '../support/variable-shop.ts'

/** The loaded variables of a shop, with the calls of their listeners. */
async function load(t: TestContext, shop: VariableShop, options: Partial<VariablesOptions> = {}) {
  const { url, token } = shop
  const { fetch, exchanges } = recordingFetch()
  const variables = createVariables({ url, token, refreshSeconds: 0, fetch, ...options })
  t.after(() => variables.close())
  const changes: VariablesChange[] = []
  const errors: Error[] = []
  variables.onChange((change) => changes.push(change))
  variables.onError((error) => errors.push(error))
  await variables.ready()
  return { variables, exchanges, changes, errors }
}

describe('variables', { concurrency: true }, () => {
  it('are read by type, with a fallback for a missing value or another type', async (t) => {
    const values = {
      beta: true,
      rate: 0.25,
      greeting: 'Grüß dich 🦦',
      theme: { accent: 'teal' },
      colors: ['red', 'blue'],
      nothing: null,
      constructor: 'a name like any other',
    }
    const { variables, errors, changes } = await load(t, await startVariableShop(t, values))
    assert.deepEqual({ ...variables.all() }, values)
    assert.equal(variables.version, 1)
    assert.equal(variables.boolean('beta', false), true)
    assert.equal(variables.number('rate', 1), 0.25)
    assert.equal(variables.string('greeting', ''), 'Grüß dich 🦦')
    assert.equal(variables.string('constructor', ''), 'a name like any other')
    assert.deepEqual(variables.object('theme', { accent: '' }), { accent: 'teal' })
    assert.deepEqual(variables.object<string[]>('colors', []), ['red', 'blue'])
    for (const missing of ['toString', 'hasOwnProperty', '__proto__', 'Beta', ''])
      assert.equal(variables.string(missing, 'fallback'), 'fallback')
    assert.equal(errors.length, 0)

    for (let i = 0; i < 3; i += 1) {
      assert.equal(variables.boolean('rate', true), true)
      assert.equal(variables.string('nothing', 'fallback'), 'fallback')
      assert.deepEqual(variables.object('colors', {}), {})
    }
    assert.ok(errors.every((error) => error instanceof VariableTypeError))
    assert.deepEqual(
      errors.map(({ message }) => message),
      [
        'The variable rate has the type number, not boolean.',
        'The variable nothing has the type null, not string.',
        'The variable colors has the type array, not object.',
      ],
    )
    assert.deepEqual(changes, [{ version: 1, added: Object.keys(values).sort(), changed: [], removed: [] }])
  })

  it('are sent again only if they have changed, and report the changes', async (t) => {
    const shop = await startVariableShop(t, { beta: false, limit: 3, old: {} })
    const { variables, exchanges, changes } = await load(t, shop)
    await variables.refresh()
    await shop.set({ beta: true, limit: 3, fresh: [] })
    await variables.refresh()
    await variables.refresh()
    assert.deepEqual(exchanges, ['GET 200', 'GET 304', 'GET 200', 'GET 304'])
    assert.deepEqual(changes.slice(1), [
      { version: 2, added: ['fresh'], changed: ['beta'], removed: ['old'] },
    ])
    assert.equal(variables.boolean('beta', false), true)
  })

  it('are refreshed in the background until they are closed', async (t) => {
    const shop = await startVariableShop(t, { limit: 1 })
    const runtime = steppedTime()
    const { variables, exchanges } = await load(t, shop, { refreshSeconds: 30, runtime })
    await shop.set({ limit: 2 })
    assert.equal(await runtime.step(), 30_000)
    await until(() => variables.number('limit', 0) === 2)
    variables.close()
    assert.deepEqual(exchanges, ['GET 200', 'GET 200'])
    assert.equal(variables.number('limit', 0), 2)
  })

  it('keep their values when the token is replaced or revoked, and a client with a new token gets new ones', async (t) => {
    const shop = await startVariableShop(t, { limit: 1 })
    const { variables, errors } = await load(t, shop)
    const { tokenString } = await rotateVariableToken(shop.services, shop.tokenId)
    await assert.rejects(variables.refresh(), { code: 'unauthorized', status: 401 })
    assert.ok(errors[0] instanceof ApiError)
    assert.equal(variables.number('limit', 0), 1)

    const next = await load(t, { ...shop, token: tokenString })
    assert.equal(next.variables.number('limit', 0), 1)
    await revokeVariableToken(shop.services, shop.tokenId, 'site')
    await assert.rejects(next.variables.refresh(), { code: 'unauthorized' })
    assert.equal(next.variables.number('limit', 0), 1)
  })

  it('wait as the service requires if the budget of their token is used up', async (t) => {
    const shop = await startVariableShop(t, { limit: 1 }, { LETHE_LIMIT_VARIABLES: '2/hour' })
    const runtime = steppedTime()
    const { variables, exchanges } = await load(t, shop, { refreshSeconds: 5, runtime })
    await variables.refresh()
    const pauseMs = await runtime.step()
    assert.equal(pauseMs, 5_000)
    await until(() => variables.error !== null)
    await assert.rejects(variables.refresh(), { code: 'rate_limited' })
    assert.deepEqual(exchanges, ['GET 200', 'GET 304', 'GET 429'])
    const waitedMs = await runtime.step()
    assert.ok(waitedMs > 1_800_000, String(waitedMs))
  })

  it('are read from a separate port', async (t) => {
    const shop = await startVariableShop(t, { limit: 1 }, { LETHE_VARIABLES_PORT: '0' })
    const client = new LetheClient({ url: shop.url, apiKey: shop.key })
    const { token } = shop
    const elsewhere = client.variables({ token, refreshSeconds: 0 })
    assert.equal(await elsewhere.ready(), false)
    const variables = client.variables({ token, refreshSeconds: 0, url: shop.variablesUrl ?? '' })
    assert.equal(await variables.ready(), true)
  })
})
