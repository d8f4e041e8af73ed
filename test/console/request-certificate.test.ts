import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { verifyReceipt } from '@lethe/client'
import { dataOf, errorOf, isObject, listIn, objectIn, problemFields, textIn } from '../support/answers.ts'
import { note, openConsole } from '../support/console.ts'
import { startShop, visit } from '../support/shop.ts'
import { until } from '../support/until.ts'

const scopes = ['analytics:manage-requests', 'analytics:delete-data'] as const
const env = { LETHE_LIMIT_ERASURE: '1000000/hour', LETHE_BATCH_PACE: '1000000/second' }
const shop = await startShop({ after }, { scopes, env })
const { organisationId, services } = shop
const blog = await shop.createTracker(organisationId, 'blog')
const client = await openConsole(shop, organisationId)

const send = async (path: string, body: object = {}) =>
  dataOf(
    await shop.ask(`/v1/analytics/requests${path}`, {
      ...{ method: 'POST', key: shop.key, body: JSON.stringify(body) },
      headers: { 'content-type': 'application/json' },
    }),
  )

/** Creates a request about the people with these identifiers. */
async function create(identifiers: Record<string, string>, fields: object = {}): Promise<string> {
  const named = Object.entries(identifiers).map(([name, value]) => ({ name, value }))
  const person = { identifiers: named, subjects: [] }
  return textIn(await send('', { kind: 'erasure', person, ...fields }), 'requestId')
}

async function erase(requestId: string): Promise<void> {
  await send(`/${requestId}/erase`)
  await until(async () => {
    return (await services.privacyRequests.find({ organisationId, id: requestId }))?.state === 'done'
  })
}

async function certificate(requestId: string, after?: number) {
  const query = after === undefined ? '' : `?after=${after}`
  const { certificates, request, ...rest } = dataOf(
    await client.ask(`/requests/${requestId}/certificate${query}`),
  )
  assert.ok(Array.isArray(certificates))
  return { request, rest, certificates: certificates.filter(isObject) }
}

const whole = { waiting: 0, gone: 0, stopped: 0, excluded: 0 }

describe('the certificate of a request in the console', () => {
  test('has every entry with its receipt, and what is needed to verify it', async () => {
    const identifiers = { email: 'ada@example.com' }
    await shop.ingest(visit('laptop', { events: 3, identifiers }))
    await shop.ingest(visit('reader', { trackerId: blog, events: 2, identifiers }))
    const receivedAt = new Date(services.clock() - 86_400_000).toISOString()
    const person = { ...identifiers, userId: '42' }
    const id = await create(person, { reference: 'DSR 7', receivedAt })
    const open = await certificate(id)
    assert.deepEqual([open.certificates, open.rest], [[], { ...whole, nextPlace: null }])
    assert.partialDeepStrictEqual(open.request, {
      state: 'open',
      closedAt: null,
      startedBy: null,
      left: null,
    })
    await erase(id)
    const { request, rest, certificates } = await certificate(id)
    assert.partialDeepStrictEqual(request, {
      ...{ requestId: id, kind: 'erasure', state: 'done', reference: 'DSR 7', receivedAt, left: 0 },
      startedBy: { kind: 'key', id: shop.keyId },
    })
    assert.deepEqual(rest, { ...whole, nextPlace: null })
    assert.deepEqual(
      certificates
        .map(({ entry, identifier, trackerName }) => [
          objectIn({ entry }, 'entry').kind,
          trackerName,
          identifier,
        ])
        .toSorted(),
      [
        ['erasure', 'blog', null],
        ['erasure', 'shop', null],
        ['nothing-held', null, 'userId'],
      ],
    )
    for (const each of certificates) {
      const verifierKeys = listIn(each, 'verifierKeys').map(String)
      const { index } = await verifyReceipt(textIn(each, 'receipt'), { verifierKeys })
      assert.equal(index, objectIn(each, 'entry').index)
    }
    assert.doesNotMatch(JSON.stringify([request, certificates]), /laptop|reader|ada@example|"42"/)
    const last = certificates.at(-1) ?? {}
    const own = dataOf(await client.ask(`/erasures/certificate?index=${objectIn(last, 'entry').index}`))
    assert.equal(own.identifier, 'userId', 'the entry says so too')
  })

  test('says how many records were excluded, and how many were not erased before it was cancelled', async () => {
    const identifiers = { email: 'ben@example.com' }
    await shop.ingest(['ben-1', 'ben-2'].flatMap((subject) => visit(subject, { identifiers })))
    const id = await create(identifiers)
    const ref = { organisationId, id }
    const by = { kind: 'command-line' } as const
    const excluded = { trackerId: 'shop', reason: 'A shared device', at: services.clock(), by }
    const digest = new Uint8Array(32)
    const told = note(shop, organisationId, 'request.record-excluded')
    assert.equal(await services.requestHandling.exclude(ref, excluded, [digest], told), 'excluded')
    await send(`/${id}/cancel`)
    const { request, rest, certificates } = await certificate(id)
    assert.partialDeepStrictEqual(request, { state: 'cancelled' })
    assert.deepEqual([certificates, rest.excluded], [[], 1])
  })

  test('comes in pages', async () => {
    const identifiers = { email: 'many@example.com' }
    await shop.ingest(Array.from({ length: 55 }, (_, i) => visit(`device-${i}`, { identifiers })).flat())
    const id = await create(identifiers)
    await erase(id)
    const first = await certificate(id)
    const second = await certificate(id, Number(first.rest.nextPlace))
    assert.deepEqual([first.certificates.length, second.certificates.length], [50, 5])
    assert.equal(second.rest.nextPlace, null)
    assert.deepEqual(problemFields(await client.ask(`/requests/${id}/certificate?after=x`)), ['after'])
  })

  test('is not there for another organisation, or without a request', async () => {
    const id = await create({ email: 'eva@example.com' })
    const stranger = await openConsole(shop, await shop.createOrganisation())
    for (const answer of [
      await stranger.ask(`/requests/${id}/certificate`),
      await client.ask('/requests/2f9c3f0e-6a1c-4b6e-9d57-1f6c1f2b9a11/certificate'),
      await client.ask('/requests/nothing/certificate'),
    ])
      errorOf(answer, 'not_found')
  })
})
