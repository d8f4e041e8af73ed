import { Ajv } from 'ajv'
import { parseInstant } from '../domain/instant.ts'

// Schemas that are both types and JSON Schema: they declare routes, validate requests and generate the
// OpenAPI document.

declare const valueType: unique symbol
const optionalMark = Symbol('optional')

/** A JSON Schema; for the compiler, also the type of its values. */
export interface Schema<Value = unknown> {
  readonly [keyword: string]: unknown
  readonly [valueType]?: Value
}

/** The schema of an optional field. */
interface OptionalSchema<Value = unknown> extends Schema<Value> {
  readonly [optionalMark]: true
}

/** Schemas by the names of their fields. */
export type Fields = Readonly<Record<string, Schema>>

export type ValueOf<Some extends Schema> = Some extends Schema<infer Value> ? Value : never

export type ValuesOf<Some extends Fields> = {
  [Name in keyof Some as Some[Name] extends OptionalSchema ? never : Name]: ValueOf<Some[Name]>
} & {
  [Name in keyof Some as Some[Name] extends OptionalSchema ? Name : never]?: ValueOf<Some[Name]>
}

type Keywords = Readonly<Record<string, unknown>>

export function text(keywords?: Keywords): Schema<string> {
  return { type: 'string', ...keywords }
}

export function integer(keywords?: Keywords): Schema<number> {
  return { type: 'integer', ...keywords }
}

/** A count, up to the largest integer that a JSON number represents exactly. */
export function count(description: string): Schema<number> {
  return integer({ format: 'int64', minimum: 0, maximum: Number.MAX_SAFE_INTEGER, description })
}

export function boolean(keywords?: Keywords): Schema<boolean> {
  return { type: 'boolean', ...keywords }
}

export function oneOf<const Choice extends string>(
  choices: readonly Choice[],
  keywords?: Keywords,
): Schema<Choice> {
  return { enum: choices, type: 'string', ...keywords }
}

/** The same, with a rule that lists the choices. */
export function listedChoice<const Choice extends string>(
  choices: readonly Choice[],
  keywords?: Keywords,
): Schema<Choice> {
  return oneOf(choices, { ...keywords, 'x-rule': `one of ${choices.join(', ')}` })
}

export function orNull<Value>(schema: Schema<Value>, keywords?: Keywords): Schema<Value | null> {
  return { anyOf: [schema, { type: 'null' }], ...keywords }
}

export function anyOf<One, Other>(one: Schema<One>, other: Schema<Other>): Schema<One | Other> {
  return { anyOf: [one, other] }
}

export function list<Value>(items: Schema<Value>, keywords?: Keywords): Schema<Value[]> {
  return { type: 'array', items, ...keywords }
}

/** An object with unknown fields. */
export function anyObject(keywords?: Keywords): Schema<object> {
  return { type: 'object', properties: {}, additionalProperties: true, ...keywords }
}

/** An object with these and possibly other fields. */
export function object<Some extends Fields>(fields: Some, keywords?: Keywords): Schema<ValuesOf<Some>> {
  const required = Object.keys(fields).filter((name) => !isOptional(fields[name]))
  return { type: 'object', ...(required.length > 0 && { required }), properties: fields, ...keywords }
}

export function optional<Value>(schema: Schema<Value>): OptionalSchema<Value> {
  return { ...schema, [optionalMark]: true }
}

export function isOptional(schema: Schema | undefined): boolean {
  return schema !== undefined && optionalMark in schema
}

const ajv = new Ajv({
  strict: true,
  // Validating the schemas would cost the first request 40 ms; linting the OpenAPI document covers it.
  validateSchema: false,
  // Integer formats are for generated clients; minimum and maximum set the limits.
  formats: { 'date-time': (text: string) => parseInstant(text) !== null, int32: true, int64: true },
})
ajv.addVocabulary(['x-rule'])

/** A type guard for a schema, which is compiled on first use. */
export function validator<Value>(schema: Schema<Value>): (value: unknown) => value is Value {
  const compiled = once(() => ajv.compile<Value>(schema))
  return (value): value is Value => compiled()(value)
}

/** Computes a value on first use and caches it. */
export function once<Made extends object | string>(make: () => Made): () => Made {
  let made: Made | undefined
  return () => {
    made ??= make()
    return made
  }
}
