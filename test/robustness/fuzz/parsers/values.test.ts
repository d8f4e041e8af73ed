import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { readRetryAfter } from '../../../../client/src/budget.ts'
import { isIdentifier as isClientIdentifier } from '../../../../client/src/identifier.ts'
import { isIdentifier } from '../../../../src/domain/identifier.ts'
import { formatInstant, parseInstant } from '../../../../src/domain/instant.ts'
import { parseQueryString } from '../../../../src/http/parameters.ts'
import { checkProperty } from '../check-property.ts'
import { anyText, identifierText, notIdentifierText } from './texts.ts'

describe('an instant', () => {
  it('is read as it was written', (t) =>
    checkProperty(
      t,
      fc.property(
        fc.integer({ min: Date.parse('0000-01-01T00:00:00Z'), max: Date.parse('9999-12-31T23:59:59.999Z') }),
        (instant) => {
          assert.equal(formatInstant(instant), new Date(instant).toISOString())
          assert.equal(parseInstant(formatInstant(instant)), instant)
        },
      ),
      { runs: 2_000 },
    ))

  it('is a date of the calendar, or refused', (t) => {
    const digits = (most: number, length = 2) =>
      fc.integer({ min: 0, max: most }).map((n) => String(n).padStart(length, '0'))
    const text = fc
      .tuple(
        digits(9999, 4),
        digits(13),
        digits(32),
        digits(24),
        digits(60),
        digits(60),
        fc.constantFrom('', '.1', '.999999999', '.', ','),
        fc.constantFrom('Z', '+00:00', '-12:30', '+23:59', '+24:00', '', 'z', ' Z'),
      )
      .map(
        ([year, month, day, hour, minute, second, fraction, zone]) =>
          `${year}-${month}-${day}T${hour}:${minute}:${second}${fraction}${zone}`,
      )
    return checkProperty(
      t,
      fc.property(fc.oneof(text, anyText), (written) => {
        const instant = parseInstant(written)
        if (instant === null) return
        assert.equal(instant, Date.parse(written))
        // JavaScript parses 31 February as 3 March; formatting the instant in its own offset reveals that.
        const zone = /([+-])(\d\d):(\d\d)$/.exec(written)
        const offset = zone ? Number(`${zone[1]}1`) * (Number(zone[2]) * 60 + Number(zone[3])) * 60_000 : 0
        assert.equal(new Date(instant + offset).toISOString().slice(-24, -5), written.slice(0, 19))
      }),
      { runs: 3_000 },
    )
  })
})

describe('an ID', () => {
  it('is valid for the service exactly if it is valid for the client', (t) =>
    checkProperty(
      t,
      fc.property(fc.oneof(anyText, identifierText, notIdentifierText), (text) => {
        assert.equal(isIdentifier(text), isClientIdentifier(text))
      }),
      { runs: 2_000 },
    ))

  it('is accepted if valid, and refused otherwise', (t) =>
    checkProperty(
      t,
      fc.property(identifierText, notIdentifierText, (id, other) => {
        assert.equal(isIdentifier(id), true)
        assert.equal(isIdentifier(other), false)
      }),
    ))
})

describe('a query string', () => {
  it('is parsed like a form, or refused', (t) =>
    checkProperty(
      t,
      fc.property(
        fc.oneof(
          // fast-check's own arbitrary takes a second to build.
          fc.array(fc.tuple(anyText, anyText)).map((pairs) => String(new URLSearchParams(pairs))),
          fc.string({ unit: 'binary-ascii' }),
          fc.string({ unit: fc.constantFrom(...'a%=&+20C080F') }),
        ),
        (text) => {
          const { values, repeated, isBroken } = parseQueryString(text)
          if (isBroken) return assert.match(text, /%/)
          const pairs = [...new URLSearchParams(`?${text}`)]
          assert.deepEqual([...values].sort(), [...new Map(pairs)].sort())
          assert.equal(values.size + repeated.size <= pairs.length, true)
        },
      ),
      { runs: 500 },
    ))
})

describe('the retry headers of an answer', () => {
  it('are parsed to a time to wait, or ignored', (t) => {
    const headerText = fc.oneof(
      fc.nat().map(String),
      fc.date({ noInvalidDate: true }).map((date) => date.toUTCString()),
      fc.string({ unit: fc.constantFrom(...'0123456789 -.eGMT,:') }),
    )
    const headers = fc.record(
      {
        'retry-after': headerText,
        'x-ratelimit-limit': headerText,
        'x-ratelimit-remaining': headerText,
        'x-ratelimit-reset': headerText,
      },
      { requiredKeys: [] },
    )
    return checkProperty(
      t,
      fc.property(headers, fc.nat(), (fields, servedAt) => {
        const waitMs = readRetryAfter(new Headers(Object.entries(fields)), servedAt)
        assert.ok(waitMs === null || (Number.isFinite(waitMs) && waitMs >= 0))
        const text = fields['retry-after']
        if (text !== undefined && /^\d{1,12}$/.test(text)) assert.equal(waitMs, Number(text) * 1_000)
      }),
      { runs: 1_000 },
    )
  })
})
