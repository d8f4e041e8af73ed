import fc from 'fast-check'
import { bodyValue, strayField, textValue } from './field-values.ts'
import { oddBody, oddHeaders, oddMethod, oddTarget, type SentBody, write } from './odd-parts.ts'
import { type Field, namesIn, type Operation } from './operations.ts'
import type { Lines, Surface } from './surface.ts'

/**
 * A generated request. Its length is explicit, so that others can follow on the connection. Names in `{{…}}`
 * are replaced with the values of its surface when it is sent.
 */
export interface GeneratedRequest {
  /** The name of its operation, unless something is odd about it. */
  operation: string
  method: string
  target: string
  /** The names of its sender and origin in the surface. */
  sender: string
  origin: string
  headers: Lines
  body: SentBody | null
  version: string
  /** What is wrong besides its fields and its sender. The status of such a request is not predicted. */
  oddity: 'method' | 'target' | 'headers' | 'body' | 'version' | null
}

type Change = (request: GeneratedRequest) => fc.Arbitrary<Partial<GeneratedRequest>>

function changed(plain: fc.Arbitrary<GeneratedRequest>, change: Change): fc.Arbitrary<GeneratedRequest> {
  return plain.chain((request) => change(request).map((part) => ({ ...request, ...part })))
}

/** Requests for every operation of a surface. Most have few errors, so that they are not refused early. */
export function generatedRequest(surface: Surface): fc.Arbitrary<GeneratedRequest> {
  return fc.oneof(
    ...surface.operations.map((operation) => ({
      arbitrary: plainOrOdd(operation, requestFor(operation, surface)),
      weight: weightOf(operation),
    })),
  )
}

/** Erasures write, and passwords are slow to verify. */
function weightOf({ access, method, fields }: Operation): number {
  if (access === 'public') return 1
  if (method === 'DELETE') return 3
  return fields.some(({ name }) => name === 'password') ? 6 : 10
}

function plainOrOdd(
  operation: Operation,
  plain: fc.Arbitrary<GeneratedRequest>,
): fc.Arbitrary<GeneratedRequest> {
  const odd = (weight: number, oddity: GeneratedRequest['oddity'], change: Change) => ({
    arbitrary: changed(plain, (request) => change(request).map((part) => ({ ...part, oddity }))),
    weight,
  })
  const body = takesBody(operation) ? [odd(10, 'body', spoiltBody)] : []
  return fc.oneof(
    { arbitrary: plain, weight: 30 },
    odd(4, 'method', () => oddMethod.map((method) => ({ method }))),
    odd(6, 'target', ({ target }) => oddTarget(target).map((other) => ({ target: other }))),
    // The body's own length would be sent twice.
    odd(6, 'headers', ({ body }) =>
      oddHeaders.map(({ headers, bytes }) => ({ headers, body: isFramed(headers) ? raw(bytes) : body })),
    ),
    odd(1, 'version', () =>
      fc.constantFrom('1.0', '0.9', '2.0', '1.2', '1', '1.1 ').map((version) => ({ version })),
    ),
    ...body,
  )
}

const spoiltBody: Change = ({ body }) => oddBody(body?.bytes ?? '{}').map((other) => ({ body: other }))

function takesBody({ method }: Operation): boolean {
  return method === 'POST'
}

/** Requests without errors, as far as can be predicted. */
export function goodRequest(operation: Operation, surface: Surface): fc.Arbitrary<GeneratedRequest> {
  return requestFor(operation, surface, true)
}

type Refusal = 400 | 401 | 403 | 404 | 422

/** Requests whose only error leads to this refusal: always, except for odd bodies. */
export function refusedRequest(
  operation: Operation,
  surface: Surface,
  status: Refusal,
): fc.Arbitrary<GeneratedRequest> {
  const good = goodRequest(operation, surface)
  const withPair = (...pairs: string[]): Change => {
    return ({ target }) =>
      fc
        .constantFrom(...pairs)
        .map((pair) => ({ target: `${target}${target.includes('?') ? '&' : '?'}${pair}` }))
  }
  switch (status) {
    case 400:
      if (!takesBody(operation)) return changed(good, withPair('a=%zz', '%=1'))
      return changed(good, (request) => spoiltBody(request).map((part) => ({ ...part, oddity: 'body' })))
    case 401:
    case 403:
      return fc.oneof(
        ...credentialsRefusedWith(operation, surface, status).map((part) => changed(good, () => part)),
      )
    case 404:
      return changed(good, () => targetOf(operation, surface, 'missing').map((target) => ({ target })))
    case 422:
      return changed(good, withPair('unknown=1', '__proto__=1', 'limit=1&limit=1', 'name'))
  }
}

function credentialsRefusedWith(
  operation: Operation,
  { senders, origins }: Surface,
  status: 401 | 403,
): fc.Arbitrary<Partial<GeneratedRequest>>[] {
  const refusal = status === 401 ? 'unauthorized' : 'forbidden'
  return Object.entries({ sender: senders, origin: origins }).flatMap(([field, credentials]) => {
    const names = Object.keys(credentials).filter((name) => credentials[name]?.refusal(operation) === refusal)
    return names.length === 0 ? [] : [fc.constantFrom(...names).map((name) => ({ [field]: name }))]
  })
}

/** The refusals that any request to an operation can get. */
export function refusalsOf(operation: Operation, surface: Surface): Refusal[] {
  const { access, path } = operation
  if (access === 'public') return []
  const byCredential = ([401, 403] as const).filter(
    (status) => credentialsRefusedWith(operation, surface, status).length > 0,
  )
  return [400, 422, ...byCredential, ...(path.includes('{') ? [404 as const] : [])]
}

/**
 * Created once per operation: fast-check takes longer to create an arbitrary of texts than a request takes.
 */
function requestFor(
  operation: Operation,
  surface: Surface,
  onlyGood = false,
): fc.Arbitrary<GeneratedRequest> {
  const pick = (names: string[]) => {
    const [usual = 'none'] = names
    if (onlyGood || names.length === 1) return fc.constant(usual)
    return fc.oneof(
      { arbitrary: fc.constant(usual), weight: 3 },
      { arbitrary: fc.constantFrom(...names), weight: 1 },
    )
  }
  const { method } = operation
  return fc.record<GeneratedRequest>({
    operation: fc.constant(operation.name),
    method:
      method === 'GET' && !onlyGood ? fc.constantFrom('GET', 'GET', 'GET', 'HEAD') : fc.constant(method),
    target: targetOf(operation, surface, onlyGood ? 'good' : 'any'),
    sender: pick(Object.keys(surface.senders)),
    origin: method === 'GET' ? fc.constant('none') : pick(Object.keys(surface.origins)),
    headers: requestId(operation),
    body: takesBody(operation) ? bodyOf(operation, onlyGood) : fc.constant(null),
    version: fc.constant('1.1'),
    oddity: fc.constant(null),
  })
}

/** A path and a query of an operation, with each value encoded in some way. */
function targetOf(
  { path, fields }: Operation,
  surface: Surface,
  values: 'good' | 'missing' | 'any',
): fc.Arbitrary<string> {
  const written = (field: Field) =>
    fc.tuple(textValue(path, field, surface, values), write).map(([text, writing]) => around(text, writing))
  const inPath = fields.filter((each) => each.in === 'path')
  const inQuery = fields.filter((each) => each.in === 'query')
  const filled = fc
    .tuple(...inPath.map(written))
    .map((texts) =>
      namesIn(path).reduce((text, name, i) => text.replace(`{${name}}`, () => texts[i] ?? ''), path),
    )
  const pair = (field: Field) => written(field).map((value) => `${field.name}=${value}`)
  const required = fc.tuple(...inQuery.filter((each) => each.isRequired).map(pair))
  const some = fc.oneof(...inQuery.map((each) => ({ arbitrary: pair(each), weight: 6 })), {
    arbitrary: fc.constantFrom(...strayPairs),
    weight: 1,
  })
  const pairs =
    values === 'any'
      ? fc.oneof(
          { arbitrary: required, weight: 3 },
          {
            arbitrary: fc.uniqueArray(some, { maxLength: 3, selector: (text) => text.split('=')[0] }),
            weight: 6,
          },
          { arbitrary: fc.array(some, { maxLength: 4 }), weight: 1 },
        )
      : required
  return fc
    .tuple(filled, pairs)
    .map(([base, list]) => (list.length === 0 ? base : `${base}?${list.join('&')}`))
}

const strayPairs = [
  ...['', '=', '&', 'limit', 'name', 'Limit=1', 'unknown=1', '__proto__=1', 'limit%5B%5D=1'],
  ...['limit=1&limit=1', 'cursor=%00', 'a=%zz'],
]

/** Encodes a text for a URL, except the names in `{{…}}`. */
function around(text: string, writing: (text: string) => string): string {
  const pieces = text.split(/(\{\{\w+\}\})/)
  return pieces.map((piece, i) => (i % 2 === 0 ? writing(piece) : piece)).join('')
}

/** Sometimes a request ID that the document allows. */
function requestId({ fields }: Operation): fc.Arbitrary<Lines> {
  if (!fields.some((each) => each.in === 'header' && each.name === 'X-Request-Id')) return fc.constant([])
  const id = fc.string({ unit: 'grapheme-ascii', minLength: 1, maxLength: 200 }).map((text) => text.trim())
  return fc.option(id, { freq: 4 }).map((text) => (text ? [['X-Request-Id', text]] : []))
}

function bodyOf(operation: Operation, onlyGood: boolean): fc.Arbitrary<SentBody | null> {
  const inBody = operation.fields.filter((each) => each.in === 'body')
  const values = Object.fromEntries(inBody.map((each) => [each.name, bodyValue(operation, each, onlyGood)]))
  const all = wholeBody(values)
  const stray = fc.tuple(strayField, fc.jsonValue({ maxDepth: 1 })).map(([name, value]) => [[name, value]])
  const chosen = onlyGood
    ? all.map((each) => Object.entries(each))
    : fc
        .tuple(
          fc.oneof(
            { arbitrary: all, weight: 6 },
            { arbitrary: fc.record(values, { requiredKeys: [] }), weight: 1 },
          ),
          fc.oneof({ arbitrary: fc.constant([]), weight: 9 }, { arbitrary: stray, weight: 1 }),
        )
        .map(([each, more]) => [...Object.entries(each), ...more])
  return chosen.map((entries) =>
    entries.length === 0 && inBody.length === 0
      ? null
      : raw(Buffer.from(jsonOf(entries)).toString('latin1'), 'application/json'),
  )
}

/** All fields of a body except its cursor, with one of the ways to name a person. */
function wholeBody(values: Record<string, fc.Arbitrary<unknown>>): fc.Arbitrary<Record<string, unknown>> {
  const { identifier, subjectId, address, person, cursor: _, ...others } = values
  if (address && person)
    return fc.oneof(
      fc.record<Record<string, unknown>>({ address }),
      fc.record<Record<string, unknown>>({ person }),
    )
  if (!identifier || !subjectId) {
    const { cursor: _, ...all } = values
    return fc.record(all)
  }
  return fc.oneof(
    fc.record<Record<string, unknown>>({ identifier, ...others }),
    fc.record<Record<string, unknown>>({ subjectId, ...others }),
  )
}

/** A JSON object with these fields in this order, even if one is `__proto__`. */
function jsonOf(entries: unknown[][]): string {
  return `{${entries.map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`).join(',')}}`
}

function raw(bytes: string, type: string | null = null): SentBody {
  return { bytes, type, isChunked: false }
}

/** Whether headers specify the length of a body, or try to. */
export function isFramed(headers: Lines): boolean {
  return headers.some(([name]) => /^(content-length|transfer-encoding)$/i.test(name))
}
