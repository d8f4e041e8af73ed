import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import type { VariablesOptions } from '@lethe/client/variables'
import type { FlagValue } from '@openfeature/core'
import { steppedTime } from '../support/client.ts'
import { openFlagClient } from '../support/openfeature.ts'
import { type Behaviour, failure, reply, reset, scriptedServer, success } from '../support/scripted-server.ts'
import { until } from '../support/until.ts'
import { startVariableShop } from '../support/variable-shop.ts'

const token = `lethevar_${'a'.repeat(16)}_${'b'.repeat(38)}`
const unauthorized = failure(401, 'unauthorized')

function values(variables: Record<string, unknown>, version: number) {
  return reply(200, success({ variables, version }), { headers: { ETag: `"${version}"` } })
}

for (const [sdk, open] of Object.entries(openFlagClient)) {
  /** A provider for a server with these responses. */
  const meeting = async (
    t: TestContext,
    options: Partial<VariablesOptions>,
    ...behaviours: [Behaviour, ...Behaviour[]]
  ) => {
    const { url } = await scriptedServer(t, ...behaviours)
    const runtime = steppedTime()
    return { ...open(t, { url, token, runtime, ...options }), runtime }
  }

  describe(`the provider for ${sdk}`, { concurrency: true }, () => {
    it('evaluates variables by type, and reports what changed', async (t) => {
      const theme = { accent: 'teal' }
      const values = { beta: true, rate: 0.25, greeting: 'hi', theme, list: [1], constructor: 'legal' }
      const shop = await startVariableShop(t, values)
      const runtime = steppedTime()
      const client = open(t, { url: shop.url, token: shop.token, runtime })
      assert.equal((await client.evaluate('beta', false)).value, false)
      await client.start()
      assert.equal(client.provider.metadata.name, 'lethe')
      const found: [name: string, fallback: FlagValue, value: FlagValue][] = [
        ['beta', false, true],
        ['rate', 1, 0.25],
        ['greeting', '', 'hi'],
        ['theme', {}, theme],
        ['list', [], [1]],
        ['constructor', '', 'legal'],
      ]
      for (const [flagKey, fallback, value] of found) {
        const details = { flagKey, value, reason: 'STATIC', flagMetadata: { version: 1 } }
        assert.deepEqual(await client.evaluate(flagKey, fallback), details)
      }
      const failures: [name: string, fallback: FlagValue, errorCode: string, errorMessage: string][] = [
        ['toString', '', 'FLAG_NOT_FOUND', 'The variable toString does not exist.'],
        ['rate', true, 'TYPE_MISMATCH', 'The variable rate has the type number, not boolean.'],
        ['list', {}, 'TYPE_MISMATCH', 'The variable list has the type array, not object.'],
      ]
      for (const [name, fallback, errorCode, errorMessage] of failures) {
        const details = await client.evaluate(name, fallback)
        const expected = { value: fallback, reason: 'ERROR', errorCode, errorMessage, flagKey: name }
        assert.deepEqual(details, { ...expected, flagMetadata: { version: 1 } })
      }

      await shop.set({ beta: false })
      await runtime.step()
      await until(() => client.events.length === 2)
      assert.deepEqual(client.events[1], [
        'PROVIDER_CONFIGURATION_CHANGED',
        ['beta', 'constructor', 'greeting', 'list', 'rate', 'theme'],
      ])
      const { value, flagMetadata } = await client.evaluate('beta', true)
      assert.deepEqual([value, flagMetadata], [false, { version: 2 }])
    })
  })

  describe(`the provider for ${sdk} with a failing service`, { concurrency: true }, () => {
    it('becomes stale with the known values, and ready again with the changes', async (t) => {
      const one = values({ beta: false, gone: 1 }, 1)
      const two = values({ beta: true, more: 'x' }, 2)
      const { start, status, evaluate, events, runtime } = await meeting(t, {}, one, reset, reset, reset, two)
      await start()
      assert.equal((await evaluate('beta', true)).reason, 'STATIC')
      await runtime.step()
      await until(() => status() === 'STALE')
      const { value, reason, flagMetadata } = await evaluate('beta', true)
      assert.deepEqual([value, reason, flagMetadata], [false, 'STALE', { version: 1 }])
      await runtime.step()
      await until(() => status() === 'READY' && events.length === 4)
      assert.deepEqual((await evaluate('beta', false)).value, true)
      const [, stale] = events
      assert.match(String(stale?.[1]), /^No complete response was received/)
      assert.deepEqual(events, [
        ['PROVIDER_READY', undefined],
        ['PROVIDER_STALE', stale?.[1]],
        ['PROVIDER_READY', undefined],
        ['PROVIDER_CONFIGURATION_CHANGED', ['more', 'beta', 'gone']],
      ])
    })

    it('has an error after its token is revoked, and keeps the known values', async (t) => {
      const client = await meeting(t, {}, values({ beta: true }, 1), unauthorized)
      await client.start()
      await client.runtime.step()
      await until(() => client.status() === 'ERROR')
      assert.deepEqual((await client.evaluate('beta', false)).value, true)
      assert.deepEqual(client.events.at(-1), ['PROVIDER_ERROR', 'It is unauthorized.'])
    })

    it('fails fatally with an invalid token', async (t) => {
      const client = await meeting(t, {}, unauthorized)
      await assert.rejects(client.start(), { code: 'PROVIDER_FATAL', message: 'It is unauthorized.' })
      assert.equal(client.status(), 'FATAL')
      const { value, errorCode } = await client.evaluate('beta', true)
      assert.deepEqual([value, errorCode], [true, 'PROVIDER_FATAL'])
      const key = open(t, { url: 'http://127.0.0.1:1', token: 'lethe_a_key' })
      await assert.rejects(key.start(), { code: 'PROVIDER_FATAL' })
    })

    it('starts later if the service is down at first', async (t) => {
      const client = await meeting(t, {}, reset, reset, reset, values({ beta: true }, 1))
      await assert.rejects(client.start(), { code: 'GENERAL' })
      assert.equal(client.status(), 'ERROR')
      const { value, errorCode } = await client.evaluate('beta', false)
      assert.deepEqual([value, errorCode], [false, 'PROVIDER_NOT_READY'])
      await client.runtime.step()
      await until(() => client.status() === 'READY' && client.events.length === 3)
      assert.equal((await client.evaluate('beta', false)).value, true)
      assert.deepEqual(
        client.events.map(([type]) => type),
        ['PROVIDER_ERROR', 'PROVIDER_READY', 'PROVIDER_CONFIGURATION_CHANGED'],
      )
    })

    it('starts stale with initial values', async (t) => {
      const client = await meeting(t, { initial: { beta: true } }, reset)
      await client.start()
      await until(() => client.status() === 'STALE')
      const { value, reason, flagMetadata } = await client.evaluate('beta', false)
      assert.deepEqual([value, reason, flagMetadata], [true, 'DEFAULT', {}])
      assert.deepEqual(
        client.events.map(([type]) => type),
        ['PROVIDER_READY', 'PROVIDER_STALE'],
      )
    })

    it('has no values before it is initialized and after it is closed, and can be restarted', async (t) => {
      const { provider } = await meeting(t, {}, values({ beta: true }, 1))
      const resolve = async () => (await provider.resolveBooleanEvaluation('beta', false)).errorCode
      assert.equal(await resolve(), 'PROVIDER_NOT_READY')
      await provider.initialize()
      assert.equal(await resolve(), undefined)
      await provider.onClose()
      await provider.onClose()
      assert.equal(await resolve(), 'PROVIDER_NOT_READY')
      await provider.initialize()
      assert.equal(await resolve(), undefined)
      const starting = provider.initialize()
      await provider.onClose()
      await assert.rejects(starting, { code: 'GENERAL', message: 'The provider was closed.' })
    })
  })
}
