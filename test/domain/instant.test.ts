import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Problems } from '../../src/domain/errors.ts'
import { addMonths, formatInstant, parseInstant, readInstant } from '../../src/domain/instant.ts'

const good: [text: string, instant: number][] = [
  ['1970-01-01T00:00:00Z', 0],
  ['1970-01-01T00:00:00.000Z', 0],
  ['1970-01-01T00:00:01.5Z', 1_500],
  ['1970-01-01T00:00:00.04Z', 40],
  ['1970-01-01T00:00:00.123456789Z', 123],
  ['1970-01-01T00:00:00.999999Z', 999],
  ['1969-12-31T23:59:59.999Z', -1],
  ['1970-01-01T01:00:00+01:00', 0],
  ['1969-12-31T14:30:00-09:30', 0],
  ['1970-01-01T05:45:00.250+05:45', 250],
  ['1970-01-01T00:00:00-00:00', 0],
  ['1970-01-01T23:59:00+23:59', 0],
  ['2024-02-29T00:00:00Z', 1_709_164_800_000],
  ['2000-02-29T12:00:00Z', 951_825_600_000],
  ['2026-12-31T23:59:59.999Z', 1_798_761_599_999],
  ['0000-01-01T00:00:00Z', -62_167_219_200_000],
  ['0001-01-01T00:00:00Z', -62_135_596_800_000],
  ['9999-12-31T23:59:59.999Z', 253_402_300_799_999],
]

const bad: [why: string, text: string][] = [
  ['nothing', ''],
  ['no date', 'yesterday'],
  ['a number', '1700000000000'],
  ['a date without a time', '2026-01-31'],
  ['no zone', '2026-01-31T12:00:00'],
  ['no zone after a fraction', '2026-01-31T12:00:00.000'],
  ['no seconds', '2026-01-31T12:00Z'],
  ['a blank instead of T', '2026-01-31 12:00:00Z'],
  ['a lower-case t', '2026-01-31t12:00:00Z'],
  ['a lower-case z', '2026-01-31T12:00:00z'],
  ['30 February', '2026-02-30T12:00:00Z'],
  ['29 February of a common year', '2026-02-29T12:00:00Z'],
  ['29 February of a century', '1900-02-29T12:00:00Z'],
  ['31 April', '2026-04-31T12:00:00Z'],
  ['month 0', '2026-00-10T12:00:00Z'],
  ['month 13', '2026-13-10T12:00:00Z'],
  ['day 0', '2026-01-00T12:00:00Z'],
  ['day 32', '2026-01-32T12:00:00Z'],
  ['24:00', '2026-01-31T24:00:00Z'],
  ['minute 60', '2026-01-31T12:60:00Z'],
  ['a leap second', '2016-12-31T23:59:60Z'],
  ['an empty fraction', '2026-01-31T12:00:00.Z'],
  ['a fraction of ten digits', '2026-01-31T12:00:00.1234567890Z'],
  ['a comma', '2026-01-31T12:00:00,5Z'],
  ['an offset of a day', '2026-01-31T12:00:00+24:00'],
  ['an offset of 60 minutes', '2026-01-31T12:00:00+01:60'],
  ['an offset without a colon', '2026-01-31T12:00:00+0100'],
  ['an offset of hours alone', '2026-01-31T12:00:00+01'],
  ['both Z and an offset', '2026-01-31T12:00:00Z+01:00'],
  ['a minus sign of typographers', '2026-01-31T12:00:00−01:00'],
  ['a year of five digits', '+12026-01-31T12:00:00Z'],
  ['a year of two digits', '26-01-31T12:00:00Z'],
  ['the basic format', '20260131T120000Z'],
  ['a week date', '2026-W05-6T12:00:00Z'],
  ['a blank before it', ' 2026-01-31T12:00:00Z'],
  ['a line end after it', '2026-01-31T12:00:00Z\n'],
  ['digits of another script', '２０２６-01-31T12:00:00Z'],
]

describe('a time is read from', () => {
  for (const [text, instant] of good) it(text, () => assert.equal(parseInstant(text), instant))
})

describe('a time is not read from', () => {
  for (const [why, text] of bad) it(why, () => assert.equal(parseInstant(text), null))
})

describe('a parsed time', () => {
  it('is formatted in UTC with milliseconds', () => {
    assert.equal(formatInstant(parseInstant('2026-01-31T12:00:00+01:00') ?? 0), '2026-01-31T11:00:00.000Z')
  })

  it('can be formatted and parsed again, even at the ends of the calendar', () => {
    const edges = ['0000-01-01T00:00:00+23:59', '9999-12-31T23:59:59-23:59']
    for (const text of [...edges, ...good.map(([text]) => text)]) {
      const instant = parseInstant(text)
      if (instant !== null) assert.equal(parseInstant(formatInstant(instant)), instant, text)
    }
  })
})

describe('a time in a field of a request', () => {
  it('is null without a problem if the field is absent', () => {
    const problems = new Problems()
    assert.equal(readInstant('lastSeenAfter', undefined, problems), null)
    assert.deepEqual(problems.list(), [])
  })

  it('causes a problem of its field if it cannot be read', () => {
    const problems = new Problems()
    assert.equal(readInstant('lastSeenAfter', 'soon', problems), null)
    assert.deepEqual(problems.list(), [
      {
        field: 'lastSeenAfter',
        message: 'lastSeenAfter must be an ISO 8601 instant with a time zone, such as 2026-01-31T12:00:00Z',
      },
    ])
  })
})

const months: [from: string, months: number, to: string][] = [
  ['2026-01-15T10:00:00.000Z', 1, '2026-02-15T10:00:00.000Z'],
  ['2026-01-31T23:59:59.999Z', 1, '2026-02-28T23:59:59.999Z'],
  ['2024-01-31T00:00:00.000Z', 1, '2024-02-29T00:00:00.000Z'],
  ['2026-12-31T00:00:00.000Z', 2, '2027-02-28T00:00:00.000Z'],
  ['0000-01-31T00:00:00.000Z', 1, '0000-02-29T00:00:00.000Z'],
  ['9999-11-30T00:00:00.000Z', 1, '9999-12-30T00:00:00.000Z'],
]

describe('adding months:', () => {
  for (const [from, count, to] of months) {
    it(`${count} after ${from} is ${to}`, () => {
      assert.equal(formatInstant(addMonths(parseInstant(from) ?? Number.NaN, count)), to)
    })
  }
})
