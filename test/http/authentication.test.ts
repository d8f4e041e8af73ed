import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { createKeyString } from '../../src/domain/api-key.ts'
import { revokeKey, rotateKey } from '../../src/operations/api-key.ts'
import { comparableAnswer, dataOf, errorOf } from '../support/answers.ts'
import { askRaw } from '../support/raw-http.ts'
import { startShop, subjectsPath } from '../support/shop.ts'

const shop = await startShop({ after }, { scopes: ['analytics:view'] })
const { key, organisationId, services } = shop

const newKey = () => shop.createKey(organisationId, ['analytics:view'])
const asks = (keyString: string) => shop.ask(subjectsPath, { key: keyString })
const withHeader = (authorization: string) => shop.ask(subjectsPath, { headers: { authorization } })

/** The string with its last character changed, which breaks the checksum. */
function damaged(text: string): string {
  return text.slice(0, -1) + (text.endsWith('0') ? '1' : '0')
}

describe('a request without a key', () => {
  test('returns 401 with the expected scheme and no invalid_token error', async () => {
    const answer = await shop.ask(subjectsPath)
    assert.match(String(errorOf(answer, 'unauthorized').message), /Authorization: Bearer/)
    assert.equal(answer.headers.get('www-authenticate'), 'Bearer realm="lethe"')
  })

  test('returns 401 for an unknown path with any method', async () => {
    const expected = comparableAnswer(await shop.ask(subjectsPath))
    for (const [path, method] of [
      ['/v1/nowhere', 'GET'],
      ['/v2/analytics/trackers/shop/subjects', 'GET'],
      [subjectsPath, 'POST'],
      [`${subjectsPath}?limit=0`, 'GET'],
      ['/v1/analytics/trackers/unknown/subjects', 'GET'],
    ] as const) {
      assert.deepEqual(comparableAnswer(await shop.ask(path, { method })), expected, `${method} ${path}`)
    }
    assert.deepEqual(comparableAnswer(await askRaw(shop.url, '/v1/%zz')), expected)
  })
})

describe('an invalid key', () => {
  test('returns the same 401 for every reason', async () => {
    const revoked = await newKey()
    await revokeKey(services, revoked.key.id, revoked.key.name)
    const rotated = await newKey()
    await rotateKey(services, rotated.key.id)
    const expiring = await shop.createKey(organisationId, ['analytics:view'], Date.now() + 60_000)
    dataOf(await asks(expiring.keyString))
    shop.passTime(60_000)
    const unknown = createKeyString(services.randomness.base62(16), services.randomness)
    const otherSecret = createKeyString(shop.keyId, services.randomness)

    const expected = {
      status: 401,
      body: {
        error: { code: 'unauthorized', message: 'This is not a valid API key.' },
        meta: { requestId: 'any', timestamp: 'any' },
      },
    }
    const variants: [what: string, authorization: string][] = [
      ['revoked', `Bearer ${revoked.keyString}`],
      ['rotated', `Bearer ${rotated.keyString}`],
      ['expired', `Bearer ${expiring.keyString}`],
      ['unknown', `Bearer ${unknown}`],
      ['an existing key with another secret', `Bearer ${otherSecret}`],
      ['a damaged checksum', `Bearer ${damaged(key)}`],
      ['truncated', `Bearer ${key.slice(0, -1)}`],
      ['one character too long', `Bearer ${key}0`],
      ['in capitals', `Bearer ${key.replace('lethe_', 'LETHE_')}`],
      ['foreign', 'Bearer not-a-key'],
      ['a variable token', 'Bearer vt_5f2c9a7be1d04c33'],
      ['two tokens', `Bearer ${key} ${key}`],
      ['in quotes', `Bearer "${key}"`],
      ['with a trailing comma', `Bearer ${key},`],
    ]
    const answers = []
    for (const [what, authorization] of variants) {
      const answer = await withHeader(authorization)
      errorOf(answer, 'unauthorized')
      assert.equal(
        answer.headers.get('www-authenticate'),
        'Bearer realm="lethe", error="invalid_token"',
        what,
      )
      const { headers, ...rest } = comparableAnswer(answer)
      assert.deepEqual(rest, expected, what)
      answers.push(headers)
    }
    for (const headers of answers) assert.deepEqual(headers, answers[0])
  })

  test('counts as missing if the header has no bearer token', async () => {
    const missing = await shop.ask(subjectsPath)
    const variants: [what: string, authorization: string][] = [
      ['empty', ''],
      ['no token', 'Bearer'],
      ['no scheme', key],
      ['Basic', `Basic ${Buffer.from(`${key}:`).toString('base64')}`],
      ['another scheme', `Token ${key}`],
      ['the scheme glued on', `Bearer${key}`],
    ]
    for (const [what, authorization] of variants) {
      const answer = await withHeader(authorization)
      errorOf(answer, 'unauthorized')
      assert.deepEqual(comparableAnswer(answer), comparableAnswer(missing), what)
    }
  })

  test('returns 401 if it contains bytes outside ASCII', async () => {
    const answer = await askRaw(shop.url, subjectsPath, {
      headers: { Authorization: `Bearer ${key.slice(0, -1)}\xe9` },
    })
    errorOf(answer, 'unauthorized')
  })
})

describe('a valid key', () => {
  test('is accepted with the scheme in any case and with several spaces', async () => {
    for (const authorization of [`Bearer ${key}`, `bearer ${key}`, `BEARER ${key}`, `Bearer  ${key}`]) {
      dataOf(await withHeader(authorization))
    }
  })

  test('is accepted only in the Authorization header', async () => {
    for (const parameter of ['key', 'token', 'api_key', 'access_token', 'variableToken']) {
      errorOf(await shop.ask(`${subjectsPath}?${parameter}=${key}`), 'unauthorized')
    }
    errorOf(await shop.ask(subjectsPath, { headers: { 'x-api-key': key } }), 'unauthorized')
    errorOf(await shop.ask(subjectsPath, { headers: { cookie: `key=${key}` } }), 'unauthorized')
  })
})
