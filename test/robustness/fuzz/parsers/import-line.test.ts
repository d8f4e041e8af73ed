import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { type IncomingRow, InvalidLine, parseImportLine } from '../../../../src/domain/ingest.ts'
import { checkProperty } from '../check-property.ts'
import { anyText, identifierText, notIdentifierText } from './texts.ts'

const instantText = fc
  .date({ min: new Date('0001-01-01'), max: new Date('9999-12-31'), noInvalidDate: true })
  .map((date) => date.toISOString())
const freeForm = fc.dictionary(fc.oneof(fc.constant('__proto__'), anyText), fc.jsonValue(), { maxKeys: 4 })

const session = fc
  .record({
    type: fc.constant('session'),
    trackerId: identifierText,
    subjectId: identifierText,
    sessionId: identifierText,
    startedAt: instantText,
    attributes: freeForm,
  })
  .chain((line) =>
    fc
      .record({ endedAt: fc.constantFrom(line.startedAt, null, '9999-12-31T23:59:59Z') })
      .map((end) => ({ ...line, ...end })),
  )

const event = fc.record({
  type: fc.constant('event'),
  trackerId: identifierText,
  subjectId: identifierText,
  sessionId: identifierText,
  eventId: fc.option(identifierText),
  name: identifierText,
  occurredAt: instantText,
  properties: freeForm,
})

const goodLine = fc.oneof(session, event)

/** A valid line in which one field is replaced or missing. */
const nearlyGoodLine = goodLine.chain((line) =>
  fc
    .record({
      field: fc.constantFrom(...Object.keys(line)),
      value: fc.oneof(
        notIdentifierText,
        fc.jsonValue(),
        fc.constantFrom(undefined, '2026-02-30T00:00:00Z', '2026-01-01'),
      ),
    })
    .map(({ field, value }) => ({ ...line, [field]: value })),
)

/** The row of a line, or the reason why it is invalid. Other errors are thrown. */
function parsed(line: string): IncomingRow | string {
  try {
    return parseImportLine(line) ?? 'passed over'
  } catch (error) {
    assert.ok(error instanceof InvalidLine, String(error))
    return error.message
  }
}

/** The line of a row. */
function lineOf(row: IncomingRow): string {
  const iso = (instant: number) => new Date(instant).toISOString()
  return JSON.stringify(
    row.type === 'session'
      ? { ...row, startedAt: iso(row.startedAt), endedAt: iso(row.endedAt) }
      : { ...row, occurredAt: iso(row.occurredAt) },
  )
}

/** The same value, with the fields of every object in reverse order. */
function withFieldsReversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withFieldsReversed)
  if (typeof value !== 'object' || value === null) return value
  const fields = Object.entries(value).map(([name, inner]): [string, unknown] => [
    name,
    withFieldsReversed(inner),
  ])
  return Object.fromEntries(fields.reverse())
}

describe('any line of an import', () => {
  it('is a row, or refused with a reason of one line', (t) => {
    const deep = fc
      .nat(100_000)
      .chain((depth) => fc.constantFrom('['.repeat(depth), `{"properties":${'{"a":'.repeat(depth)}`))
    const nearlyGood = nearlyGoodLine.map((fields) => JSON.stringify(fields))
    const line = fc.oneof(
      { arbitrary: anyText, weight: 20 },
      { arbitrary: fc.json(), weight: 20 },
      { arbitrary: nearlyGood, weight: 40 },
      { arbitrary: deep, weight: 1 },
    )
    return checkProperty(
      t,
      fc.property(line, (text) => {
        const result = parsed(text)
        if (typeof result === 'string') assert.match(result, /^[^\n\r]+$/)
      }),
      { runs: 800 },
    )
  })

  it('is the same row if its row is written again', (t) =>
    checkProperty(
      t,
      fc.property(fc.oneof(goodLine, nearlyGoodLine), (fields) => {
        const row = parsed(JSON.stringify(fields))
        if (typeof row !== 'string') assert.deepEqual(parsed(lineOf(row)), row)
      }),
      { runs: 500 },
    ))

  it('is accepted if valid, with its fields in any order', (t) =>
    checkProperty(
      t,
      fc.property(goodLine, (fields) => {
        const row = parsed(JSON.stringify(fields))
        assert.ok(typeof row !== 'string', String(row))
        assert.deepEqual(parsed(JSON.stringify(withFieldsReversed(fields))), row)
        for (const field of ['trackerId', 'subjectId', 'sessionId'] as const)
          assert.equal(row[field], fields[field])
      }),
      { runs: 300 },
    ))
})
