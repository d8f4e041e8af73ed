import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { keptVersions } from '../../src/domain/variable.ts'
import { tokenStringPattern } from '../../src/domain/variable-token.ts'
import { maxTextLength } from '../../src/http/console/variables.ts'
import { authenticateVariableToken } from '../../src/operations/variable-token.ts'
import { dataOf, errorOf, listIn, objectIn, problemFields, textIn } from '../support/answers.ts'
import { openConsole } from '../support/console.ts'
import { startShop } from '../support/shop.ts'

const shop = await startShop({ after }, { scopes: ['analytics:view'] })
const client = await openConsole(shop, shop.organisationId, 'ada@acme.example')

/** A new tracker without variables. */
const createTracker = () => shop.createTracker(shop.organisationId)
const post = (path: string, body: object) => client.ask(path, { method: 'POST', body })
const read = async (trackerId: string, query = '') =>
  dataOf(await client.ask(`/trackers/${trackerId}/variables${query}`))
const save = (trackerId: string, text: string, version: number) =>
  post(`/trackers/${trackerId}/variables`, { text, version })

describe('the variables of a tracker in the console', () => {
  test('are empty at first, and then as saved, with author and time', async () => {
    const id = await createTracker()
    assert.deepEqual(await read(id), { version: 0, variables: {} })
    assert.deepEqual(dataOf(await save(id, '{"b": {"on": true},\n "a": [1, null]}', 0)), { version: 1 })
    assert.deepEqual(dataOf(await save(id, '{"a": [2], "c": "x"}', 1)), { version: 2 })
    assert.deepEqual(await read(id), { version: 2, variables: { a: [2], c: 'x' } })
    assert.deepEqual(await read(id, '?version=1'), {
      version: 1,
      variables: { a: [1, null], b: { on: true } },
    })
    const versions = listIn(dataOf(await client.ask(`/trackers/${id}/variables/versions`)), 'versions')
    const actor = { kind: 'member', id: client.member.id, name: 'ada@acme.example' }
    assert.partialDeepStrictEqual(versions, [
      { version: 2, actor, added: 1, changed: 1, removed: 1 },
      { version: 1, actor, added: 2, changed: 0, removed: 0 },
    ])
    assert.ok(Date.parse(textIn(versions[0], 'changedAt')) > 0)
  })

  test('do not overwrite a newer version, and an unchanged document adds none', async () => {
    const id = await createTracker()
    dataOf(await save(id, '{"a": 1}', 0))
    assert.deepEqual(problemFields(await save(id, '{"a": 2}', 0)), ['version'])
    assert.deepEqual(problemFields(await save(id, '{"a": 2}', 2)), ['version'])
    assert.deepEqual(dataOf(await save(id, ' { "a" : 1 } ', 1)), { version: 1 })
    assert.deepEqual(await read(id), { version: 1, variables: { a: 1 } })
  })

  const refused: [what: string, text: string, fields: string[]][] = [
    ['no JSON', '{"a": 1', ['variables']],
    ['no object', '[1]', ['variables']],
    ['a repeated name', '{"a": 1, "\\u0061": 2}', ['variables']],
    ['a repeated name within a value', '{"a": {"b": 1, "b": 2}}', ['variables']],
    ['a number that would be changed', '{"a": 9007199254740993}', ['variables']],
    ['names that are no names', '{"1a": 1, "b c": 2, "": 3}', ['1a', 'b c', '']],
    ['a value that is too large', JSON.stringify({ a: 'x'.repeat(64 * 1024), b: 1 }), ['a']],
    ['a value that is too deep', `{"a": ${'['.repeat(33)}${']'.repeat(33)}}`, ['a']],
    [
      'too many variables',
      JSON.stringify(Object.fromEntries(Array.from({ length: 1_001 }, (_, i) => [`v${i}`, i]))),
      ['variables'],
    ],
    [
      'too much in total',
      JSON.stringify(Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`v${i}`, 'x'.repeat(60_000)]))),
      ['variables'],
    ],
    ['a text that is too long', `{${' '.repeat(maxTextLength)}}`, ['text']],
  ]
  for (const [what, text, fields] of refused) {
    test(`are rejected with the reason and not stored: ${what}`, async () => {
      assert.deepEqual(problemFields(await save('shop', text, 0)), fields)
      assert.deepEqual(await read('shop'), { version: 0, variables: {} })
    })
  }

  test('may use their limits fully, with the whitespace of an editor', async () => {
    const id = await createTracker()
    const values = Array.from({ length: 1_000 }, (_, i) => [`v${i}`, { '"': '\n'.repeat(500), n: [i] }])
    dataOf(await save(id, JSON.stringify(Object.fromEntries(values), null, 8), 0))
    assert.equal(Object.keys(objectIn(await read(id), 'variables')).length, 1_000)
  })

  test('keep a limited number of versions', async () => {
    const id = await createTracker()
    for (let version = 0; version <= keptVersions; version++)
      dataOf(await save(id, `{"n": ${version}}`, version))
    const versions = listIn(dataOf(await client.ask(`/trackers/${id}/variables/versions`)), 'versions')
    assert.equal(versions.length, keptVersions)
    errorOf(await client.ask(`/trackers/${id}/variables?version=1`), 'not_found')
    assert.deepEqual(await read(id, '?version=2'), { version: 2, variables: { n: 1 } })
  })

  test('are in the activity, without their values', async () => {
    const headers = { 'x-request-id': 'saved-here' }
    const body = { text: '{"a": "secret-value"}', version: 0 }
    dataOf(await client.ask('/trackers/shop/variables', { method: 'POST', body, headers }))
    const entries = listIn(dataOf(await client.ask('/activity?requestId=saved-here')), 'entries')
    assert.partialDeepStrictEqual(entries, [{ kind: 'variables.changed', target: 'shop, version 1' }])
    assert.equal(JSON.stringify(entries).includes('secret-value'), false)
  })
})

describe('a variable token in the console', () => {
  const path = '/trackers/shop/variable-tokens'
  const readerOf = async (token: string) => (await authenticateVariableToken(shop.services, token))?.trackerId

  test('is created, rotated, and revoked after its name is typed', async () => {
    const created = dataOf(await post(path, { name: 'web' }))
    const [id, first] = [textIn(objectIn(created, 'token'), 'id'), textIn(created, 'tokenString')]
    assert.match(first, tokenStringPattern)
    assert.equal(await readerOf(first), 'shop')
    const second = textIn(dataOf(await post(`/variable-tokens/${id}/rotate`, {})), 'tokenString')
    assert.deepEqual([await readerOf(first), await readerOf(second)], [undefined, 'shop'])
    assert.deepEqual(problemFields(await post(`/variable-tokens/${id}/revoke`, { name: 'Web' })), ['name'])
    assert.equal(await readerOf(second), 'shop')
    const revoked = dataOf(await post(`/variable-tokens/${id}/revoke`, { name: 'web' }))
    assert.equal(textIn(objectIn(revoked, 'token'), 'state'), 'revoked')
    assert.equal(await readerOf(second), undefined)
    errorOf(await post(`/variable-tokens/${id}/rotate`, {}), 'invalid_request')
  })

  test('is listed with its details, newest first, and never with its string', async () => {
    await post(path, { name: 'older' })
    shop.passTime(1_000)
    const tokenString = textIn(dataOf(await post(path, { name: 'newer' })), 'tokenString')
    const answer = await client.ask(path)
    const [newer, older] = listIn(dataOf(answer), 'tokens')
    assert.partialDeepStrictEqual(newer, {
      ...{ name: 'newer', lastFour: tokenString.slice(-4), state: 'active' },
      ...{ rotatedAt: null, revokedAt: null, lastUsedAt: null },
    })
    assert.equal(textIn(older, 'name'), 'older')
    assert.equal(JSON.stringify(answer.body).includes(tokenString.slice(26)), false)
  })

  test('needs a name that no other active token of the tracker has', async () => {
    dataOf(await post(path, { name: 'taken' }))
    for (const name of ['', 'x'.repeat(65), 'taken'])
      assert.deepEqual(problemFields(await post(path, { name })), ['name'])
    const other = await createTracker()
    dataOf(await post(`/trackers/${other}/variable-tokens`, { name: 'taken' }))
  })
})
