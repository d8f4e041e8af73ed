type Json = Record<string, unknown>

/** Moves every schema with a title to the components and leaves a reference in its place, so that generated clients get named types. */
export function hoistComponents<Document extends Json>(
  document: Document,
): { document: Json; schemas: Json } {
  const schemas: Json = {}
  function walk(value: unknown): unknown {
    if (Array.isArray(value)) return value.map(walk)
    if (!isObject(value)) return value
    const walked = Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, walk(inner)]))
    if (typeof value.title !== 'string' || value.type !== 'object') return walked
    schemas[value.title] = walked
    return { $ref: `#/components/schemas/${value.title}` }
  }
  const walked = walk(document)
  return { document: isObject(walked) ? walked : {}, schemas }
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null
}
