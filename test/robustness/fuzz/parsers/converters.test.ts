import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { gunzipSync } from 'node:zlib'
import fc from 'fast-check'
import type { Format } from '../../../../src/convert/format.ts'
import { ga4 } from '../../../../src/convert/ga4.ts'
import { posthog } from '../../../../src/convert/posthog.ts'
import { rudderstack } from '../../../../src/convert/rudderstack.ts'
import { segment } from '../../../../src/convert/segment.ts'
import { snowplow } from '../../../../src/convert/snowplow.ts'
import { parseImportLine } from '../../../../src/domain/ingest.ts'
import { convertTexts } from '../../../support/convert-records.ts'
import { checkProperty } from '../check-property.ts'
import { anyText, identifierText, notIdentifierText } from './texts.ts'

interface Fixture {
  format: Format
  files: readonly string[]
}

const fixtures: readonly Fixture[] = [
  { format: posthog, files: ['posthog-api.jsonl', 'posthog-batch.jsonl'] },
  { format: ga4, files: ['ga4.jsonl'] },
  { format: segment, files: ['segment.jsonl.gz'] },
  { format: rudderstack, files: ['rudderstack.jsonl', 'rudderstack-warehouse.jsonl'] },
  { format: snowplow, files: ['snowplow.tsv'] },
]

function textsOf(file: string): string[] {
  const bytes = readFileSync(new URL(`../../../fixtures/convert/${file}`, import.meta.url))
  const text = (file.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString()
  return text.split('\n').filter((line) => line !== '')
}

const deep = fc.constantFrom(99, 101, 5_000).map((depth): unknown => {
  let value: unknown = 'deep'
  for (let level = 0; level < depth; level++) value = level % 2 === 0 ? [value] : { inner: value }
  return value
})

const long = fc.constantFrom('x'.repeat(1_025), 'é'.repeat(200_000), '\u0001'.repeat(60_000))

const oddTime = fc.constantFrom(
  ...['2026-02-30T00:00:00Z', '2026-11-14', '2026-11-14 09:00', '14/11/2026', '-1', 'now'],
  ...[0, -1, 1e300, 1794650400, 1794650400000],
)

const oddValue = fc.oneof(
  {
    arbitrary: fc.constantFrom<unknown>(null, '', 0, -1, true, [], {}, '__proto__', '{"a":', '[]'),
    weight: 5,
  },
  { arbitrary: anyText, weight: 5 },
  { arbitrary: notIdentifierText, weight: 5 },
  { arbitrary: identifierText, weight: 3 },
  { arbitrary: oddTime, weight: 3 },
  { arbitrary: fc.jsonValue(), weight: 3 },
  { arbitrary: deep, weight: 1 },
  { arbitrary: long, weight: 1 },
)

/** A position in a record, as a fraction, and its new value; `undefined` removes the field. */
const change = fc.record({
  share: fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
  value: fc.option(oddValue, { nil: undefined, freq: 8 }),
})
type Change = typeof change extends fc.Arbitrary<infer Made> ? Made : never

/** The objects and lists within a value, each with one of its keys. */
function positionsOf(value: unknown): { owner: object; key: string }[] {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, inner]) => [{ owner: value, key }, ...positionsOf(inner)])
}

function changedJson(text: string, changes: readonly Change[]): string {
  const record: unknown = JSON.parse(text)
  const positions = positionsOf(record)
  for (const { share, value } of changes) {
    const position = positions[Math.floor(share * positions.length)]
    if (position === undefined) break
    if (value === undefined) Reflect.deleteProperty(position.owner, position.key)
    else Object.defineProperty(position.owner, position.key, { value, enumerable: true, configurable: true })
  }
  return JSON.stringify(record)
}

function changedColumns(text: string, changes: readonly Change[]): string {
  const columns = text.split('\t')
  for (const { share, value } of changes) {
    const written = typeof value === 'string' ? value : JSON.stringify(value)
    columns[Math.floor(share * columns.length)] = (written ?? '').replaceAll('\n', ' ')
  }
  return columns.join('\t')
}

describe('any record of another system', () => {
  for (const { format, files } of fixtures) {
    const texts = files.flatMap(textsOf)
    const changed = format.input === 'lines' ? changedColumns : changedJson
    const record = fc
      .tuple(fc.constantFrom(...texts), fc.array(change, { maxLength: 4 }))
      .map(([text, changes]) => changed(text, changes))

    it(`becomes lines that an import accepts, or is counted with a reason: ${format.name}`, (t) =>
      checkProperty(
        t,
        fc.property(fc.array(record, { minLength: 1, maxLength: 4 }), (records) => {
          const { lines, reasons, summary } = convertTexts(format, records)
          for (const line of lines) assert.notEqual(parseImportLine(line, 'shop'), null)
          for (const reason of reasons) assert.match(reason ?? 'used', /^[^\n\r]+$/)
          assert.equal(summary.unusable, reasons.filter((reason) => reason !== null).length)
          assert.ok(summary.events >= records.length - summary.unusable, 'every usable record is an event')
          assert.deepEqual(convertTexts(format, records).lines, lines)
        }),
        { runs: 300 },
      ))
  }
})
