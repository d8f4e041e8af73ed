import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import type { Origin } from '../../src/domain/activity.ts'
import { revokeKey } from '../../src/operations/api-key.ts'
import { startRequest } from '../../src/operations/change-privacy-request.ts'
import { waitUntilClosed } from '../../src/operations/privacy-request.ts'
import { deleteTracker } from '../../src/operations/tracker.ts'
import { dataOf, errorOf, listIn, objectIn, textIn } from '../support/answers.ts'
import { startShop, subjectPath, visit } from '../support/shop.ts'
import { until } from '../support/until.ts'

// How the service continues an erasure by itself.

const hourMs = 3_600_000
const path = '/v1/analytics/requests'
const env = { LETHE_LIMIT_ERASURE: '3/hour', LETHE_BATCH_PACE: '1/hour' }
const scopes = ['analytics:manage-requests', 'analytics:delete-data', 'analytics:view'] as const
const shop = await startShop({ after }, { scopes, env })
const { organisationId, services } = shop
let count = 0

/** Creates a request for a person with this many data subjects, and a key with a full erasure budget. */
async function open(subjects: number, trackerId = 'shop') {
  const name = `somebody-${++count}`
  const identifiers = { email: `${name}@example.com` }
  const ids = Array.from({ length: subjects }, (_, i) => `${name}-${i}`)
  for (const id of ids) await shop.ingest(visit(id, { trackerId, identifiers }))
  const { key, keyString } = await shop.createKey(organisationId, scopes)
  const send = (to: string, body: object = {}) =>
    shop.ask(`${path}${to}`, {
      ...{ method: 'POST', key: keyString, body: JSON.stringify(body) },
      headers: { 'content-type': 'application/json' },
    })
  const person = { identifiers: [{ name: 'email', value: identifiers.email }] }
  const id = textIn(dataOf(await send('', { kind: 'erasure', person })), 'requestId')
  const read = async () => dataOf(await shop.ask(`${path}/${id}`, { key: keyString }))
  const erased = async () => Number(objectIn(await read(), 'erased').subjects)
  const isDone = async () => (await read()).state === 'done'
  /**
   * Erases until the request is closed or waits. On a slow machine, that takes longer than the response
   * waits.
   */
  async function erase(): Promise<Record<string, unknown>> {
    const goesOn = ({ state, resumesAt }: Record<string, unknown>) =>
      state === 'running' && resumesAt === null
    const answer = dataOf(await send(`/${id}/erase`))
    if (!goesOn(answer)) return answer
    await until(async () => !goesOn(await read()))
    return read()
  }
  return { id, ids, key, keyString, send, read, erase, erased, isDone }
}

describe('the erasure of a request with a key', () => {
  test('uses one erasure of the key for each data subject, waits for its budget and continues', async () => {
    const { ids, keyString, erase, isDone, read } = await open(5)
    await shop.ingest(visit('another'))
    const another = { method: 'DELETE', key: keyString }
    dataOf(await shop.ask(subjectPath('another'), another))
    const answer = await erase()
    assert.partialDeepStrictEqual(answer, { state: 'running', erased: { subjects: 2 }, left: null })
    const waitMs = Date.parse(textIn(answer, 'resumesAt')) - services.clock()
    assert.ok(waitMs > 0.9 * hourMs && waitMs <= hourMs, `waits ${waitMs} ms`)
    errorOf(await shop.ask(subjectPath('another'), another), 'rate_limited')
    const { keyString: fresh } = await shop.createKey(organisationId, scopes)
    dataOf(await shop.ask(subjectPath('another'), { ...another, key: fresh }))
    shop.passTime(hourMs)
    await until(isDone)
    assert.partialDeepStrictEqual(await read(), { erased: { subjects: 5 }, left: 0, resumesAt: null })
    for (const each of ids) errorOf(await shop.ask(subjectPath(each), { key: keyString }), 'not_found')
  })

  test('is not waited for if the budget resets after the wait', async () => {
    const { id, erase } = await open(4)
    await erase()
    const resting = await services.privacyRequests.find({ organisationId, id })
    assert.ok(resting)
    // Waiting for half an hour would exceed the time limit of the test.
    const answer = await waitUntilClosed(services, resting, hourMs / 2, new AbortController().signal)
    assert.partialDeepStrictEqual(answer, { state: 'running', erased: { subjects: 3 } })
  })

  test('continues if the key is revoked, within the budget of that key', async () => {
    const { id, key, send, erase, erased } = await open(4)
    await erase()
    await revokeKey(services, key.id, key.name)
    const stored = () => services.privacyRequests.find({ organisationId, id })
    assert.equal((await stored())?.erased.subjects, 3)
    errorOf(await send(`/${id}/erase`), 'unauthorized')
    await assert.rejects(erased())
    shop.passTime(hourMs)
    await until(async () => (await stored())?.state === 'done')
    assert.equal((await stored())?.erased.subjects, 4)
  })

  test('stops if the request is cancelled, and certifies what was erased', async () => {
    const { id, ids, keyString, send, erase } = await open(4)
    await erase()
    const cancelled = dataOf(await send(`/${id}/cancel`))
    assert.partialDeepStrictEqual(cancelled, { state: 'cancelled', erased: { subjects: 3 }, person: null })
    shop.passTime(hourMs)
    const certificate = dataOf(await shop.ask(`${path}/${id}/certificate`, { key: keyString }))
    assert.deepEqual([certificate.complete, listIn(certificate, 'entries').length], [false, 3])
    dataOf(await shop.ask(subjectPath(ids[3] ?? ''), { key: keyString }))
  })

  test('skips a tracker that is deleted meanwhile, and is then incomplete', async () => {
    const trackerId = await shop.createTracker(organisationId)
    const { id, keyString, erase, isDone } = await open(4, trackerId)
    await erase()
    await deleteTracker(services, trackerId, trackerId)
    shop.passTime(hourMs)
    await until(isDone)
    const certificate = dataOf(await shop.ask(`${path}/${id}/certificate`, { key: keyString }))
    assert.deepEqual([certificate.complete, listIn(certificate, 'entries').length], [false, 3])
  })
})

describe('the erasure of a request by a member', () => {
  test('keeps its own pace and does not delay one with a key', async () => {
    const { id, read, erased } = await open(2)
    const actor = { kind: 'member', id: 'mem_1', name: 'ada@acme.example' } as const
    const origin: Origin = { actor, requestId: null, organisationId }
    await startRequest(services, { organisationId, since: 0 }, id, origin)
    await until(async () => (await erased()) === 1)
    const other = await open(2)
    assert.equal((await other.erase()).state, 'done')
    assert.partialDeepStrictEqual(await read(), {
      state: 'running',
      erased: { subjects: 1 },
      resumesAt: null,
    })
  })
})
