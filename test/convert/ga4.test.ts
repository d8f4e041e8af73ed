import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { ga4 } from '../../src/convert/ga4.ts'
import { convertFixture, convertToApi } from '../support/convert.ts'
import { convertRecords, type Fields } from '../support/convert-records.ts'

describe('lethe convert ga4', () => {
  it('converts rows of BigQuery to subjects in the API', async (t) => {
    const { subjectIds, subject } = await convertToApi(t, 'ga4', [convertFixture('ga4.jsonl')])
    assert.deepEqual(subjectIds, ['1409732612.1794650400'])
    assert.partialDeepStrictEqual(await subject('1409732612.1794650400'), {
      identifiers: [{ name: 'userId', value: '42' }],
      sessions: [
        {
          sessionId: '1794650400',
          startedAt: '2026-11-14T10:00:00.000Z',
          endedAt: '2026-11-14T10:06:30.000Z',
          counts: { events: 4 },
          attributes: {
            ...{ country: 'Germany', region: 'Berlin', city: 'Berlin' },
            ...{ browser: 'Firefox', os: 'Linux', device: 'desktop', language: 'de-de' },
            ...{ source: 'newsletter', medium: 'email', campaign: 'autumn' },
            ...{ firstSource: 'search', firstMedium: 'organic', firstCampaign: '(organic)' },
          },
        },
        { sessionId: '1794729600', counts: { events: 1 }, attributes: { city: 'Potsdam' } },
      ],
      events: [
        { name: 'session_start' },
        {
          name: 'page_view',
          properties: { page_location: 'https://shop.acme.example/', page_title: 'Acme' },
        },
        {
          name: 'login',
          properties: { method: 'password', user_properties: { plan: 'gold' }, platform: 'WEB' },
        },
        {
          name: 'purchase',
          occurredAt: '2026-11-14T10:06:30.000Z',
          properties: {
            ...{ ga_session_number: 1, currency: 'EUR', value: 41.5, coupon_rate: 0.1 },
            items: [{ item_id: 'A-1', quantity: '2' }],
            ecommerce: { purchase_revenue: 41.5 },
          },
        },
        { name: 'page_view', occurredAt: '2026-11-15T08:00:00.000Z' },
      ],
    })
  })
})

describe('a row of Google Analytics 4', () => {
  const good = { event_name: 'click', event_timestamp: '1794650400000999', user_pseudo_id: '14.17' }
  const eventOf = (fields: Fields) => convertRecords(ga4, { ...good, ...fields }).events[0]

  it('has its time in microseconds, as text or number', () => {
    const expected = '2026-11-14T10:00:00.000Z'
    assert.equal(eventOf({})?.occurredAt, expected)
    assert.equal(eventOf({ event_timestamp: 1794650400000999 })?.occurredAt, expected)
  })

  it('is distinguished from others of its batch by its position', () => {
    const position = { event_bundle_sequence_id: '7', batch_page_id: '8', batch_ordering_id: '1' }
    const idOf = (fields: Fields) => eventOf({ ...position, ...fields })?.eventId
    const first = idOf({ batch_event_index: '1' })
    assert.equal(typeof first, 'string')
    assert.equal(idOf({ batch_event_index: 1 }), first)
    for (const other of [{ batch_event_index: '2' }, { batch_event_index: '1', batch_ordering_id: '2' }])
      assert.notEqual(idOf(other), first)
    // The import derives it from the content.
    assert.equal(idOf({}), undefined)
  })

  it('has parameters of four types, where integers may be text', () => {
    const values = {
      small: { int_value: '-5' },
      large: { int_value: '9007199254740993' },
      number: { int_value: 7 },
      text: { string_value: '7', int_value: null },
      double: { double_value: 0.5 },
      float: { float_value: 0.25 },
      none: {},
    }
    const parameters = Object.entries(values).map(([key, value]) => ({ key, value }))
    assert.deepEqual(
      eventOf({ event_params: [...parameters, { key: '__proto__', value: { int_value: 1 } }] })?.properties,
      {
        ...{
          small: -5,
          large: '9007199254740993',
          number: 7,
          text: '7',
          double: 0.5,
          float: 0.25,
          none: null,
        },
        ['__proto__']: 1,
      },
    )
  })

  it('belongs to the user if the visitor has no other ID', () => {
    const event = eventOf({ user_pseudo_id: null, user_id: '42' })
    assert.partialDeepStrictEqual(event, { subjectId: '42', identifiers: { userId: '42' } })
  })
})
