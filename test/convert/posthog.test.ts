import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { posthog } from '../../src/convert/posthog.ts'
import { converter, convertFixture, convertFixtureText, convertToApi, linesOf } from '../support/convert.ts'
import { convertRecords, type Fields } from '../support/convert-records.ts'

const anonymous = '0193279d-1b2c-7d3e-8f40-5a6b7c8d9e0f'
const visit = '0193279d-1b2d-7a11-9c22-3d4e5f607182'
const attributes = {
  ...{ country: 'DE', region: 'Land Berlin', city: 'Berlin' },
  ...{ browser: 'Firefox', os: 'Linux', device: 'Desktop', language: 'de-DE' },
}

describe('lethe convert posthog', { concurrency: true }, () => {
  it('converts a list of the API and a batch export to subjects in the API', async (t) => {
    const files = ['posthog-api.jsonl', 'posthog-batch.jsonl'].map(convertFixture)
    const { subjectIds, subject, lines } = await convertToApi(t, 'posthog', files)
    assert.deepEqual(subjectIds, [anonymous, '42', 'anon-2'])
    assert.partialDeepStrictEqual(await subject(anonymous), {
      counts: { sessions: 1, events: 2 },
      // From the sign-in, so that a search for the address finds this subject too.
      identifiers: [
        { name: 'email', value: 'Ada@example.com' },
        { name: 'userId', value: '42' },
      ],
      sessions: [
        {
          sessionId: visit,
          startedAt: '2026-11-14T09:00:00.123Z',
          endedAt: '2026-11-14T09:02:11.000Z',
          attributes,
        },
      ],
      events: [
        { name: '$pageview', properties: { $current_url: 'https://shop.acme.example/' } },
        {
          name: '$autocapture',
          properties: {
            $elements_chain: 'button.primary:attr_id="login"nth-child="1"nth-of-type="1"text="Log in"',
          },
        },
      ],
    })
    assert.partialDeepStrictEqual(await subject('42'), {
      counts: { sessions: 3, events: 4 },
      identifiers: [
        { name: 'email', value: 'Ada@example.com' },
        { name: 'personId', value: 'c0a80101-0000-5000-8000-000000000042' },
        { name: 'userId', value: '42' },
      ],
      events: [
        { name: '$identify', sessionId: visit },
        { name: 'basket viewed', properties: { basket: [{ sku: 'A-1', count: 2 }] } },
        { eventId: '01932c6f-4e5b-7000-8000-000000000005', occurredAt: '2026-11-15T07:30:00.250Z' },
        {
          name: 'order paid',
          occurredAt: '2026-11-15T08:00:00.000Z',
          properties: { $lib: 'posthog-node', $lib_version: '5.11.0', order: 'R-7', total: 41.5 },
        },
      ],
    })
    assert.partialDeepStrictEqual(await subject('anon-2'), {
      identifiers: [],
      events: [{ occurredAt: '2026-11-15T09:00:00.000Z' }],
    })
    const written = JSON.stringify(lines)
    for (const dropped of ['203.0.113.7', 'phc_fixture']) assert.ok(!written.includes(dropped), dropped)
  })

  it('also reads the responses of the API', async (t) => {
    const { convert, file } = converter(t)
    const text = convertFixtureText('posthog-api.jsonl')
    const results = text
      .trim()
      .split('\n')
      .map((line): unknown => JSON.parse(line))
    const response = file('response.json', JSON.stringify({ next: null, results }, null, 2))
    const fromResponse = linesOf(await convert('posthog', response))
    assert.deepEqual(fromResponse, linesOf(await convert('posthog', file('lines', text))))
    assert.equal(fromResponse.filter(({ type }) => type === 'event').length, 4)
  })
})

describe('the address of a person in PostHog', () => {
  const at = '2026-11-14T09:00:00Z'
  const identifiersOf = (fields: Fields) =>
    convertRecords(posthog, { distinct_id: 'ada', event: 'go', timestamp: at, ...fields }).events[0]
      ?.identifiers

  it('is the one set by the event, or otherwise the one of the person', () => {
    const [set, once, stored, listed] = ['a@x.example', 'b@x.example', 'c@x.example', 'd@x.example']
    const properties = { $set: { email: set }, $set_once: { email: once } }
    const person = { properties: { email: listed } }
    const all = { properties, person_properties: JSON.stringify({ email: stored }), person }
    assert.deepEqual(identifiersOf(all), { email: set })
    assert.deepEqual(identifiersOf({ ...all, properties: { $set_once: { email: once } } }), { email: once })
    assert.deepEqual(identifiersOf({ ...all, properties: {} }), { email: stored })
    assert.deepEqual(identifiersOf({ person }), { email: listed })
  })

  it('is not read from the properties of an event, which may have the address of someone else', () => {
    assert.equal(identifiersOf({ properties: { email: 'friend@x.example' } }), undefined)
  })
})
