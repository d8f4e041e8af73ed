import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { createTracker } from '../../src/operations/tracker.ts'
import { dataOf, errorOf, isObject, listIn, objectIn, textIn } from '../support/answers.ts'
import { addMember, note, openConsole, password, visitor } from '../support/console.ts'
import { scryptOnce } from '../support/scrypt-once.ts'
import { startShop, visit } from '../support/shop.ts'
import { until } from '../support/until.ts'

after(scryptOnce(16))
const shop = await startShop({ after }, { scopes: ['analytics:view'] })
const { organisationId } = shop
await shop.ingest(visit('anna'))
const client = await openConsole(shop, organisationId, 'ada@acme.example')

/** The entries with a request ID, or the newest entries. */
async function entries(requestId?: string): Promise<Record<string, unknown>[]> {
  const filter = requestId === undefined ? '' : `&requestId=${encodeURIComponent(requestId)}`
  return listIn(dataOf(await client.ask(`/activity?limit=200${filter}`)), 'entries').filter(isObject)
}

describe('the activity', () => {
  test('has failed sign-ins of existing members only, and none that exceeded a budget', async () => {
    const { id, email } = await addMember(shop, organisationId)
    const attempt = (email: string, guess: string, requestId: string) =>
      visitor(shop).ask('/sign-in', {
        method: 'POST',
        body: { email, password: guess },
        headers: { 'x-request-id': requestId },
      })
    const refused = '00000000-0000-4000-8000-000000000010'
    const nobody = '00000000-0000-4000-8000-000000000011'
    const failedId = (i: number) => `00000000-0000-4000-8000-00000000000${i}`
    for (let i = 0; i < 10; i++) errorOf(await attempt(email, 'wrong', failedId(i)), 'unauthorized')
    errorOf(await attempt(email, password, refused), 'rate_limited')
    errorOf(await attempt('nobody@acme.example', 'wrong', nobody), 'unauthorized')
    // Entries are written after the response.
    await until(async () => (await entries(failedId(9))).length === 1)
    const failed = (await entries()).filter(({ kind }) => kind === 'member.sign-in-failed')
    assert.equal(failed.length, 10)
    assert.partialDeepStrictEqual(failed[0], {
      actor: { kind: 'member', id, name: email },
      target: 'password',
    })
    for (const requestId of [refused, nobody]) assert.deepEqual(await entries(requestId), [])
  })

  test('has every export from the console, without the data subject', async () => {
    const subject = '/trackers/shop/subjects/anna'
    const headers = { 'x-request-id': 'export of anna' }
    assert.equal((await client.ask(`${subject}/export`, { headers })).status, 200)
    errorOf(await client.ask(`${subject}-nobody/export`), 'not_found')
    const exported = (await entries()).filter(({ kind }) => kind === 'subject.exported')
    assert.equal(exported.length, 1)
    assert.partialDeepStrictEqual(exported[0], {
      ...{ target: 'shop', counts: null, ledgerIndex: null },
      actor: { kind: 'member', id: client.member.id, name: 'ada@acme.example' },
    })
    assert.doesNotMatch(JSON.stringify(exported), /anna/)
  })

  test('links an entry to its request as long as the request exists', async () => {
    const create = async (reference?: string) => {
      const person = { identifiers: [{ name: 'email', value: 'anna@example.com' }], subjects: [] }
      const body = { kind: 'access', person, reference }
      return textIn(
        objectIn(dataOf(await client.ask('/requests', { method: 'POST', body })), 'request'),
        'requestId',
      )
    }
    const [named, unnamed] = [await create('Ticket 7'), await create()]
    const { activity, clock } = shop.services
    const gone = { ...note(shop, organisationId, 'request.closed'), at: clock() - 1, target: 'gone' }
    await activity.add(gone)
    const requestOf = async (target: string) =>
      (await entries()).find((entry) => entry.target === target)?.request
    assert.deepEqual(await requestOf(named), { id: named, reference: 'Ticket 7' })
    assert.deepEqual(await requestOf(unnamed), { id: unnamed, reference: null })
    assert.equal(await requestOf('gone'), null)
    assert.equal(await requestOf('shop'), null)
    const groups = listIn(dataOf(await client.ask('/activity/groups?kind=request.created')), 'groups')
    const newest = groups.filter(isObject).map((group) => objectIn(group, 'newest').request)
    assert.deepEqual(newest, [
      { id: unnamed, reference: null },
      { id: named, reference: 'Ticket 7' },
    ])
  })

  test('has every new tracker, from the console and the command line', async () => {
    const answer = await client.ask('/trackers', { method: 'POST', body: { name: 'Blog' } })
    const target = textIn(dataOf(answer), 'id')
    const [created] = await entries(answer.headers.get('x-request-id') ?? '')
    assert.partialDeepStrictEqual(created, { kind: 'tracker.created', target, actor: { kind: 'member' } })
    await createTracker(shop.services, { organisationId, name: 'App', id: 'app' })
    const found = (await entries()).find((entry) => entry.target === 'app')
    assert.partialDeepStrictEqual(found, { kind: 'tracker.created', actor: { kind: 'command-line' } })
  })
})
