import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { snowplowColumns } from '../../src/convert/snowplow-columns.ts'
import { convertFixture, convertToApi } from '../support/convert.ts'

describe('lethe convert snowplow', () => {
  it('converts enriched events to subjects in the API', async (t) => {
    const { subjectIds, subject, lines } = await convertToApi(t, 'snowplow', [convertFixture('snowplow.tsv')])
    const [server = '', visitor = ''] = subjectIds
    assert.deepEqual(subjectIds, [
      '5beb1f92-d4fb-4020-905c-f659929c8ab5',
      '8c9104e3-c300-4b20-82f2-93b7fa0b8feb',
    ])
    assert.partialDeepStrictEqual(await subject(visitor), {
      identifiers: [{ name: 'userId', value: '42' }],
      sessions: [
        {
          sessionId: 'd3a2c5b1-06a4-4f1e-9d7f-2b8c4e6f0a1b',
          startedAt: '2026-11-14T13:00:00.200Z',
          endedAt: '2026-11-14T13:03:00.200Z',
          attributes: {
            ...{ country: 'DE', region: 'Land Berlin', city: 'Berlin' },
            ...{ browser: 'Firefox', os: 'Linux', device: 'Computer', language: 'de-DE' },
            ...{ source: 'newsletter', medium: 'email', campaign: 'autumn' },
          },
        },
      ],
      events: [
        {
          eventId: 'c6ef3124-b53a-4b13-a233-0088f79dcb01',
          name: 'page_view',
          properties: {
            page_url: 'https://shop.acme.example/',
            contexts: [{ data: { id: 'a86c42e5-b831-45c8-b706-e214c26b4b3d' } }],
          },
        },
        { name: 'page_ping', properties: { pp_yoffset_min: 0, pp_yoffset_max: 420 } },
        {
          name: 'add-to-basket',
          properties: {
            se_category: 'checkout',
            se_action: 'add-to-basket',
            se_label: 'A-1',
            se_value: 20.75,
          },
        },
        {
          name: 'link_click',
          properties: { unstruct_event: { data: { targetUrl: 'https://pay.example/R-7' } } },
        },
      ],
    })
    assert.partialDeepStrictEqual(await subject(server), {
      identifiers: [{ name: 'userId', value: '42' }],
      counts: { sessions: 1, events: 1 },
      events: [{ name: 'invoice-sent', occurredAt: '2026-11-14T14:00:00.000Z' }],
    })
    assert.ok(!JSON.stringify(lines).includes('203.0.113.7'), 'addresses of visitors are not kept')
  })
})

describe('the columns of an enriched event of Snowplow', () => {
  it('are 131, at their documented positions', () => {
    assert.equal(snowplowColumns.length, 131)
    const positions = {
      ...{ app_id: 0, event_id: 6, user_id: 12, domain_userid: 15, network_userid: 17, geo_country: 18 },
      ...{ page_url: 29, mkt_medium: 47, contexts: 52, se_category: 53, unstruct_event: 58, tr_orderid: 59 },
      ...{
        useragent: 77,
        br_cookies: 93,
        os_name: 97,
        doc_height: 107,
        etl_tags: 118,
        derived_contexts: 122,
      },
      ...{ domain_sessionid: 123, derived_tstamp: 124, event_name: 126, true_tstamp: 130 },
    }
    for (const [name, position] of Object.entries(positions))
      assert.equal(snowplowColumns.indexOf(name), position, name)
  })
})
