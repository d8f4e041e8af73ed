import { Ajv } from 'ajv'
import { parseInstant } from '../../domain/instant.ts'
import { once } from '../once.ts'
import type { Schema } from './schema.ts'

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
