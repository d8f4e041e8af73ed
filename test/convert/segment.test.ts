import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { segment } from '../../src/convert/segment.ts'
import { convertFixture, convertToApi } from '../support/convert.ts'
import { convertRecords, type Fields } from '../support/convert-records.ts'

const visitor = '23adfd82-aa0f-45a7-a756-24f2a7a4c895'

describe('lethe convert segment', () => {
  it('converts an archive to subjects in the API', async (t) => {
    const { subjectIds, subject, lines } = await convertToApi(t, 'segment', [
      convertFixture('segment.jsonl.gz'),
    ])
    assert.deepEqual(subjectIds, [visitor, '42', 'old-41', 'phone-1'])
    assert.partialDeepStrictEqual(await subject(visitor), {
      identifiers: [
        { name: 'email', value: 'Ada@example.com' },
        { name: 'userId', value: '42' },
      ],
      sessions: [
        {
          startedAt: '2026-11-14T11:00:00.100Z',
          endedAt: '2026-11-14T11:10:00.100Z',
          // One of them was received after the next session had started.
          counts: { events: 6 },
          attributes: {
            language: 'de-DE',
            timezone: 'Europe/Berlin',
            source: 'newsletter',
            campaign: 'autumn',
          },
        },
        { startedAt: '2026-11-14T11:41:30.100Z', counts: { events: 1 } },
      ],
      events: [
        { eventId: 'ajs-next-1794646800000-01', name: 'page', properties: { name: 'Home', path: '/' } },
        { name: 'Product Added', properties: { sku: 'A-1', url: 'https://shop.acme.example/basket' } },
        { name: 'identify', properties: { traits: { email: 'Ada@example.com', name: 'Ada', plan: 'gold' } } },
        { name: 'group', properties: { groupId: 'acme-inc', traits: { email: 'office@acme.example' } } },
        { name: 'Coupon Entered' },
        { name: 'Order Completed' },
        { name: 'page' },
      ],
    })
    assert.partialDeepStrictEqual(await subject('42'), {
      identifiers: [{ name: 'userId', value: '42' }],
      events: [{ name: 'Invoice Sent', occurredAt: '2026-11-14T12:00:00.000Z' }],
    })
    assert.partialDeepStrictEqual(await subject('phone-1'), {
      sessions: [{ sessionId: '1794659400', attributes: { os: 'iOS', device: 'iPhone16,2', app: 'Acme' } }],
      events: [{ name: 'screen' }, { name: 'alias', properties: { previousId: 'old-41' } }],
    })
    assert.partialDeepStrictEqual(await subject('old-41'), { identifiers: [{ name: 'userId', value: '42' }] })
    assert.ok(!JSON.stringify(lines).includes('203.0.113.7'), 'addresses of visitors are not kept')
  })
})

describe('a call of Segment', () => {
  const good = { type: 'track', event: 'Go', anonymousId: 'a1', timestamp: '2026-11-14T09:00:00Z' }
  const eventOf = (fields: Fields) => convertRecords(segment, { ...good, ...fields }).events[0]

  it('has the earliest of its times', () => {
    const times = {
      timestamp: '2026-11-14T09:00:00Z',
      originalTimestamp: '2026-11-14T09:01:00Z',
      sentAt: '2026-11-14T09:02:00Z',
      receivedAt: '2026-11-14T09:03:00Z',
    }
    const left: Record<string, string | undefined> = { ...times }
    for (const [name, time] of Object.entries(times)) {
      assert.equal(eventOf({ timestamp: undefined, ...left })?.occurredAt, time.replace('Z', '.000Z'))
      left[name] = undefined
    }
  })

  it('has the session of its context or of the integration with Amplitude', () => {
    const amplitude = (id: unknown) => ({ integrations: { 'Actions Amplitude': { session_id: id } } })
    const sessionOf = (fields: Fields) => eventOf(fields)?.sessionId
    const derived = sessionOf({})
    assert.equal(sessionOf({ context: { sessionId: 17 }, ...amplitude(18) }), '17')
    assert.equal(sessionOf(amplitude(18)), '18')
    for (const none of [amplitude(-1), amplitude(null), { integrations: ['All'] }])
      assert.equal(sessionOf(none), derived)
  })

  it('keeps its own properties if they differ from those of its page', () => {
    const context = { page: { url: 'https://a.example/', title: 'A' } }
    assert.deepEqual(eventOf({ context, properties: { url: '/own', price: 1 } })?.properties, {
      ...{ url: '/own', title: 'A', price: 1 },
    })
  })

  it('does not use the address of a group for its visitor', () => {
    const group = { type: 'group', groupId: 'g1', userId: '42', traits: { email: 'office@x.example' } }
    assert.deepEqual(eventOf(group)?.identifiers, { userId: '42' })
    assert.deepEqual(eventOf({ ...group, context: { traits: { email: 'ada@x.example' } } })?.identifiers, {
      ...{ userId: '42', email: 'ada@x.example' },
    })
  })
})
