import { Ajv } from 'ajv'
import { parseInstant } from '../domain/instant.ts'

// Schemas that are both types and JSON Schema: what routes are declared with, what checks requests, what the API's description
// is made of.

declare const fits: unique symbol
const optionalMark = Symbol('optional')

/** A JSON Schema; for the compiler also the type of what fits it. */
export interface Schema<Value = unknown> {
  readonly [keyword: string]: unknown
  readonly [fits]?: Value
}

/** The schema of a field that may be left out. */
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

/** How many of something: whatever a JSON number holds exactly. */
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

export function orNull<Value>(schema: Schema<Value>, keywords?: Keywords): Schema<Value | null> {
  return { anyOf: [schema, { type: 'null' }], ...keywords }
}

export function list<Value>(items: Schema<Value>, keywords?: Keywords): Schema<Value[]> {
  return { type: 'array', items, ...keywords }
}

/** An object of which nothing is known. */
export function anyObject(keywords?: Keywords): Schema<object> {
  return { type: 'object', properties: {}, additionalProperties: true, ...keywords }
}

/** An object with these fields, and maybe others. */
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
  // To hold them against the schema of schemas costs the first request 40 ms; the linter of the API's description does it too.
  validateSchema: false,
  // The formats of integers are for generated clients; what they allow is told by bounds.
  formats: { 'date-time': (text: string) => parseInstant(text) !== null, int32: true, int64: true },
})
ajv.addVocabulary(['x-rule'])

/** Tells whether a value fits a schema, which is compiled when that is first asked. */
export function validator<Value>(schema: Schema<Value>): (value: unknown) => value is Value {
  const compiled = once(() => ajv.compile<Value>(schema))
  return (value): value is Value => compiled()(value)
}

/** Makes something when it is first asked for, and keeps it. */
export function once<Made extends object | string>(make: () => Made): () => Made {
  let made: Made | undefined
  return () => {
    made ??= make()
    return made
  }
}
