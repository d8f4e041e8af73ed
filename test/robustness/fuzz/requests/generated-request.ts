import fc from 'fast-check'
import { encode } from './encodings.ts'
import { oddHeaders } from './odd-headers.ts'
import { oddMethod, oddTarget } from './odd-request-line.ts'
import { type Operation, operations, type Parameter } from './operations.ts'
import { type Known, parameterValue } from './parameter-values.ts'

export type KeyKind = 'full' | 'view' | 'erase' | 'foreign' | 'revoked' | 'expired' | 'damaged' | 'none'

/** A request that was made up. It says itself where it ends, so others may follow on its connection. */
export interface GeneratedRequest {
  /** The name of the operation it asks for, as long as nothing is odd about it. */
  operation: string
  method: string
  target: string
  key: KeyKind
  headers: readonly (readonly [name: string, value: string])[]
  body: string
  version: string
  /** What is wrong with it beside its parameters; of such a request nobody knows the status beforehand. */
  oddity: 'method' | 'target' | 'headers' | 'version' | null
}

const usualKey = fc.constant<KeyKind>('full')
const someKey = fc.constantFrom<KeyKind>('view', 'erase', 'foreign', 'revoked', 'expired', 'damaged', 'none')

/** Requests after the document and against it, most of them with little wrong, so that they come far. */
export function generatedRequest(known: Known): fc.Arbitrary<GeneratedRequest> {
  const plain = fc.oneof(
    ...operations.map((each) => ({
      arbitrary: requestFor(each, known),
      // An erasure writes, which takes longest.
      weight: each.isPublic ? 1 : each.method === 'DELETE' ? 3 : 10,
    })),
  )
  return fc.oneof(
    { arbitrary: plain, weight: 30 },
    {
      arbitrary: plain.chain((request) =>
        oddMethod.map((method) => ({ ...request, method, oddity: 'method' as const })),
      ),
      weight: 4,
    },
    {
      arbitrary: plain.chain((request) =>
        oddTarget(request.target).map((other) => ({ ...request, target: other, oddity: 'target' as const })),
      ),
      weight: 6,
    },
    {
      arbitrary: plain.chain((request) =>
        oddHeaders.map((odd) => ({ ...request, ...odd, oddity: 'headers' as const })),
      ),
      weight: 6,
    },
    {
      arbitrary: plain.chain((request) =>
        fc
          .constantFrom('1.0', '0.9', '2.0', '1.2', '1', '1.1 ')
          .map((version) => ({ ...request, version, oddity: 'version' as const })),
      ),
      weight: 1,
    },
  )
}

/** Requests for one operation. Made once: fast-check takes longer to make an arbitrary of texts than a request takes. */
export function requestFor(operation: Operation, known: Known): fc.Arbitrary<GeneratedRequest> {
  const request = fc.record<GeneratedRequest>({
    operation: fc.constant(operation.name),
    method: fc.constant(operation.method),
    target: target(operation, known),
    key: fc.oneof({ arbitrary: usualKey, weight: 4 }, { arbitrary: someKey, weight: 1 }),
    headers: requestId(operation),
    body: fc.constant(''),
    version: fc.constant('1.1'),
    oddity: fc.constant(null),
  })
  return operation.method === 'POST' ? request.chain(withBody) : request
}

/** The same with a body: one that fits a search, mostly, or one that does not. */
function withBody(request: GeneratedRequest): fc.Arbitrary<GeneratedRequest> {
  const value = fc.constantFrom('ada@example.com', 'a', '', '\u0000', 'x'.repeat(257))
  const identifier = fc.record({ name: fc.constantFrom('email', 'userId', 'E-mail'), value })
  const fields = fc.record(
    {
      identifier: fc.oneof({ arbitrary: identifier, weight: 5 }, { arbitrary: fc.jsonValue(), weight: 1 }),
      subjectId: fc.constantFrom('anna', '..', 7),
      limit: fc.constantFrom(1, 200, 0, '1'),
      cursor: fc.constantFrom('abc', null),
    },
    { requiredKeys: [] },
  )
  const ofOne = fc.constantFrom('{"subjectId":"anna"}', '{"identifier":{"name":"email","value":"a@b"}}')
  const bodies = fc.oneof(
    ofOne,
    fields.map((each) => JSON.stringify(each)),
    fc.constantFrom('[]', '{"a', '7'),
  )
  return bodies.map((text) => {
    const body = Buffer.from(text).toString('latin1')
    const length: [string, string] = ['Content-Length', String(body.length)]
    return { ...request, headers: [...request.headers, ['Content-Type', 'application/json'], length], body }
  })
}

/** A path and a query of an operation, each value written in some way. */
function target({ path, parameters }: Operation, known: Known): fc.Arbitrary<string> {
  const written = (parameter: Parameter) =>
    fc.tuple(parameterValue(parameter, known), encode).map(([text, write]) => write(text))
  const inPath = parameters.filter((each) => each.in === 'path')
  const inQuery = parameters.filter((each) => each.in === 'query')
  const filled = fc
    .tuple(...inPath.map(written))
    .map((values) =>
      inPath.reduce((text, { name }, i) => text.replace(`{${name}}`, () => values[i] ?? ''), path),
    )
  const pair = fc.oneof(
    ...inQuery.map((each) => ({
      arbitrary: written(each).map((value) => `${each.name}=${value}`),
      weight: 6,
    })),
    {
      arbitrary: fc.constantFrom(
        '',
        '=',
        '&',
        'limit',
        'Limit=1',
        'unknown=1',
        '__proto__=1',
        'limit%5B%5D=1',
        'cursor=%00',
        'a=%zz',
      ),
      weight: 1,
    },
  )
  const pairs = fc.oneof(
    { arbitrary: fc.constant([]), weight: 2 },
    { arbitrary: fc.uniqueArray(pair, { maxLength: 3, selector: (text) => text.split('=')[0] }), weight: 6 },
    { arbitrary: fc.array(pair, { maxLength: 4 }), weight: 1 },
  )
  return fc
    .tuple(filled, pairs)
    .map(([base, list]) => (list.length === 0 ? base : `${base}?${list.join('&')}`))
}

/** Sometimes an id of the client's choice, as the document allows it. */
function requestId({ parameters }: Operation): fc.Arbitrary<[string, string][]> {
  const isDocumented = parameters.some((each) => each.in === 'header' && each.name === 'X-Request-Id')
  if (!isDocumented) return fc.constant([])
  const id = fc.string({ unit: 'grapheme-ascii', minLength: 1, maxLength: 200 }).map((text) => text.trim())
  return fc.option(id, { freq: 4 }).map((text) => (text ? [['X-Request-Id', text]] : []))
}
