import fc from 'fast-check'
import { anyText, identifierText, notIdentifierText } from '../parsers/texts.ts'
import type { Parameter } from './operations.ts'

/** What stands in the store, so that some of what is made up meets it. */
export interface Known {
  trackerIds: readonly string[]
  subjectIds: readonly string[]
  /** Cursors that the service gave out, and forged ones. */
  cursors: readonly string[]
}

/** Good values of a parameter, values beside them, and any text at all. */
export function parameterValue(
  { name, schema }: Pick<Parameter, 'name' | 'schema'>,
  known: Known,
): fc.Arbitrary<string> {
  const near = fc.oneof(...nearly(schema))
  return fc.oneof(
    { arbitrary: good(name, schema, known), weight: 12 },
    { arbitrary: near, weight: 3 },
    { arbitrary: anyText.map((text) => text.toWellFormed()), weight: 1 },
  )
}

function good(name: string, schema: Record<string, unknown>, known: Known): fc.Arbitrary<string> {
  if (name === 'trackerId') return fc.constantFrom(...known.trackerIds)
  if (name === 'subjectId') return fc.oneof(fc.constantFrom(...known.subjectIds), identifierText)
  if (name === 'cursor') return fc.constantFrom(...known.cursors)
  if (Array.isArray(schema.enum)) return fc.constantFrom(...schema.enum.map(String))
  // Of a ledger, which has few entries.
  if (name === 'from') return fc.oneof(fc.nat(5), fc.maxSafeNat()).map(String)
  if (schema.type === 'integer')
    return fc.integer({ min: Number(schema.minimum), max: Number(schema.maximum ?? 9) }).map(String)
  if (schema.format === 'date-time') return instant
  return identifierText
}

const instant = fc
  .date({ min: new Date('0001-01-01'), max: new Date('9999-12-30'), noInvalidDate: true })
  .chain((date) => {
    const text = date.toISOString()
    return fc.constantFrom(text, text.replace('Z', '+01:30'), text.replace(/\.\d+Z/, 'Z'))
  })

function nearly(schema: Record<string, unknown>): fc.Arbitrary<string>[] {
  if (Array.isArray(schema.enum)) {
    const words = schema.enum.map(String)
    return [
      fc.constantFrom(
        ...words.flatMap((word) => [word.toUpperCase(), `${word} `, `-${word}`, word.slice(1)]),
      ),
    ]
  }
  if (schema.type === 'integer') {
    const [least, most] = [Number(schema.minimum), Number(schema.maximum ?? Number.MAX_SAFE_INTEGER)]
    const odd = [
      '',
      '-0',
      '+1',
      '01',
      ' 1',
      '1 ',
      '1.0',
      '1e1',
      '0x1',
      '１',
      '٣',
      'NaN',
      'null',
      '9'.repeat(400),
      '1\u0000',
    ]
    return [fc.constantFrom(String(least - 1), String(most + 1), ...odd), fc.integer().map(String)]
  }
  if (schema.format === 'date-time') {
    const odd = [
      '2026-02-30T00:00:00Z',
      '2026-01-01',
      '2026-01-01T24:00:00Z',
      '2026-01-01T00:00:60Z',
      '+002026-01-01T00:00:00Z',
    ]
    return [
      fc.constantFrom(...odd, '2026-01-01T00:00:00', '2026-01-01 00:00:00Z', '0', ''),
      instant.map((text) => text.toLowerCase()),
    ]
  }
  return [
    notIdentifierText.map((text) => text.toWellFormed()),
    identifierText.map((text) => Array.from(text.repeat(257)).slice(0, 257).join('')),
    fc.constantFrom(' ', '\u2028', '%00'),
  ]
}
