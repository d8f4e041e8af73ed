import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { consoleRoutes } from '../../src/http/console/routes.ts'
import { editVariables } from '../../src/operations/variable.ts'
import { createVariableToken } from '../../src/operations/variable-token.ts'
import { comparableAnswer, dataOf, errorOf, listIn, objectIn, textIn } from '../support/answers.ts'
import { addMember, note, openConsole } from '../support/console.ts'
import { startShop, subjectPath, visit } from '../support/shop.ts'

const shop = await startShop({ after }, { scopes: ['analytics:view'] })
await shop.ingest(visit('anna', { identifiers: { email: 'anna@example.com' } }))
const theirs = await addMember(shop, shop.organisationId)
await addMember(shop, shop.organisationId)
const strangers = await shop.createOrganisation()
const stranger = await openConsole(shop, strangers)
await addMember(shop, strangers)

const client = await openConsole(shop, shop.organisationId)
await shop.ingest(visit('listed'))
const list = { text: 'listed', format: 'lines', by: 'subjectId', trackerIds: [], reference: 'Ours' }
dataOf(await client.ask('/erasure-lists', { method: 'POST', body: { ...list, subjects: 1 } }))

await editVariables(shop.services, 'shop', { apply: () => new Map([['colour', 'red']]) })
const { token } = await createVariableToken(shop.services, { trackerId: 'shop', name: 'web' })

const theirPasskey = { id: 'theirs', memberId: theirs.id, name: 'Laptop', publicKey: '', signCount: 0 }
const facts = {
  transports: [],
  deviceType: 'singleDevice',
  isBackedUp: false,
  createdAt: 0,
  lastUsedAt: null,
} as const
const added = note(shop, shop.organisationId, 'member.passkey-added')
const by = { tokenHash: 'none', recoveryHashes: [] }
await shop.services.passkeys.add({ ...theirPasskey, ...facts }, by, added)

const created = await client.ask('/requests', {
  method: 'POST',
  body: {
    kind: 'access',
    person: { identifiers: [{ name: 'email', value: 'anna@example.com' }], subjects: [] },
  },
})
const requestId = textIn(objectIn(dataOf(created), 'request'), 'requestId')
const noted = await client.ask(`/requests/${requestId}/notes`, { method: 'POST', body: { text: 'Ours' } })
const [written] = listIn(dataOf(noted), 'notes')
const ownSubject = { trackerId: 'shop', subjectId: 'anna' }

/** The bodies of requests with IDs of another organisation, by route. */
const bodies: Record<string, object> = {
  '/console/api/keys/{keyId}/revoke': { name: 'key-2' },
  '/console/api/account/passkeys/{passkeyId}/rename': { name: 'Mine now' },
  '/console/api/keys/{keyId}/rename': { name: 'Mine now' },
  '/console/api/members/{memberId}/role': { role: 'viewer' },
  '/console/api/trackers/{trackerId}/rename': { name: 'Mine now' },
  '/console/api/trackers/{trackerId}/delete': { name: 'shop' },
  '/console/api/trackers/{trackerId}/variables': { text: '{}', version: 1 },
  '/console/api/trackers/{trackerId}/variable-tokens': { name: 'Mine' },
  '/console/api/variable-tokens/{tokenId}/revoke': { name: 'web' },
  '/console/api/requests/{requestId}/extend': { reason: 'Ours' },
  '/console/api/requests/{requestId}/reject': { reason: 'Ours' },
  '/console/api/requests/{requestId}/erase': { subjects: 1 },
  '/console/api/requests/{requestId}/assign': { memberId: null },
  '/console/api/requests/{requestId}/notes': { text: 'Ours' },
  '/console/api/requests/{requestId}/exclude': { ...ownSubject, reason: 'Ours' },
  '/console/api/requests/{requestId}/include': ownSubject,
}

const ownIds = { token: token.id, request: requestId, note: textIn(written, 'id'), passkey: 'theirs' }
const noCounts = { open: 0, dueSoon: 0, overdue: 0, mine: 0 }
const absentIds = { token: 'nothing', request: 'nothing', note: 'nothing', passkey: 'nothing' }

describe('data of another organisation', () => {
  const routes = consoleRoutes.filter(({ path }) => path.includes('{'))

  for (const { method, path } of routes) {
    test(`returns the same 404 as if it did not exist: ${method} ${path}`, async () => {
      const fill = (tracker: string, key: string, member: string, ids = absentIds) =>
        path
          .replace('/console/api', '')
          .replace('{trackerId}', tracker)
          .replace('{subjectId}', 'anna')
          .replace('{keyId}', key)
          .replace('{memberId}', member)
          .replace('{signInId}', member)
          .replace('{tokenId}', ids.token)
          .replace('{requestId}', ids.request)
          .replace('{noteId}', ids.note)
          .replace('{passkeyId}', ids.passkey)
      const headers = { 'x-request-id': 'same' }
      const ask = { method, headers, ...(method !== 'GET' && { body: bodies[path] ?? {} }) }
      const foreign = await stranger.ask(fill('shop', shop.keyId, theirs.id, ownIds), ask)
      const absent = await stranger.ask(fill('nothing', 'nothing', 'nothing'), ask)
      assert.deepEqual(errorOf(foreign, 'not_found'), errorOf(absent, 'not_found'))
      assert.deepEqual(comparableAnswer(foreign), comparableAnswer(absent))
    })
  }

  test('returns 404 for a version number, too', async () => {
    const path = '/trackers/shop/variables?version=1'
    dataOf(await client.ask(path))
    errorOf(await stranger.ask(path), 'not_found')
  })

  test('is in no list', async () => {
    for (const [path, field] of [
      ['/keys', 'keys'],
      ['/trackers', 'trackers'],
      ['/requests?state=all', 'rows'],
      ['/requests?assignee=none', 'rows'],
      ['/requests?state=all&reference=Ours', 'rows'],
    ] as const) {
      assert.deepEqual(listIn(dataOf(await stranger.ask(path)), field), [])
    }
    for (const text of ['anna', 'anna@example.com']) {
      const found = await stranger.ask('/find', { method: 'POST', body: { text } })
      assert.deepEqual(listIn(dataOf(found), 'groups'), [])
    }
    for (const found of [{ text: 'anna' }, { text: 'anna@example.com', by: 'email' }]) {
      const body = { ...list, ...found }
      const planned = await stranger.ask('/erasure-lists/preview', { method: 'POST', body })
      assert.partialDeepStrictEqual(dataOf(planned), { nothing: 1, requested: 0, found: { subjects: 0 } })
    }
    for (const reference of ['Ours', 'nothing']) {
      errorOf(await stranger.ask(`/request-groups?reference=${reference}`), 'not_found')
      errorOf(await stranger.ask(`/request-groups/report?reference=${reference}`), 'not_found')
      for (const [verb, body] of [
        ['start', { reference, requests: 0 }],
        ['cancel', { reference, requests: 0 }],
      ] as const)
        errorOf(await stranger.ask(`/request-groups/${verb}`, { method: 'POST', body }), 'not_found')
    }
    assert.deepEqual(listIn(dataOf(await stranger.ask('/erasures')), 'erasures'), [])
    assert.equal(listIn(dataOf(await stranger.ask('/members')), 'members').length, 2)
    const text = JSON.stringify((await stranger.ask('/activity?limit=200')).body)
    for (const id of [shop.keyId, shop.organisationId, theirs.email])
      assert.equal(text.includes(`"${id}"`), false)
  })

  test('is unchanged after all these requests', async () => {
    dataOf(await shop.ask(subjectPath('anna'), { key: shop.key }))
    assert.equal((await shop.services.trackers.find('shop'))?.name, 'shop')
    assert.equal((await shop.services.members.list(shop.organisationId)).length, 3)
    const key = await shop.services.apiKeys.find(shop.keyId)
    assert.deepEqual([key?.rotatedAt, key?.name === 'Mine now'], [null, false])
    assert.equal((await shop.services.variables.current('shop')).document, '{"colour":"red"}')
    assert.deepEqual(await shop.services.variableTokens.list('shop'), [token])
    const page = dataOf(await client.ask(`/requests/${requestId}`))
    assert.partialDeepStrictEqual(page.request, { state: 'open', extendedAt: null, assignee: null })
    assert.deepEqual([listIn(page, 'notes').length, page.exclusions], [1, []])
    assert.deepEqual(dataOf(await stranger.ask('/request-counts')), noCounts)
  })

  test('may have the same e-mail address as ours, which an invitation does not reveal', async () => {
    dataOf(await stranger.ask('/members', { method: 'POST', body: { email: theirs.email } }))
  })
})
