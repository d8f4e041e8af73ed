export type Json = Record<string, unknown>

export function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The object that must stand there, as the document is our own. */
export function object(value: unknown): Json {
  if (!isObject(value)) throw new Error('The OpenAPI document has no object where the reference needs one.')
  return value
}

/** The text that must stand there. */
export function text(value: unknown): string {
  if (typeof value !== 'string')
    throw new Error('The OpenAPI document has no text where the reference needs one.')
  return value
}

/** The list there, empty where there is none. */
export function list(value: unknown): unknown[] {
  return Array.isArray(value) ? value : []
}

/** Replaces every reference within a value by what it refers to. */
export function resolver(document: Json): (value: unknown) => Json {
  function walk(value: unknown): unknown {
    if (Array.isArray(value)) return value.map(walk)
    if (!isObject(value)) return value
    if (typeof value.$ref === 'string') return walk(follow(value.$ref))
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, walk(inner)]))
  }
  function follow(reference: string): unknown {
    return reference
      .split('/')
      .slice(1)
      .reduce<unknown>((inner, name) => object(inner)[name], document)
  }
  return (value) => object(walk(value))
}
