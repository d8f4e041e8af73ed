import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { type IncomingRow, InvalidLine, parseImportLine } from '../../src/domain/ingest.ts'

const session = {
  type: 'session',
  trackerId: 'shop',
  subjectId: 'anna',
  sessionId: 's1',
  startedAt: '1970-01-01T00:00:01Z',
  endedAt: '1970-01-01T00:00:02Z',
}
const event = {
  type: 'event',
  trackerId: 'shop',
  subjectId: 'anna',
  sessionId: 's1',
  eventId: 'e1',
  name: 'pageview',
  occurredAt: '1970-01-01T00:00:01Z',
}
const { eventId: _eventId, ...eventWithoutId } = event
const { trackerId: _trackerId, ...eventWithoutTracker } = event

function parse(fields: unknown, defaultTrackerId?: string): IncomingRow {
  return parseText(JSON.stringify(fields), defaultTrackerId)
}

function parseText(line: string, defaultTrackerId?: string): IncomingRow {
  const row = parseImportLine(line, defaultTrackerId)
  assert.ok(row, 'passed over')
  return row
}

function derivedId(line: string, defaultTrackerId?: string): string {
  const row = parseText(line, defaultTrackerId)
  assert.equal(row.type, 'event')
  return row.type === 'event' ? row.eventId : ''
}

describe('a line is read', () => {
  it('as a session', () => {
    assert.deepEqual(parse({ ...session, attributes: { country: 'DE', screen: [1, 2] } }), {
      ...session,
      startedAt: 1_000,
      endedAt: 2_000,
      attributes: { country: 'DE', screen: [1, 2] },
    })
  })

  it('as a session that ends when it starts if it has no end', () => {
    const { endedAt: _endedAt, ...open } = session
    assert.deepEqual(parse(open), { ...session, startedAt: 1_000, endedAt: 1_000, attributes: {} })
  })

  it('as an event', () => {
    assert.deepEqual(parse({ ...event, properties: { url: '/' } }), {
      ...event,
      occurredAt: 1_000,
      properties: { url: '/' },
    })
  })

  it('as an event without properties', () => {
    assert.deepEqual(parse(event), { ...event, occurredAt: 1_000, properties: {} })
  })

  it('with surrounding spaces and a carriage return', () => {
    const row = parseText(`  ${JSON.stringify(event)} \r`)
    assert.equal(row.subjectId, 'anna')
  })

  it('and skipped if it is the record of an export, which still needs a subject', () => {
    const record = {
      type: 'subject',
      trackerId: 'shop',
      subjectId: 'anna',
      counts: { sessions: 1, events: 1 },
    }
    assert.equal(parseImportLine(JSON.stringify(record)), null)
    assert.throws(() => parse({ ...record, subjectId: undefined }), /subjectId is missing/)
  })

  it('with null for optional fields', () => {
    assert.deepEqual(parse({ ...event, properties: null }), { ...event, occurredAt: 1_000, properties: {} })
    const { eventId, ...withoutId } = event
    assert.notEqual(eventId, undefined)
    assert.deepEqual(parse({ ...withoutId, eventId: null }), parse(withoutId))
    assert.deepEqual(
      parse({ ...session, attributes: null, endedAt: null }),
      parse({ ...session, attributes: {}, endedAt: undefined }),
    )
  })

  it('with unknown fields, which are dropped', () => {
    assert.deepEqual(parse({ ...event, extra: 1 }), { ...event, occurredAt: 1_000, properties: {} })
  })

  it('with the default tracker if it has none', () => {
    assert.equal(parse(eventWithoutTracker, 'blog').trackerId, 'blog')
  })

  it('with its own tracker if it has one', () => {
    assert.equal(parse(event, 'blog').trackerId, 'shop')
  })

  it('with properties named like members of Object.prototype, unchanged', () => {
    const row = parseText(
      JSON.stringify(event).replace('}', ',"properties":{"__proto__":{"a":1},"toString":2}}'),
    )
    assert.equal(JSON.stringify(row.type === 'event' && row.properties), '{"__proto__":{"a":1},"toString":2}')
  })
})

describe('the identifiers of a line', () => {
  it('are read for sessions and events, and omitted if they are null or empty', () => {
    const identifiers = { email: 'Ada@Example.com', userId: '42' }
    for (const line of [session, event]) {
      assert.deepEqual(parse({ ...line, identifiers }).identifiers, identifiers)
      assert.deepEqual(
        parse({ ...line, identifiers: { ...identifiers, other: null } }).identifiers,
        identifiers,
      )
      for (const none of [null, {}, { email: null }]) {
        assert.deepEqual(parse({ ...line, identifiers: none }), parse(line))
      }
    }
  })

  it('do not affect the derived ID of an event', () => {
    const named = { ...eventWithoutId, identifiers: { userId: '42' } }
    assert.equal(derivedId(JSON.stringify(named)), derivedId(JSON.stringify(eventWithoutId)))
  })

  const seventeen = Object.fromEntries(Array.from({ length: 17 }, (_, i) => [`name${i}`, 'x']))
  const bad: [what: string, identifiers: unknown, reason: RegExp][] = [
    ['no object', 'ada@example.com', /^identifiers must be an object$/],
    ['a list', ['ada@example.com'], /^identifiers must be an object$/],
    ['more than sixteen', seventeen, /^a line has at most 16 identifiers$/],
    ...['Email', 'e-mail', '', '1st', 'ä', 'x'.repeat(33)].map((name): [string, unknown, RegExp] => [
      `the name "${name}"`,
      { [name]: 'x' },
      /^the names in identifiers must be a small letter, then up to 31/,
    ]),
    ...[7, '', 'a\nb', '\ud800', 'x'.repeat(257), {}].map((value): [string, unknown, RegExp] => [
      `the value ${JSON.stringify(value).slice(0, 20)}`,
      { email: value },
      /^the values in identifiers must be texts of 1 to 256 characters, no control characters$/,
    ]),
  ]
  for (const [what, identifiers, reason] of bad) {
    it(`make the line bad without being quoted: ${what}`, () => {
      const isSo = (error: unknown) => error instanceof InvalidLine && reason.test(error.message)
      assert.throws(() => parse({ ...event, identifiers }), isSo)
    })
  }

  it('may have sixteen names of 32 characters, and values of 256', () => {
    const names = Array.from({ length: 16 }, (_, i) => `${'n'.repeat(30)}${10 + i}`)
    const identifiers = Object.fromEntries(names.map((name) => [name, '🦦'.repeat(256)]))
    assert.deepEqual(parse({ ...event, identifiers }).identifiers, identifiers)
  })
})

describe('a line is bad', () => {
  const idRule = '1 to 256 characters, no control characters, not "." or ".."'
  const instantRule = 'an ISO 8601 instant with a time zone, such as 2026-01-31T12:00:00Z'
  const bad: [what: string, line: string | object, reason: string][] = [
    ['if it is not JSON', '{"type":', 'not JSON'],
    ['if it is two objects', '{}{}', 'not JSON'],
    ['if it is null', 'null', 'not a JSON object'],
    ['if it is an array', '[]', 'not a JSON object'],
    ['if it is text', '"event"', 'not a JSON object'],
    ['if it is a number', '7', 'not a JSON object'],
    ['without a type', {}, 'type must be "session" or "event"'],
    ['with another type', { ...event, type: 'click' }, 'type must be "session" or "event"'],
    ['without a tracker', eventWithoutTracker, 'trackerId is missing'],
    ['without a subject', { ...event, subjectId: undefined }, 'subjectId is missing'],
    ['without a session', { ...event, sessionId: undefined }, 'sessionId is missing'],
    ['with an empty subject', { ...event, subjectId: '' }, `subjectId must be ${idRule}`],
    ['with a number for a subject', { ...event, subjectId: 7 }, `subjectId must be ${idRule}`],
    ['with null for a subject', { ...event, subjectId: null }, `subjectId must be ${idRule}`],
    ['with a control character', { ...event, sessionId: 'a\u0000b' }, `sessionId must be ${idRule}`],
    ['with half a character', '{"type":"event","trackerId":"\\ud800"}', `trackerId must be ${idRule}`],
    ['with a subject too long', { ...event, subjectId: 'a'.repeat(257) }, `subjectId must be ${idRule}`],
    ['with an invalid event ID', { ...event, eventId: '..' }, `eventId must be ${idRule}`],
    ['with an event without a name', { ...event, name: undefined }, 'name is missing'],
    ['with an event with an empty name', { ...event, name: '' }, `name must be ${idRule}`],
    ['with an event without a time', { ...event, occurredAt: undefined }, 'occurredAt is missing'],
    [
      'with an event at an invalid time',
      { ...event, occurredAt: 'now' },
      `occurredAt must be ${instantRule}`,
    ],
    ['with an event at a number', { ...event, occurredAt: 0 }, `occurredAt must be ${instantRule}`],
    ['with a session without a start', { ...session, startedAt: undefined }, 'startedAt is missing'],
    ['with a session with an invalid end', { ...session, endedAt: '2026' }, `endedAt must be ${instantRule}`],
    [
      'with a session that ends before it starts',
      { ...session, endedAt: '1970-01-01T00:00:00.999Z' },
      'endedAt lies before startedAt',
    ],
    ['with attributes in an array', { ...session, attributes: [] }, 'attributes must be an object'],
    ['with text for properties', { ...event, properties: 'x' }, 'properties must be an object'],
  ]
  for (const [what, line, reason] of bad) {
    it(what, () => {
      const text = typeof line === 'string' ? line : JSON.stringify(line)
      assert.throws(() => parseImportLine(text), new InvalidLine(reason))
    })
  }

  const inexact = 'has an integer that is too large to be exact; write it as text'
  const withNumber = (fields: object, field: string, number: string) =>
    JSON.stringify({ ...fields, [field]: { a: ['NUMBER'] } }).replace('"NUMBER"', number)
  for (const [fields, field] of [
    [event, 'properties'],
    [session, 'attributes'],
  ] as const) {
    it(`with a number in ${field} that would get other digits`, () => {
      for (const [number, reason] of [
        ['1234567890123456781', inexact],
        ['-9007199254740993', inexact],
        ['1e400', 'has a number that is too large'],
      ] as const) {
        const line = withNumber(fields, field, number)
        assert.throws(() => parseImportLine(line), new InvalidLine(`${field} ${reason}`))
      }
    })

    it(`but not with a large number in ${field} that keeps its digits, nor with any in other fields`, () => {
      for (const number of ['1234567890123456800', '1e300', '0.30000000000000004', '"1234567890123456781"'])
        assert.ok(parseImportLine(withNumber(fields, field, number)))
      const elsewhere = withNumber({ ...fields, [field]: { a: 1e20 } }, 'other', '1234567890123456781')
      assert.ok(parseImportLine(elsewhere))
    })
  }

  it('with properties that are nested too deeply', () => {
    const deep = '['.repeat(50_000) + ']'.repeat(50_000)
    for (const fields of [event, eventWithoutId]) {
      const line = JSON.stringify(fields).replace('}', `,"properties":{"a":${deep}}}`)
      assert.throws(() => parseImportLine(line), InvalidLine)
    }
  })
})

describe('the derived ID of an event', () => {
  const line = JSON.stringify({ ...eventWithoutId, properties: { a: 1, b: { c: [1, 2], d: 'x' } } })

  it('is a valid ID', () => assert.match(derivedId(line), /^[0-9A-Za-z_-]{22}$/))

  it('is the same every time', () => assert.equal(derivedId(line), derivedId(line)))

  it('does not depend on the order of fields', () => {
    const turned = JSON.stringify({
      properties: { b: { d: 'x', c: [1, 2] }, a: 1 },
      ...Object.fromEntries(Object.entries(eventWithoutId).reverse()),
    })
    assert.notEqual(turned, line)
    assert.equal(derivedId(turned), derivedId(line))
  })

  it('does not depend on the notation of the time', () => {
    const elsewhere = line.replace('1970-01-01T00:00:01Z', '1970-01-01T02:00:01.000+02:00')
    assert.notEqual(elsewhere, line)
    assert.equal(derivedId(elsewhere), derivedId(line))
  })

  it('does not depend on where the tracker is given', () => {
    assert.equal(derivedId(line.replace('"trackerId":"shop",', ''), 'shop'), derivedId(line))
  })

  it('depends on everything about the event', () => {
    const changes: [from: string, to: string][] = [
      ['shop', 'blog'],
      ['anna', 'anne'],
      ['"s1"', '"s2"'],
      ['pageview', 'click'],
      ['00:00:01Z', '00:00:01.001Z'],
      ['"a":1', '"a":"1"'],
      ['"a":1', '"a":2'],
      ['[1,2]', '[2,1]'],
      ['[1,2]', '{"0":1,"1":2}'],
      ['"d":"x"', '"e":"x"'],
    ]
    const ids = changes.map(([from, to]) => {
      assert.ok(line.includes(from), from)
      return derivedId(line.replace(from, to))
    })
    assert.equal(new Set([derivedId(line), ...ids]).size, changes.length + 1)
  })
})
