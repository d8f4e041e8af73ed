import fc from 'fast-check'
import { consoleRoutes } from '../../../../src/http/console/routes/index.ts'
import type { Route } from '../../../../src/http/request-context.ts'
import { oddHeaders } from '../requests/odd-headers.ts'
import { oddMethod } from '../requests/odd-request-line.ts'
import { oddConsoleTarget, targetOf, withStrayPair } from './console-target.ts'
import { cookies, origins } from './credentials.ts'
import { bodyValue, strayField } from './field-values.ts'
import { oddBody, type SentBody, utf8 } from './odd-body.ts'

/** A request to the console that was made up. Where it says `{{…}}`, it means what the stage calls so when it is sent. */
export interface ConsoleRequest {
  /** The route it is for, by method and path, as long as nothing is odd about it. */
  route: string
  method: string
  target: string
  /** Which of the cookies and of the origins it comes with. */
  cookie: string
  origin: string
  headers: readonly (readonly [name: string, value: string])[]
  body: SentBody | null
  version: string
  /** What is wrong with it beside its parameters and who sends it; of such a request nobody knows the status beforehand. */
  oddity: 'method' | 'target' | 'headers' | 'body' | 'version' | null
}

export function nameOf({ method, path }: Pick<Route, 'method' | 'path'>): string {
  return `${method} ${path}`
}

/** Requests for each route there is, in their order, most of them with little wrong, so that they come far. */
export const requestsByRoute = consoleRoutes.map((route) => ({
  arbitrary: plainOrOdd(requestFor(route)),
  // A password takes long to try.
  weight: 'password' in route.body ? 6 : 10,
}))

function plainOrOdd(plain: fc.Arbitrary<ConsoleRequest>): fc.Arbitrary<ConsoleRequest> {
  const odd = <Part>(
    weight: number,
    oddity: ConsoleRequest['oddity'],
    change: (request: ConsoleRequest) => fc.Arbitrary<Part>,
  ) => ({
    arbitrary: plain.chain((request) => change(request).map((part) => ({ ...request, ...part, oddity }))),
    weight,
  })
  return fc.oneof(
    { arbitrary: plain, weight: 30 },
    odd(3, 'method', () => oddMethod.map((method) => ({ method }))),
    odd(5, 'target', ({ target }) => oddConsoleTarget(target).map((other) => ({ target: other }))),
    // Its own body would be told a length twice.
    odd(6, 'headers', ({ body }) =>
      oddHeaders.map(({ headers, body: bytes }) => ({
        headers,
        body: isFramed(headers) ? raw(bytes) : body,
      })),
    ),
    odd(10, 'body', ({ body }) => oddBody(body?.bytes ?? '{}').map((other) => ({ body: other }))),
    odd(1, 'version', () => fc.constantFrom('1.0', '0.9', '2.0', '1.1 ').map((version) => ({ version }))),
  )
}

/** A request that nothing is wrong with, as far as anybody can tell beforehand. */
export function goodRequest(route: Route): fc.Arbitrary<ConsoleRequest> {
  return requestFor(route, true)
}

export type Refusal = 400 | 401 | 403 | 404 | 422

/** Requests that are good but for what leads to such a refusal: a strange body or target not every time, the others always. */
export function refusedRequest(route: Route, status: Refusal): fc.Arbitrary<ConsoleRequest> {
  const but = <Part extends Partial<ConsoleRequest>>(
    change: (request: ConsoleRequest) => fc.Arbitrary<Part>,
  ) => goodRequest(route).chain((request) => change(request).map((part) => ({ ...request, ...part })))
  switch (status) {
    case 400:
      return but(({ body }) => oddBody(body?.bytes ?? '{}').map((other) => ({ body: other, oddity: 'body' })))
    case 401:
      return but(() => fc.constantFrom(...strangers).map((cookie) => ({ cookie })))
    case 403:
      return but(() => fc.constantFrom(...elsewhere).map((origin) => ({ origin })))
    case 404:
      return but(() => targetOf(route, false).map((target) => ({ target })))
    case 422:
      return but(({ target }) => withStrayPair(target).map((other) => ({ target: other })))
  }
}

const strangers = Object.keys(cookies).filter((name) => cookies[name]?.isMembers === false)
const elsewhere = Object.keys(origins).filter((name) => origins[name]?.isOurs === false)

function requestFor(route: Route, onlyGood = false): fc.Arbitrary<ConsoleRequest> {
  const pick = (names: string[], usual: string) =>
    onlyGood
      ? fc.constant(usual)
      : fc.oneof(
          { arbitrary: fc.constant(usual), weight: 3 },
          { arbitrary: fc.constantFrom(...names), weight: 1 },
        )
  const isRead = route.method === 'GET'
  return fc.record({
    route: fc.constant(nameOf(route)),
    method: isRead && !onlyGood ? fc.constantFrom('GET', 'GET', 'GET', 'HEAD') : fc.constant(route.method),
    target: targetOf(route, onlyGood),
    cookie: pick(Object.keys(cookies), 'a member’s'),
    origin: isRead ? fc.constant('none') : pick(Object.keys(origins), 'ours'),
    headers: fc.constant([]),
    body: isRead ? fc.constant(null) : bodyOf(route, onlyGood),
    version: fc.constant('1.1'),
    oddity: fc.constant(null),
  })
}

function bodyOf(route: Route, onlyGood: boolean): fc.Arbitrary<SentBody | null> {
  const names = Object.keys(route.body)
  const fields = Object.fromEntries(names.map((name) => [name, bodyValue(route, name, onlyGood)]))
  const all = wholeBody(fields)
  const stray = fc.tuple(strayField, fc.jsonValue({ maxDepth: 1 })).map(([name, value]) => [[name, value]])
  const chosen = onlyGood
    ? all.map((values) => Object.entries(values))
    : fc
        .tuple(
          fc.oneof(
            { arbitrary: all, weight: 6 },
            { arbitrary: fc.record(fields, { requiredKeys: [] }), weight: 1 },
          ),
          fc.oneof({ arbitrary: fc.constant([]), weight: 9 }, { arbitrary: stray, weight: 1 }),
        )
        .map(([values, more]) => [...Object.entries(values), ...more])
  return chosen.map((entries) =>
    entries.length === 0 && names.length === 0 ? null : raw(utf8(jsonOf(entries)), 'application/json'),
  )
}

/** All fields of a body; of a search, one of the two that it can be for, from its beginning. */
function wholeBody(fields: Record<string, fc.Arbitrary<unknown>>): fc.Arbitrary<Record<string, unknown>> {
  const { identifier, subjectId, limit } = fields
  if (!identifier || !subjectId || !limit) return fc.record(fields)
  return fc.oneof(
    fc.record<Record<string, unknown>>({ identifier, limit }),
    fc.record<Record<string, unknown>>({ subjectId, limit }),
  )
}

/** A JSON object of these fields in this order, `__proto__` among them where it is one. */
function jsonOf(entries: unknown[][]): string {
  return `{${entries.map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`).join(',')}}`
}

function raw(bytes: string, type: string | null = null): SentBody {
  return { bytes, type, isChunked: false }
}

/** Whether headers say where a body ends, or should. */
export function isFramed(headers: ConsoleRequest['headers']): boolean {
  return headers.some(([name]) => /^(content-length|transfer-encoding)$/i.test(name))
}
