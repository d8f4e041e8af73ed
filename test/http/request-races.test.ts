import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, describe, test } from 'node:test'
import { deleteOrganisation, setPlan } from '../../src/operations/organisation.ts'
import { dataOf, isObject, listIn, problemFields, textIn } from '../support/answers.ts'
import type { Answer } from '../support/documented.ts'
import { startTestService } from '../support/service.ts'
import { subjectPath, visit } from '../support/shop.ts'
import { until } from '../support/until.ts'

const hourMs = 3_600_000
const budget = 3
const service = await startTestService({ after }, { LETHE_LIMIT_ERASURE: `${budget}/hour` })
const { services } = service
const path = '/v1/analytics/requests'
const scopes = ['analytics:manage-requests', 'analytics:delete-data', 'analytics:view'] as const

/** Creates an organisation and a person with this many data subjects in each of two trackers. */
async function somebody({ subjects = 1, startedAt = services.clock() - hourMs } = {}) {
  const organisationId = await service.createOrganisation()
  const trackers = [await service.createTracker(organisationId), await service.createTracker(organisationId)]
  const identifiers = { email: 'ada@example.com' }
  const names = Array.from({ length: subjects }, (_, i) => `ada-${i}`)
  await service.ingest(
    trackers.flatMap((trackerId) =>
      names.flatMap((name) => visit(name, { trackerId, identifiers, startedAt })),
    ),
  )
  const { keyString } = await service.createKey(organisationId, scopes)
  const send = (to: string, body: object = {}, by = keyString) =>
    service.ask(`${path}${to}`, {
      ...{ method: 'POST', key: by, body: JSON.stringify(body) },
      headers: { 'content-type': 'application/json' },
    })
  const get = async (to: string, by = keyString) => dataOf(await service.ask(`${path}${to}`, { key: by }))
  const person = { identifiers: [{ name: 'email', value: 'ada@example.com' }] }
  const create = async (fields: object = {}) =>
    textIn(dataOf(await send('', { kind: 'erasure', person, ...fields })), 'requestId')
  const entriesOf = async (id: string, by = keyString) => {
    const { entries, complete } = await get(`/${id}/certificate`, by)
    assert.ok(Array.isArray(entries))
    return { entries, complete }
  }
  const isThere = async (trackerId: string, name = 'ada-0') =>
    (await service.ask(subjectPath(name, trackerId), { key: keyString })).status === 200
  /** Repeats the erasure until the request is closed, and reads it. */
  const erase = async (id: string, by = keyString) => {
    await until(async () => outcomeOf(await send(`/${id}/erase`, {}, by)) !== 'running')
    return get(`/${id}`, by)
  }
  return {
    ...{ organisationId, trackers, person },
    ...{ send, get, create, erase, entriesOf, isThere },
  }
}

/** The result of a change: the state, or the fields of an error. */
function outcomeOf(answer: Answer): string {
  if (answer.status !== 200) return problemFields(answer).join()
  return textIn(dataOf(answer), 'state')
}

describe('concurrently,', () => {
  for (const other of ['cancel', 'reject']) {
    test(`an erasure and ${other} leave a request in one state, which matches the data of the person`, async () => {
      for (let round = 0; round < 4; round++) {
        const { create, send, erase, entriesOf, trackers, isThere } = await somebody()
        const id = await create()
        const body = other === 'reject' ? { reason: 'Not the person' } : {}
        const sent = [
          () => send(`/${id}/erase`),
          () => send(`/${id}/${other}`, body),
          () => send(`/${id}/erase`),
        ]
        const order = round % 2 === 0 ? sent : sent.toReversed()
        const outcomes = (await Promise.all(order.map((each) => each()))).map(outcomeOf)
        const { state, person } = await erase(id)
        assert.equal(person, null)
        const known = ['done', 'running', 'cancelled', 'rejected', 'state']
        assert.ok(
          outcomes.every((outcome) => known.includes(outcome)),
          outcomes.join(),
        )
        const { entries, complete } = await entriesOf(id)
        const left = await Promise.all(trackers.map((trackerId) => isThere(trackerId)))
        assert.equal(entries.length, left.filter((isLeft) => !isLeft).length)
        assert.equal(complete, state === 'done')
        if (state === 'done') assert.deepEqual(left, [false, false])
        if (state === 'rejected') assert.deepEqual(left, [true, true])
        assert.deepEqual(problemFields(await send(`/${id}/erase`)), ['state'])
        assert.deepEqual((await entriesOf(id)).entries.length, entries.length)
      }
    })
  }

  test('two erasures of one person by two requests erase each subject once', async () => {
    const { create, erase, entriesOf } = await somebody()
    const ids = [await create(), await create()]
    const states = (await Promise.all(ids.map((id) => erase(id)))).map(({ state }) => state)
    assert.deepEqual(states, ['done', 'done'])
    const certificates = await Promise.all(ids.map((id) => entriesOf(id)))
    assert.deepEqual(
      certificates.map(({ complete }) => complete),
      [true, true],
    )
    const erased = certificates.flatMap(({ entries }) =>
      entries.filter((entry) => isObject(entry) && entry.alreadyErased === false),
    )
    assert.equal(new Set(erased.map((entry) => isObject(entry) && entry.index)).size, 2)
  })

  test('two extensions add two months once', async () => {
    const { create, send, get } = await somebody()
    const id = await create({ receivedAt: '2026-08-31T10:00:00Z' })
    const outcomes = await Promise.all([1, 2, 3].map(() => send(`/${id}/extend`, { reason: 'Many systems' })))
    assert.deepEqual(outcomes.map(outcomeOf).sort(), ['extendedAt', 'extendedAt', 'open'])
    assert.equal((await get(`/${id}`)).dueAt, '2026-11-30T10:00:00.000Z')
  })

  test('creations with one ID create one request and reject different content', async () => {
    for (let round = 0; round < 3; round++) {
      const { send, person, get } = await somebody()
      const requestId = randomUUID()
      const contents = ['A', 'A', 'B', 'A', 'B'].map((reference) => ({
        kind: 'access',
        person,
        requestId,
        reference,
      }))
      const answers = await Promise.all(contents.map((content) => send('', content)))
      const { reference } = await get(`/${requestId}`)
      for (const [i, answer] of answers.entries()) {
        if (contents[i]?.reference === reference) assert.equal(textIn(dataOf(answer), 'requestId'), requestId)
        else assert.deepEqual(problemFields(answer), ['requestId'])
      }
      assert.equal(listIn(await get(''), 'requests').length, 1)
    }
  })
})

describe('while a request waits for its budget,', () => {
  /** A person with more data subjects than the budget allows, and a request that waits for it. */
  async function waiting() {
    const one = await somebody({ subjects: 3 })
    const id = await one.create()
    // Responds when the request is closed, or after two seconds.
    const answered = one.send(`/${id}/erase`)
    // Not over HTTP, because a slow store would use up that budget.
    const stored = () => services.privacyRequests.find({ organisationId: one.organisationId, id })
    await until(async () => typeof (await stored())?.resumesAt === 'number')
    const erased = { subjects: budget, sessions: budget, events: budget }
    assert.partialDeepStrictEqual(await one.get(`/${id}`), { state: 'running', erased })
    return { ...one, id, answered }
  }

  test('deleting the organisation removes the request without errors', async () => {
    const { organisationId, id, answered } = await waiting()
    const before = service.logged.length
    await deleteOrganisation(services, organisationId, organisationId)
    assert.equal(await services.privacyRequests.find({ organisationId, id }), null)
    service.passTime(hourMs)
    // The service continues with other requests.
    const next = await waiting()
    service.passTime(hourMs)
    assert.equal((await next.erase(next.id)).state, 'done')
    await Promise.all([answered, next.answered])
    const logged = service.logged.slice(before).filter((line) => /"level":(?:50|60)/.test(line))
    // The sweep may notice that this test moves the clock.
    const errors = logged.filter((line) => !line.includes('the clock has jumped ahead'))
    assert.deepEqual(errors, [])
  })

  test('data that a shorter plan hides is erased too', async () => {
    const { id, organisationId, erase, entriesOf, answered } = await waiting()
    // The visits were an hour ago; now they are older than the free plan's window.
    await setPlan(services, organisationId, 'business')
    service.passTime(200 * 24 * hourMs)
    await setPlan(services, organisationId, 'free')
    assert.partialDeepStrictEqual(await erase(id), { state: 'done', left: 0 })
    await answered
    const { entries, complete } = await entriesOf(id)
    assert.deepEqual([entries.length, complete], [6, true])
  })

  test('setting back the clock does not extend the wait', async () => {
    const { id, erase, answered } = await waiting()
    service.passTime(-5 * hourMs)
    service.passTime(hourMs + 60_000)
    assert.equal((await erase(id)).state, 'done')
    await answered
  })
})
