import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Format } from '../../src/convert/format.ts'
import { ga4 } from '../../src/convert/ga4.ts'
import { posthog } from '../../src/convert/posthog.ts'
import { rudderstack } from '../../src/convert/rudderstack.ts'
import { segment } from '../../src/convert/segment.ts'
import { snowplow } from '../../src/convert/snowplow.ts'
import { snowplowColumns } from '../../src/convert/snowplow-columns.ts'
import { identifierRule } from '../../src/domain/identifier.ts'
import { convertRecords, convertTexts, type Fields } from '../support/convert-records.ts'

const tooLong = 'x'.repeat(257)
const withNul = 'a\u0000b'
const at = '2026-11-14T09:00:00Z'

function nested(levels: number): unknown {
  let value: unknown = 1
  for (let level = 0; level < levels; level++) value = { inner: value }
  return value
}

/** Changes to a good record, and the reason why the result cannot be used. */
type BadRecords = Readonly<Record<string, readonly [changes: Fields, reason: string]>>

interface Table {
  format: Format
  good: Fields
  bad: BadRecords
}

const tables: readonly Table[] = [
  {
    format: posthog,
    good: {
      uuid: 'e1',
      distinct_id: 'ada',
      event: '$pageview',
      timestamp: at,
      properties: { $session_id: 's1' },
    },
    bad: {
      'no visitor': [{ distinct_id: undefined }, 'distinct_id is missing'],
      'a visitor that is an object': [{ distinct_id: { id: 1 } }, 'distinct_id is missing'],
      'a visitor whose ID is too long': [{ distinct_id: tooLong }, `subjectId must be ${identifierRule}`],
      'a visitor whose ID has a NUL byte': [{ distinct_id: withNul }, `subjectId must be ${identifierRule}`],
      'a session whose ID is too long': [
        { properties: { $session_id: tooLong } },
        `sessionId must be ${identifierRule}`,
      ],
      'an ID that is too long': [{ uuid: tooLong }, `eventId must be ${identifierRule}`],
      'no name': [{ event: null }, 'event is missing'],
      'a name that is too long': [{ event: tooLong }, `name must be ${identifierRule}`],
      'no time': [{ timestamp: null }, 'timestamp is missing'],
      'an invalid time': [{ timestamp: 'yesterday' }, 'timestamp is not a time'],
      'a day that does not exist': [{ timestamp: '2026-02-30 09:00:00' }, 'timestamp is not a time'],
      'a number as its time': [{ timestamp: 1794646800 }, 'timestamp is not a time'],
      'a list as its properties': [{ properties: [1] }, 'properties is not an object'],
      'properties that are not JSON': [{ properties: '{"a":' }, 'properties is not an object'],
      'properties that are nested too deeply': [
        { properties: { deep: nested(100) } },
        'properties is nested deeper than 100 levels',
      ],
      'a person that is a list': [{ person: [] }, 'person is not an object'],
      'a line that would be too long': [
        { properties: { long: '\u0001'.repeat(50_000) } },
        'its line would be longer than 256 KiB (LETHE_MAX_LINE_KIB)',
      ],
    },
  },
  {
    format: ga4,
    good: {
      event_name: 'login',
      event_timestamp: '1794650400000456',
      user_pseudo_id: '14.17',
      event_params: [],
    },
    bad: {
      'no visitor': [{ user_pseudo_id: null }, 'user_pseudo_id is missing'],
      'a visitor whose ID is too long': [{ user_pseudo_id: tooLong }, `subjectId must be ${identifierRule}`],
      'no name': [{ event_name: '' }, 'event_name is missing'],
      'a name with a NUL byte': [{ event_name: withNul }, `name must be ${identifierRule}`],
      'no time': [{ event_timestamp: undefined }, 'event_timestamp is missing'],
      'a date as its time': [{ event_timestamp: '2026-11-14' }, 'event_timestamp is not a time'],
      'a time after the year 9999': [{ event_timestamp: 1e300 }, 'event_timestamp is not a time'],
      'an object as its parameters': [{ event_params: {} }, 'event_params is not a list'],
      'a parameter that is a text': [
        { event_params: ['a'] },
        'event_params has an entry that is not an object',
      ],
      'a parameter without a key': [{ event_params: [{ value: {} }] }, 'a key in event_params is missing'],
      'a parameter whose value is a list': [
        { event_params: [{ key: 'a', value: [] }] },
        'a value in event_params is not an object',
      ],
      'a session whose ID is too long': [
        { event_params: [{ key: 'ga_session_id', value: { string_value: tooLong } }] },
        `sessionId must be ${identifierRule}`,
      ],
      'items that are nested too deeply': [
        { items: [nested(100)] },
        'properties is nested deeper than 100 levels',
      ],
      'a device that is a list': [{ device: [] }, 'device is not an object'],
    },
  },
  ...[segment, rudderstack].map((format) => ({
    format,
    good: { type: 'track', event: 'Ordered', anonymousId: 'a1', messageId: 'm1', timestamp: at, context: {} },
    bad: {
      'no visitor': [{ anonymousId: null, userId: '' }, 'anonymousId is missing'],
      'a visitor whose ID is too long': [{ anonymousId: tooLong }, `subjectId must be ${identifierRule}`],
      'a visitor whose ID has a NUL byte': [{ anonymousId: withNul }, `subjectId must be ${identifierRule}`],
      'an unknown type': [{ type: 'delete' }, 'type is none of track, page, screen, identify, group, alias'],
      'no name': [{ event: undefined }, 'event is missing'],
      'a name that is an object': [{ event: {} }, 'event is missing'],
      'a name that is too long': [{ event: tooLong }, `name must be ${identifierRule}`],
      'an ID with a NUL byte': [{ messageId: withNul }, `eventId must be ${identifierRule}`],
      'no time': [{ timestamp: undefined }, 'timestamp is missing'],
      'an invalid time': [{ timestamp: '14.11.2026' }, 'timestamp is not a time'],
      'a context that is a text': [{ context: 'web' }, 'context is not an object'],
      'properties that are a list': [{ properties: [] }, 'properties is not an object'],
      'properties that are nested too deeply': [
        { properties: { deep: nested(100) } },
        'properties is nested deeper than 100 levels',
      ],
      'a session whose ID is too long': [
        { context: { sessionId: tooLong } },
        `sessionId must be ${identifierRule}`,
      ],
    } satisfies BadRecords,
  })),
]

for (const { format, good, bad } of tables) {
  describe(`converting from ${format.name}`, () => {
    it('uses the unchanged record', () => {
      assert.deepEqual(convertRecords(format, good).reasons, [null])
    })

    for (const [what, [changes, reason]] of Object.entries(bad)) {
      it(`counts a record with ${what}, and continues`, () => {
        const { reasons, events, summary } = convertRecords(format, { ...good, ...changes }, good)
        assert.deepEqual(reasons, [reason, null])
        assert.equal(events.length, 1)
        assert.equal(summary.unusable, 1)
      })
    }
  })
}

describe('a number that would get other digits, or is too large,', () => {
  const inexact = 'has an integer that is too large to be exact; write it as text'
  const withText = (record: Fields, text: string) => JSON.stringify(record).replace('"NUMBER"', text)

  for (const { format, good } of tables) {
    it(`makes a record of ${format.name} unusable`, () => {
      const record = { ...good, other: ['NUMBER'] }
      const texts = ['1234567890123456781', '1e400', '1234567890123456800', '"1234567890123456781"']
      const { reasons } = convertTexts(
        format,
        texts.map((text) => withText(record, text)),
      )
      assert.deepEqual(reasons, [`it ${inexact}`, 'it has a number that is too large', null, null])
    })
  }

  it('makes a record unusable if it is in a text that is JSON', () => {
    const [posthogTable] = tables
    const properties = '{"$session_id":"s1","order":1234567890123456781}'
    const { reasons } = convertRecords(posthog, { ...posthogTable?.good, properties })
    assert.deepEqual(reasons, [`properties ${inexact}`])
  })
})

describe('converting from snowplow', () => {
  const good = { event: 'page_view', event_id: 'e1', collector_tstamp: at, domain_userid: 'ada' }
  const bad: BadRecords = {
    'no visitor': [{ domain_userid: '' }, 'domain_userid is missing'],
    'a visitor whose ID is too long': [{ domain_userid: tooLong }, `subjectId must be ${identifierRule}`],
    'a visitor whose ID has a NUL byte': [{ domain_userid: withNul }, `subjectId must be ${identifierRule}`],
    'a session whose ID is too long': [{ domain_sessionid: tooLong }, `sessionId must be ${identifierRule}`],
    'an ID that is too long': [{ event_id: tooLong }, `eventId must be ${identifierRule}`],
    'no name': [{ event: '' }, 'event_name is missing'],
    'a name with a NUL byte': [{ event_name: withNul }, `name must be ${identifierRule}`],
    'no time': [{ collector_tstamp: '' }, 'derived_tstamp is missing'],
    'an invalid time': [{ derived_tstamp: 'soon' }, 'derived_tstamp is not a time'],
    'a number in a document that would get other digits': [
      { unstruct_event: '{"data":{"order":1234567890123456781}}' },
      'unstruct_event has an integer that is too large to be exact; write it as text',
    ],
    'contexts that are nested too deeply': [
      { contexts: JSON.stringify(nested(101)) },
      'properties is nested deeper than 100 levels',
    ],
  }

  for (const [what, [changes, reason]] of Object.entries(bad)) {
    it(`counts a record with ${what}, and continues`, () => {
      const { reasons, events } = convertTexts(snowplow, [tsv({ ...good, ...changes }), tsv(good)])
      assert.deepEqual(reasons, [reason, null])
      assert.equal(events.length, 1)
    })
  }

  it('counts records with too few and too many columns', () => {
    const line = tsv(good)
    const { reasons } = convertTexts(snowplow, [line.slice(0, -1), `${line}\t`, '', line])
    const reason = 'it does not have 131 columns'
    assert.deepEqual(reasons, [reason, reason, reason, null])
  })

  it('keeps documents that are not JSON as text', () => {
    const { events } = convertTexts(snowplow, [
      tsv({ ...good, unstruct_event: '{"schema":', se_value: '1e3' }),
    ])
    assert.deepEqual(events[0]?.properties, { se_value: '1e3', unstruct_event: '{"schema":' })
  })
})

describe('identifiers of a converted record', () => {
  const call = { type: 'identify', anonymousId: 'a1', timestamp: at, userId: '42' }
  const identifiersIn = (changes: Fields) =>
    convertRecords(segment, { ...call, ...changes }).events[0]?.identifiers

  it('are omitted if they are invalid, and the record is used', () => {
    for (const email of [tooLong, withNul, '', {}, ['ada@example.com'], true]) {
      assert.deepEqual(identifiersIn({ traits: { email } }), { userId: '42' })
    }
    assert.equal(identifiersIn({ userId: withNul }), undefined)
  })

  it('are limited in number', () => {
    const many = Object.fromEntries(
      Array.from({ length: 40 }, (_, index) => [`email${index}`, `${index}@x.example`]),
    )
    assert.deepEqual(identifiersIn({ traits: { ...many, email: 'ada@example.com' } }), {
      userId: '42',
      email: 'ada@example.com',
    })
  })

  it('include an address if the ID of the user is one', () => {
    assert.deepEqual(identifiersIn({ userId: 'ada@example.com' }), { email: 'ada@example.com' })
  })
})

function tsv(columns: Fields): string {
  return snowplowColumns.map((name) => columns[name] ?? '').join('\t')
}
