import assert from 'node:assert/strict'
import type { ErrorCode } from '../../src/domain/errors.ts'
import { errorStatus } from '../../src/http/response.ts'
import type { Answer } from './documented.ts'

type Json = Record<string, unknown>

export const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

export function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The object in a field of an object. Fails if there is none. */
export function objectIn(value: unknown, field: string): Json {
  assert.ok(isObject(value), `no object around ${field}`)
  const inner = value[field]
  assert.ok(isObject(inner), `no object in ${field}`)
  return inner
}

/** The list in a field of an object. Fails if there is none. */
export function listIn(value: unknown, field: string): unknown[] {
  assert.ok(isObject(value), `no object around ${field}`)
  const inner = value[field]
  assert.ok(Array.isArray(inner), `no list in ${field}`)
  return inner
}

/** The string in a field of an object. Fails if there is none. */
export function textIn(value: unknown, field: string): string {
  assert.ok(isObject(value), `no object around ${field}`)
  const inner = value[field]
  assert.ok(typeof inner === 'string', `no text in ${field}`)
  return inner
}

/** The data of a success. Fails if the envelope holds anything else. */
export function dataOf(answer: Answer): Json {
  assert.equal(answer.status, 200, JSON.stringify(answer.body))
  assertEnvelope(answer, 'data')
  return objectIn(answer.body, 'data')
}

/** The data of each page of a list. `ask` requests the page after a cursor, first without one. */
export async function* pagesOf(ask: (after: { cursor?: string }) => Promise<Answer>): AsyncGenerator<Json> {
  let after: { cursor?: string } = {}
  for (;;) {
    const page = dataOf(await ask(after))
    yield page
    if (page.nextCursor === null) return
    after = { cursor: textIn(page, 'nextCursor') }
  }
}

/** The error of a failure. Fails if the envelope holds anything else. */
export function errorOf(answer: Answer, code: ErrorCode): Json {
  assert.equal(answer.status, errorStatus[code], JSON.stringify(answer.body))
  assertEnvelope(answer, 'error')
  const error = objectIn(answer.body, 'error')
  assert.equal(error.code, code)
  assert.notEqual(textIn(error, 'message'), '')
  assert.deepEqual(
    Object.keys(error),
    code === 'validation_error' ? ['code', 'message', 'details'] : ['code', 'message'],
  )
  return error
}

/** The fields that a `validation_error` names, in its order. */
export function problemFields(answer: Answer): string[] {
  return listIn(errorOf(answer, 'validation_error'), 'details').map((problem) => {
    assert.notEqual(textIn(problem, 'message'), '')
    return textIn(problem, 'field')
  })
}

function assertEnvelope({ body, headers }: Answer, content: 'data' | 'error'): void {
  assert.ok(isObject(body))
  assert.deepEqual(Object.keys(body).sort(), [content, 'meta'])
  const meta = objectIn(body, 'meta')
  assert.deepEqual(Object.keys(meta).sort(), ['requestId', 'timestamp'])
  assert.equal(meta.requestId, headers.get('x-request-id'))
  assert.match(textIn(meta, 'timestamp'), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
  assert.equal(headers.get('content-type'), 'application/json; charset=utf-8')
}

/** The values of the `X-RateLimit-*` headers. */
interface BudgetHeaders {
  limit: number
  remaining: number
  reset: number
}

export function budgetOf({ headers }: Answer): BudgetHeaders {
  const read = (name: string) => {
    const text = headers.get(`x-ratelimit-${name}`)
    assert.match(text ?? 'absent', /^\d+$/, `X-RateLimit-${name}`)
    return Number(text)
  }
  return { limit: read('limit'), remaining: read('remaining'), reset: read('reset') }
}

export function assertUnmetered({ headers }: Answer): void {
  const names = [...headers.keys()].filter((name) => /ratelimit|retry-after/.test(name))
  assert.deepEqual(names, [])
}

/** An answer without its request ID, timestamp and budgets, to compare what a client can distinguish. */
export function comparableAnswer({ status, headers, body }: Answer): Json {
  const shared = [...headers].filter(([name]) => !/^(x-request-id|date|(x-)?ratelimit.*)$/.test(name))
  const meta = { requestId: 'any', timestamp: 'any' }
  return { status, headers: shared, body: isObject(body) ? { ...body, meta } : body }
}
