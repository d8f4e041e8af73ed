import { isObject, type Json, list, object } from './json.ts'

/** A field of an answer, by its way from the top: `data.subjects[].counts`. */
export interface Field {
  path: string
  type: string
  isOptional: boolean
  description: string
}

/** Every field that a schema names, in its order, each before its own fields. */
export function fieldsOf(schema: Json, path = ''): Field[] {
  const required = list(schema.required)
  return Object.entries(isObject(schema.properties) ? schema.properties : {}).flatMap(([name, value]) => {
    const inner = object(value)
    const isList = inner.type === 'array' && isObject(inner.items)
    const here = path === '' ? name : `${path}.${name}`
    const field = {
      path: here,
      type: typeOf(inner),
      isOptional: !required.includes(name),
      description: typeof inner.description === 'string' ? inner.description : '',
    }
    return [field, ...(isList ? fieldsOf(object(inner.items), `${here}[]`) : fieldsOf(inner, here))]
  })
}

/** What a value is, in a few words. */
export function typeOf({ type, format, const: only, enum: choices, anyOf, items }: Json): string {
  if (anyOf !== undefined) return list(anyOf).map(object).map(typeOf).join(' or ')
  if (only !== undefined) return JSON.stringify(only)
  if (type === 'array') return `list of ${isObject(items) ? typeOf(items) : 'any'}`
  if (format === 'date-time') return 'timestamp'
  if (choices !== undefined) return list(choices).map(String).join(' | ')
  return typeof type === 'string' ? type : 'any'
}

/** What a value must keep to, as the schema says it in words, else from its keywords; `null` where anything goes. */
export function ruleOf(schema: Json): string | null {
  const { 'x-rule': rule, default: fallback, minimum, minLength, maxLength, pattern } = schema
  const parts = [
    typeof rule === 'string' ? rule : null,
    rule === undefined && minimum !== undefined ? `at least ${minimum}` : null,
    rule === undefined && minLength !== undefined ? `at least ${minLength} characters` : null,
    rule === undefined && maxLength !== undefined ? `at most ${maxLength} characters` : null,
    rule === undefined && typeof pattern === 'string' ? `matches \`${pattern}\`` : null,
    fallback === undefined ? null : `default \`${fallback}\``,
  ].filter((part) => part !== null)
  return parts.length === 0 ? null : parts.join('; ')
}
