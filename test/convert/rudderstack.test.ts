import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { rudderstack } from '../../src/convert/rudderstack.ts'
import { convertFixture, convertToApi } from '../support/convert.ts'
import { convertRecords, type Fields } from '../support/convert-records.ts'

const visitor = '3f0c1b9e-5d7a-4e7b-9a52-0c7a1f2e3d4c'

describe('lethe convert rudderstack', () => {
  it('converts an archive and rows of a warehouse to subjects in the API', async (t) => {
    const files = ['rudderstack.jsonl', 'rudderstack-warehouse.jsonl'].map(convertFixture)
    const { subjectIds, subject, lines } = await convertToApi(t, 'rudderstack', files)
    assert.deepEqual(subjectIds, [visitor, '42'])
    const traits = { email: 'Ada@example.com', name: 'Ada' }
    assert.partialDeepStrictEqual(await subject(visitor), {
      identifiers: [
        { name: 'email', value: 'Ada@example.com' },
        { name: 'userId', value: '42' },
      ],
      sessions: [
        { sessionId: '1794657600000', counts: { events: 3 }, attributes: { language: 'de-DE' } },
        {
          sessionId: '1794729600000',
          startedAt: '2026-11-15T08:00:00.000Z',
          endedAt: '2026-11-15T08:02:00.000Z',
          counts: { events: 3 },
        },
      ],
      events: [
        { name: 'page', properties: { name: 'Home' } },
        { name: 'identify', properties: { traits } },
        { name: 'Order Completed', properties: { order_id: 'R-7', total: 41.5 } },
        { eventId: '7b2f6a0e-0000-4000-8000-000000000005', name: 'page', properties: { path: '/orders' } },
        { name: 'Order Opened', occurredAt: '2026-11-15T08:01:00.500Z', properties: { order_id: 'R-7' } },
        { name: 'identify', properties: { traits: { ...traits, plan: 'gold' } } },
      ],
    })
    assert.partialDeepStrictEqual(await subject('42'), {
      identifiers: [{ name: 'userId', value: '42' }],
      events: [{ name: 'Invoice Sent', occurredAt: '2026-11-14T11:30:00.500Z' }],
    })
    const written = JSON.stringify(lines)
    for (const address of ['203.0.113.7', '198.51.100.4']) assert.ok(!written.includes(address), address)
  })
})

describe('a row of a RudderStack table', () => {
  const common = { id: 'm1', anonymous_id: 'a1', timestamp: '2026-11-14 09:00:00 UTC' }
  const eventOf = (fields: Fields) => convertRecords(rudderstack, { ...common, ...fields }).events[0]

  it('has the type of call that its columns suggest', () => {
    for (const [columns, name] of [
      [{ event: 'order_done', event_text: 'Order Done' }, 'Order Done'],
      [{ event: 'order_done' }, 'order_done'],
      [{ previous_id: 'b' }, 'alias'],
      [{ group_id: 'g1' }, 'group'],
      [{ url: 'https://a.example/' }, 'page'],
      [{ path: '/' }, 'page'],
      [{ plan: 'gold' }, 'identify'],
      [{ type: 'screen', name: 'Start' }, 'screen'],
    ] as const)
      assert.equal(eventOf(columns)?.name, name)
  })

  it('has its own columns as properties, or as traits', () => {
    const transport = {
      channel: 'web',
      uuid_ts: 'x',
      loaded_at: 'x',
      context_ip: '203.0.113.7',
      sent_at: 'x',
    }
    assert.deepEqual(eventOf({ ...transport, event: 'go', price: 2 })?.properties, { price: 2 })
    assert.deepEqual(eventOf({ ...transport, plan: 'gold' })?.properties, { traits: { plan: 'gold' } })
    assert.deepEqual(eventOf({ ...transport, group_id: 'g', plan: 'gold' })?.properties, {
      groupId: 'g',
      traits: { plan: 'gold' },
    })
  })
})
