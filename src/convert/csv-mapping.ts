import { isObject } from '../domain/json.ts'
import { identifierNameRule, isIdentifierName } from '../domain/subject-identifier.ts'
import { UsageProblem } from './format.ts'

/** How a field's text is read. Times are ISO 8601 unless a unit of Unix time is given. */
const readings = ['text', 'number', 'boolean', 'seconds', 'milliseconds'] as const

type Reading = (typeof readings)[number]

/** Where a field of the import format comes from: a column, or always the same value. */
export type FieldSource = { column: string; as: Reading | undefined } | { value: string | number | boolean }

/** Sources by field: `subjectId`, `properties.url`. */
export type CsvMapping = ReadonlyMap<string, FieldSource>

const plainFields = [
  ...['type', 'subjectId', 'sessionId', 'eventId', 'name', 'occurredAt', 'startedAt', 'endedAt'],
]
const groups = ['attributes', 'properties', 'identifiers'] as const

/** Checks a mapping from its file. Throws `UsageProblem` for the first problem. */
export function readMapping(map: unknown): CsvMapping {
  if (!isObject(map)) throw new UsageProblem('The mapping must be a JSON object.')
  const mapping = new Map(Object.entries(map).map(([field, value]) => [field, readSource(field, value)]))
  for (const field of ['type', 'subjectId']) {
    if (!mapping.has(field)) throw new UsageProblem(`The mapping has no "${field}".`)
  }
  for (const field of neededFields(typesOf(mapping))) {
    if (!mapping.has(field)) throw new UsageProblem(`The mapping has no "${field}".`)
  }
  return mapping
}

/** The fields of a group without its name: `url` for `properties.url`. */
export function fieldsOf(mapping: CsvMapping, group: (typeof groups)[number]): [string, FieldSource][] {
  return [...mapping]
    .filter(([field]) => field.startsWith(`${group}.`))
    .map(([field, source]) => [field.slice(group.length + 1), source])
}

/** The types of lines that a mapping can produce: a constant, or whatever the column contains. */
function typesOf(mapping: CsvMapping): string[] {
  const type = mapping.get('type')
  if (type === undefined || 'column' in type) return ['session', 'event']
  if (type.value !== 'session' && type.value !== 'event')
    throw new UsageProblem('"type" in the mapping must be a column, or the value "session" or "event".')
  return [type.value]
}

function neededFields(types: readonly string[]): string[] {
  return [
    ...(types.includes('session') ? ['sessionId', 'startedAt'] : []),
    ...(types.includes('event') ? ['name', 'occurredAt'] : []),
  ]
}

function readSource(field: string, value: unknown): FieldSource {
  checkField(field)
  if (typeof value === 'string' && value !== '') return { column: value, as: undefined }
  const source = isObject(value) ? value : {}
  const keys = Object.keys(source).sort().join()
  if (keys === 'value' && isConstant(source.value)) return { value: source.value }
  if (keys === 'column' || keys === 'as,column') {
    const { column, as } = source
    const reading = readings.find((each) => each === as)
    if (as !== undefined && reading === undefined)
      throw new UsageProblem(`"as" of "${field}" in the mapping must be one of ${readings.join(', ')}.`)
    if (typeof column === 'string' && column !== '') return { column, as: reading }
  }
  throw new UsageProblem(
    `"${field}" in the mapping must be the name of a column, {"column": …, "as": …} or {"value": …}.`,
  )
}

function isConstant(value: unknown): value is string | number | boolean {
  return (
    (typeof value === 'string' && value !== '') || typeof value === 'number' || typeof value === 'boolean'
  )
}

function checkField(field: string): void {
  if (plainFields.includes(field)) return
  const [group = '', name = ''] = splitOnce(field)
  if (!groups.some((each) => each === group) || name === '') {
    const known = [...plainFields, ...groups.map((each) => `${each}.NAME`)]
    throw new UsageProblem(`The mapping has an unknown field "${field}". Fields are ${known.join(', ')}.`)
  }
  if (group === 'identifiers' && !isIdentifierName(name))
    throw new UsageProblem(`"${field}" in the mapping: the name of an identifier is ${identifierNameRule}.`)
}

function splitOnce(field: string): [string, string] {
  const dot = field.indexOf('.')
  return dot < 0 ? [field, ''] : [field.slice(0, dot), field.slice(dot + 1)]
}
