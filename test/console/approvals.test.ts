import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { dataOf, errorOf, listIn, objectIn, problemFields, textIn } from '../support/answers.ts'
import { type ConsoleClient, openConsole, signedIn } from '../support/console.ts'
import { startShop, visit } from '../support/shop.ts'
import { until } from '../support/until.ts'

const shop = await startShop({ after }, { scopes: ['analytics:manage-requests', 'analytics:delete-data'] })
const admin = await openConsole(shop, shop.organisationId, 'ada@acme.example')

const setRule = (above: unknown) => admin.ask('/organisation/approval', { method: 'POST', body: { above } })
let count = 0
const names = (number: number) => Array.from({ length: number }, () => `person-${++count}`)
const desk = () => openConsole(shop, shop.organisationId, `desk-${++count}@acme.example`, 'desk')

type Browser = Pick<ConsoleClient, 'ask'>

async function addRequest(client: Browser, subjectId: string): Promise<string> {
  await shop.ingest(visit(subjectId))
  const person = { identifiers: [], subjects: [{ trackerId: 'shop', subjectId }] }
  const created = await client.ask('/requests', { method: 'POST', body: { kind: 'erasure', person } })
  return textIn(objectIn(dataOf(created), 'request'), 'requestId')
}

const erase = (client: Browser, id: string) =>
  client.ask(`/requests/${id}/erase`, { method: 'POST', body: { subjects: 1 } })
const decide = (client: Browser, id: string, verdict: 'approve' | 'decline') =>
  client.ask(`/requests/${id}/${verdict}`, { method: 'POST', body: {} })

async function read(id: string) {
  const page = dataOf(await admin.ask(`/requests/${id}`))
  const request = objectIn(page, 'request')
  const kinds = listIn(page, 'story').map((entry) => textIn(entry, 'kind'))
  return { state: textIn(request, 'state'), approval: request.approval, kinds, startedBy: request.startedBy }
}

const isWaiting = async (id: string) => (await read(id)).approval !== null
/** Reads the store, because polling the API would use up the budget of the console. */
function isDone(id: string): Promise<void> {
  const { organisationId, services } = shop
  return until(async () => (await services.privacyRequests.find({ organisationId, id }))?.state === 'done')
}

describe('erasing many people', () => {
  test('needs no approval unless there is a rule', async () => {
    const client = await desk()
    for (const name of names(3)) dataOf(await erase(client, await addRequest(client, name)))
    assert.deepEqual(dataOf(await admin.ask('/organisation/approval')), { above: null })
  })

  test('is required by a rule of the admins, recorded in the activity', async () => {
    errorOf(
      await (await desk()).ask('/organisation/approval', { method: 'POST', body: { above: 1 } }),
      'forbidden',
    )
    for (const above of [0, -1, 1.5, 10_001, '2'])
      assert.deepEqual(problemFields(await setRule(above)), ['above'])
    dataOf(await setRule(2))
    dataOf(await setRule(2))
    const entries = listIn(dataOf(await admin.ask('/activity?kind=organisation.approval-changed')), 'entries')
    assert.deepEqual(
      entries.map((entry) => textIn(entry, 'target')),
      ['off → 2'],
    )
  })

  test('one by one needs another member’s approval above the limit', async () => {
    const [asker, other] = [await desk(), await desk()]
    const ids: string[] = []
    for (const name of names(3)) ids.push(await addRequest(asker, name))
    const [first = '', second = '', third = ''] = ids
    for (const id of ids) dataOf(await erase(asker, id))
    await Promise.all([isDone(first), isDone(second)])
    const waiting = await read(third)
    assert.partialDeepStrictEqual(waiting, {
      state: 'open',
      startedBy: null,
      kinds: ['request.created', 'request.approval-asked'],
    })
    assert.partialDeepStrictEqual(waiting.approval, { askedBy: { id: asker.member.id } })
    dataOf(await erase(asker, third))
    dataOf(await erase(other, third))
    assert.equal(await isWaiting(third), true, 'starting it again approves nothing')
    errorOf(await decide(asker, third, 'approve'), 'forbidden')
    const viewer = await openConsole(shop, shop.organisationId, `viewer-${++count}@acme.example`, 'viewer')
    errorOf(await decide(viewer, third, 'approve'), 'forbidden')
    dataOf(await decide(other, third, 'approve'))
    await isDone(third)
    const { kinds, startedBy } = await read(third)
    assert.partialDeepStrictEqual(startedBy, { id: asker.member.id })
    assert.deepEqual(kinds.toSorted(), [
      ...['request.approval-asked', 'request.approved', 'request.created', 'request.finished'],
    ])
    assert.deepEqual(problemFields(await decide(other, third, 'approve')), ['state'])
  })

  test('concurrently cannot bypass the rule, and a declined erasure stays open', async () => {
    const [asker, other] = [await desk(), await desk()]
    const ids: string[] = []
    for (const name of names(8)) ids.push(await addRequest(asker, name))
    await Promise.all(ids.map(async (id) => dataOf(await erase(asker, id))))
    const waits = await Promise.all(ids.map(isWaiting))
    assert.equal(waits.filter(Boolean).length, 6)
    const [id = ''] = ids.filter((_, i) => waits[i])
    dataOf(await decide(other, id, 'decline'))
    assert.partialDeepStrictEqual(await read(id), { state: 'open', approval: null })
    dataOf(await setRule(null))
    const [next = ''] = ids.filter((each, i) => waits[i] && each !== id)
    assert.equal(await isWaiting(next), true, 'a change of the rule releases nothing')
    dataOf(await setRule(2))
    assert.equal(await isWaiting(next), true)
    dataOf(await decide(asker, next, 'decline'))
    const withdrawn = await read(next)
    assert.partialDeepStrictEqual(withdrawn, { state: 'open', approval: null })
    assert.equal(withdrawn.kinds.at(-1), 'request.declined')
    dataOf(await erase(asker, next))
    assert.equal(await isWaiting(next), true, 'it waits again')
  })

  test('as a list counts all people and needs one decision', async () => {
    const [asker, other] = [await desk(), await desk()]
    const people = names(60)
    for (const name of people) await shop.ingest(visit(name))
    const reference = `List ${++count}`
    const list = {
      text: people.join('\n'),
      subjects: 60,
      format: 'lines',
      by: 'subjectId',
      trackerIds: [],
      reference,
    }
    const group = dataOf(await asker.ask('/erasure-lists', { method: 'POST', body: list }))
    assert.partialDeepStrictEqual(group, {
      waiting: 60,
      startable: 0,
      counts: { open: 60, running: 0, done: 0 },
    })
    const all = (client: Browser, requests: number) =>
      client.ask('/request-groups/approve', { method: 'POST', body: { reference, requests } })
    errorOf(await all(asker, 60), 'forbidden')
    assert.deepEqual(problemFields(await all(other, 59)), ['requests'])
    const [theirs = ''] = names(1)
    await shop.ingest(visit(theirs))
    const person = { identifiers: [], subjects: [{ trackerId: 'shop', subjectId: theirs }] }
    const body = { kind: 'erasure', person, reference }
    const added = textIn(
      objectIn(dataOf(await other.ask('/requests', { method: 'POST', body })), 'request'),
      'requestId',
    )
    dataOf(await setRule(1))
    for (const name of names(1)) dataOf(await erase(other, await addRequest(other, name)))
    dataOf(await erase(other, added))
    dataOf(await setRule(2))
    const page = (client: Browser) => client.ask(`/request-groups?reference=${encodeURIComponent(reference)}`)
    assert.partialDeepStrictEqual(dataOf(await page(other)), { waiting: 61, ownWaiting: 1 })
    assert.partialDeepStrictEqual(dataOf(await page(asker)), { waiting: 61, ownWaiting: 60 })
    assert.deepEqual(problemFields(await all(other, 61)), ['requests'], 'not their own')
    dataOf(await decide(other, added, 'decline'))
    dataOf(await other.ask(`/requests/${added}/cancel`, { method: 'POST', body: {} }))
    assert.partialDeepStrictEqual(dataOf(await all(other, 60)), { waiting: 0 })
    const { organisationId, services } = shop
    await until(
      async () => (await services.requestGroups.find(organisationId, reference))?.counts.done === 60,
    )
    const few = names(2)
    for (const name of few) await shop.ingest(visit(name))
    const small = { ...list, text: few.join('\n'), subjects: 2, reference: `List ${++count}` }
    assert.partialDeepStrictEqual(
      dataOf(await asker.ask('/erasure-lists', { method: 'POST', body: small })),
      {
        waiting: 0,
      },
    )
  })

  test('with an API key is not affected, because keys are not members', async () => {
    for (const name of names(3)) {
      const id = await addRequest(admin, name)
      dataOf(await shop.ask(`/v1/analytics/requests/${id}/erase`, { method: 'POST', key: shop.key }))
      await isDone(id)
    }
  })

  test('is counted for a day, without approved erasures', async () => {
    const { member } = await desk()
    const start = async (isExpected: boolean) => {
      const client = await signedIn(shop, member)
      const id = await addRequest(client, `person-${++count}`)
      dataOf(await erase(client, id))
      const other = await desk()
      assert.equal(
        objectIn(dataOf(await other.ask(`/requests/${id}`)), 'request').approval !== null,
        isExpected,
      )
      if (isExpected) dataOf(await decide(other, id, 'approve'))
    }
    for (const isExpected of [false, false, true, true]) await start(isExpected)
    shop.passTime(86_400_001)
    for (const isExpected of [false, false, true]) await start(isExpected)
  })
})
