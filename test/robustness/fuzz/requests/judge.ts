import assert from 'node:assert/strict'
import { isRole } from '../../../../src/domain/member.ts'
import { dataOf, errorOf, isObject, problemFields, textIn, uuidPattern } from '../../../support/answers.ts'
import { type Answer, assertDocumented } from '../../../support/documented.ts'
import type { TestService } from '../../../support/service.ts'
import type { GeneratedRequest } from './generated-request.ts'
import { type Operation, problemsOf } from './operations.ts'
import { resolveNames } from './send.ts'
import type { Surface } from './surface.ts'

/** Pages for browsers, which the document does not describe. */
const page = /^\/+(?:docs|console)(?:\/|$)|^\/$/

/** A longer target may exceed the limit for headers, and is then refused. */
const maxTarget = 12_000

/**
 * Fails unless this request may get this answer, according to the document, the reference and the contract.
 */
export function judge(surface: Surface, request: GeneratedRequest, answer: Answer): void {
  assertAnswer(request.method, request.target, answer)
  surface.assertSafe(request, answer)
  if (request.oddity !== null || request.target.length > maxTarget) return
  const [id] = request.headers.filter(([name]) => name === 'X-Request-Id')
  if (id) assert.equal(answer.headers.get('x-request-id'), id[1])
  else assert.match(answer.headers.get('x-request-id') ?? '', uuidPattern)
  judgeOperation(surface, operationOf(surface, request), request, answer)
}

export function operationOf({ operations }: Surface, request: GeneratedRequest): Operation {
  const operation = operations.find(({ name }) => name === request.operation)
  assert.ok(operation, `there is no ${request.operation}`)
  return operation
}

/** Fails unless an answer is well-formed, for any request, and not an internal error. */
export function assertAnswer(method: string, target: string, answer: Answer): void {
  assert.notEqual(answer.status, 500)
  assert.ok(answer.headers.get('x-request-id'), 'an answer without X-Request-Id')
  if (answer.status === 204) {
    assertMethodsTold(method, answer)
    return
  }
  const path = pathOf(target)
  if (answer.status < 400 && page.test(path)) return
  assertDocumented(method, path, answer)
  if (isObject(answer.body) && 'error' in answer.body) {
    const { error, meta } = answer.body
    assert.ok(textIn(error, 'code') && textIn(error, 'message'))
    assert.equal(textIn(meta, 'requestId'), answer.headers.get('x-request-id'))
  }
}

/** Fails if the service has logged a failure. */
export function assertNothingFailed({ logged }: TestService): void {
  assert.deepEqual(logged.slice(0, 3), [])
}

/** An OPTIONS request for a public path returns its methods, and nothing else. */
function assertMethodsTold(method: string, { headers, body }: Answer): void {
  assert.equal(method, 'OPTIONS')
  assert.match(headers.get('allow') ?? '', /^[A-Z, ]*OPTIONS$/)
  assert.equal(headers.get('set-cookie'), null)
  assert.equal(body, null)
}

function judgeOperation(
  surface: Surface,
  operation: Operation,
  request: GeneratedRequest,
  answer: Answer,
): void {
  if (operation.access === 'public') return
  const refused = (code: 'forbidden' | 'unauthorized' | 'invalid_request') => {
    if (request.method !== 'HEAD') errorOf(answer, code)
  }
  const target = resolveNames(surface, request.target)
  const isOtherPath = /\/(\/|$|\?)/.test(target)
  const credentials = [surface.origins[request.origin], surface.senders[request.sender]]
  const [refusal] = credentials.flatMap((each) => each?.refusal(operation) ?? [])
  if (refusal === 'unauthorized' || (refusal === 'forbidden' && !isOtherPath)) refused(refusal)
  // An earlier request may have ended the sign-in.
  const isSignedOut = isRole(operation.access) && answer.status === 401
  if (refusal || isOtherPath || isSignedOut) return
  const problems = problemsOf(operation, target, resolveNames(surface, request.body?.bytes ?? '{}'))
  if (problems === 'broken') refused('invalid_request')
  else if (request.method !== 'HEAD') judgeFields(surface, problems, answer)
}

function judgeFields({ mayClash }: Surface, problems: readonly string[], answer: Answer): void {
  if (problems.length > 0) {
    const named = problemFields(answer)
    for (const field of problems)
      assert.ok(named.includes(field), `${field} is wrong, and only ${named} are named`)
  } else if (answer.status === 200) {
    if (!answer.headers.has('content-disposition')) dataOf(answer)
  } else if (mayClash) {
    assert.ok(answer.status === 404 || answer.status === 422, `${answer.status}, and nothing is wrong`)
    for (const field of answer.status === 422 ? problemFields(answer) : [])
      assert.ok(mayClash.includes(field), `nothing is wrong with ${field}`)
  }
}

/**
 * The path in a target, as the router sees it: without scheme and host, and decoded if that changes nothing.
 */
function pathOf(target: string): string {
  // The parser ignores spaces around a target.
  const [path = ''] = target
    .trim()
    .replace(/^[a-z]+:\/\/[^/?#]*/i, '')
    .split(/[?#]/)
  try {
    return decodeURI(path)
  } catch {
    return path
  }
}
