import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { dataOf, errorOf, listIn, objectIn, problemFields, textIn } from '../support/answers.ts'
import { type ConsoleClient, openConsole } from '../support/console.ts'
import { startShop, subjectsPath } from '../support/shop.ts'

const shop = await startShop({ after }, { scopes: ['analytics:view'] })
const client = await openConsole(shop, shop.organisationId, 'ada@acme.example')

async function create(
  body: object,
  from: ConsoleClient = client,
): Promise<{ id: string; keyString: string }> {
  const data = dataOf(
    await from.ask('/keys', { method: 'POST', body: { scopes: ['analytics:view'], ...body } }),
  )
  return { id: textIn(objectIn(data, 'key'), 'id'), keyString: textIn(data, 'keyString') }
}

const statusOf = async (key: string) => (await shop.ask(subjectsPath, { key })).status

describe('a key in the console', () => {
  test('is created, used, rotated, and revoked after its name is typed', async () => {
    const { id, keyString } = await create({ name: 'desk' })
    assert.equal(await statusOf(keyString), 200)
    const rotated = textIn(
      dataOf(await client.ask(`/keys/${id}/rotate`, { method: 'POST', body: {} })),
      'keyString',
    )
    assert.deepEqual([await statusOf(keyString), await statusOf(rotated)], [401, 200])
    const revoke = (name: string) => client.ask(`/keys/${id}/revoke`, { method: 'POST', body: { name } })
    assert.deepEqual(problemFields(await revoke('Desk')), ['name'])
    assert.equal(await statusOf(rotated), 200)
    assert.equal(textIn(objectIn(dataOf(await revoke('desk')), 'key'), 'state'), 'revoked')
    assert.equal(await statusOf(rotated), 401)
    for (const what of ['rotate', 'revoke']) {
      const body = what === 'rotate' ? {} : { name: 'desk' }
      errorOf(await client.ask(`/keys/${id}/${what}`, { method: 'POST', body }), 'invalid_request')
    }
  })

  test('is listed with its details, newest first, and never with its string', async () => {
    const expiresAt = new Date(Date.now() + 60_000).toISOString()
    const { id, keyString } = await create({ name: 'listed', expiresAt })
    const answer = await client.ask('/keys')
    const [newest] = listIn(dataOf(answer), 'keys')
    assert.partialDeepStrictEqual(newest, {
      ...{ id, name: 'listed', scopes: ['analytics:view'], lastFour: keyString.slice(-4), state: 'active' },
      ...{ rotatedAt: null, expiresAt, revokedAt: null, lastUsedAt: null },
    })
    assert.equal(JSON.stringify(answer.body).includes(keyString.slice(23)), false)
    shop.passTime(60_000)
    const [later] = listIn(dataOf(await client.ask('/keys')), 'keys')
    assert.equal(textIn(later, 'state'), 'expired')
  })

  test('reports the problems of each field like the command line', async () => {
    const fields = async (body: object) => problemFields(await client.ask('/keys', { method: 'POST', body }))
    assert.deepEqual(await fields({ name: '', scopes: [] }), ['name', 'scope'])
    assert.deepEqual(await fields({ name: 'x', scopes: ['analytics:own'] }), ['scope'])
    assert.deepEqual(
      await fields({ name: 'x', scopes: ['analytics:view'], expiresAt: '2001-01-01T00:00:00Z' }),
      ['expiresAt'],
    )
    assert.deepEqual(await fields({ name: 'x', scopes: ['analytics:view'], expiresAt: 'tomorrow' }), [
      'expiresAt',
    ])
    await create({ name: 'taken' })
    assert.deepEqual(await fields({ name: 'taken', scopes: ['analytics:view'] }), ['name'])
  })

  test('can have every scope, each with a description', async () => {
    const areas = listIn(dataOf(await client.ask('/scopes')), 'areas')
    assert.equal(areas.length, 8)
    const scopes = areas.flatMap((area) => listIn(area, 'scopes'))
    for (const scope of scopes) assert.ok(textIn(scope, 'allows').length > 10)
    await create({ name: 'all', scopes: scopes.map((scope) => textIn(scope, 'scope')) })
  })
})

describe('the activity of keys', () => {
  test('shows who did what with which request, from the console, the command line and the API', async () => {
    const body = { name: 'noted', scopes: ['analytics:view', 'analytics:delete-data'] }
    const created = await client.ask('/keys', {
      method: 'POST',
      body,
      headers: { 'x-request-id': 'made-here' },
    })
    const key = textIn(dataOf(created), 'keyString')
    const id = textIn(objectIn(dataOf(created), 'key'), 'id')
    const erase = { method: 'DELETE', key, headers: { 'x-request-id': 'erased-there' } }
    await shop.ask(`${subjectsPath}/nobody-4711`, erase)
    const entries = async (requestId: string) =>
      listIn(dataOf(await client.ask(`/activity?requestId=${requestId}`)), 'entries')
    const [made, ...noOther] = await entries('made-here')
    assert.deepEqual(noOther, [])
    assert.partialDeepStrictEqual(made, {
      actor: { kind: 'member', id: client.member.id, name: 'ada@acme.example' },
      ...{ kind: 'key.created', target: 'noted', requestId: 'made-here', counts: null, ledgerIndex: null },
    })
    assert.partialDeepStrictEqual((await entries('erased-there'))[0], {
      actor: { kind: 'key', id, name: 'noted' },
      ...{ kind: 'subject.erased', target: 'shop', counts: { sessions: 0, events: 0 } },
    })
    const all = listIn(dataOf(await client.ask('/activity')), 'entries')
    assert.ok(all.some((entry) => JSON.stringify(objectIn(entry, 'actor')) === '{"kind":"command-line"}'))
    assert.equal(JSON.stringify(all).includes('nobody-4711'), false)
  })

  test('contains neither a key nor the ID of a data subject chosen as request ID', async () => {
    const { keyString } = await create({
      name: 'chatty',
      scopes: ['analytics:view', 'analytics:delete-data'],
    })
    const erase = (requestId: string, subjectId = 'visitor-99') =>
      shop.ask(`${subjectsPath}/${subjectId}`, {
        method: 'DELETE',
        key: keyString,
        headers: { 'x-request-id': requestId },
      })
    await erase('forget visitor-99 now')
    await erase(keyString)
    const uuid = '11111111-2222-4333-8444-555555555555'
    await erase(uuid, uuid)
    await erase('99999999-2222-4333-8444-555555555555', '9')
    await erase(Buffer.from('visitor-99').toString('base64'))
    await erase(Buffer.from('visitor-99').toString('hex'))
    const kept = listIn(dataOf(await client.ask('/activity?limit=6')), 'entries').map((entry) =>
      textIn(entry, 'requestId'),
    )
    const chosen = kept.filter((id) => id === '[key]' || id.startsWith('99999999-'))
    assert.deepEqual(chosen.sort(), ['99999999-2222-4333-8444-555555555555', '[key]'])
    for (const id of kept.filter((id) => !chosen.includes(id))) {
      assert.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f-]{17}$/)
      assert.notEqual(id, uuid)
    }
  })

  test('is listed page by page, newest first, and rejects a cursor of another list', async () => {
    const seen: string[] = []
    let cursor = ''
    do {
      const data = dataOf(await client.ask(`/activity?limit=3${cursor}`))
      seen.push(...listIn(data, 'entries').map((entry) => textIn(entry, 'at')))
      cursor = data.nextCursor === null ? '' : `&cursor=${data.nextCursor}`
      if (seen.length === 3) {
        assert.deepEqual(problemFields(await client.ask(`/activity?requestId=x${cursor}`)), ['cursor'])
      }
    } while (cursor !== '')
    assert.ok(seen.length > 6)
    assert.deepEqual(seen, seen.toSorted().reverse())
  })
})
