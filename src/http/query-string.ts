/** A query string taken apart. */
export type Query = {
  values: ReadonlyMap<string, string>
  /** Names that stand in it more than once. */
  repeated: ReadonlySet<string>
  /** Its percent-encoding or its UTF-8 is broken; the rest means nothing then. */
  isBroken: boolean
}

const empty: Query = { values: new Map(), repeated: new Set(), isBroken: false }

/** Takes a query string apart as forms write it: `+` is a space, `%xx` is a byte of UTF-8. Never throws. */
export function parseQueryString(text: string): Query {
  if (text === '') return empty
  const values = new Map<string, string>()
  const repeated = new Set<string>()
  try {
    for (const pair of text.split('&')) {
      if (pair === '') continue
      const equals = pair.indexOf('=')
      const name = decode(equals < 0 ? pair : pair.slice(0, equals))
      if (values.has(name)) repeated.add(name)
      values.set(name, equals < 0 ? '' : decode(pair.slice(equals + 1)))
    }
  } catch {
    return { ...empty, isBroken: true }
  }
  return { values, repeated, isBroken: false }
}

/** The part of a request's URL behind the question mark. */
export function queryOf(url = ''): string {
  const mark = url.indexOf('?')
  return mark < 0 ? '' : url.slice(mark + 1)
}

function decode(text: string): string {
  return decodeURIComponent(text.replaceAll('+', ' '))
}
