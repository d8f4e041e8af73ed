import assert from 'node:assert/strict'
import { errorOf, isObject, problemFields, textIn, uuidPattern } from '../../../support/answers.ts'
import { type Answer, assertDocumented } from '../../../support/documented.ts'
import type { GeneratedRequest } from './generated-request.ts'
import { type Operation, operationNamed } from './operations.ts'

/** Pages for browsers, which the document does not speak of. */
const page = /^\/+(?:docs|console)(?:\/|$)|^\/$/

/** A longer target may leave the headers no room, and is refused for that. */
const mostTarget = 15_000

/**
 * What may be wrong with parameters that are each as documented: they do not go together, an instant is finer than the format says, or
 * a ledger is smaller.
 */
const together = ['cursor', 'from', 'subjectIdPrefix', 'lastSeenAfter', 'lastSeenBefore']

/** Fails unless an answer is one that may be given to this request, by what the document and the contract say. */
export function judge(request: GeneratedRequest, answer: Answer): void {
  assertAnswer(request.method, request.target, answer)
  const chosen = request.headers.filter(([name]) => name === 'X-Request-Id')
  if (request.oddity !== null || request.target.length > mostTarget) return
  const [id] = chosen
  if (id) assert.equal(answer.headers.get('x-request-id'), id[1])
  else assert.match(answer.headers.get('x-request-id') ?? '', uuidPattern)
  const operation = operationNamed(request.operation)
  if (!operation.isPublic) judgeOperation(operation, request, answer)
}

/** Fails unless an answer to whatever was sent is as it must be, and no failure of ours. */
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

/** Whoever asks a public path for its methods is told them, and nothing else. */
function assertMethodsTold(method: string, { headers, body }: Answer): void {
  assert.equal(method, 'OPTIONS')
  assert.match(headers.get('allow') ?? '', /^[A-Z, ]*OPTIONS$/)
  assert.equal(headers.get('set-cookie'), null)
  assert.equal(body, null)
}

function judgeOperation(operation: Operation, { target, key }: GeneratedRequest, answer: Answer): void {
  if (['revoked', 'expired', 'damaged', 'none'].includes(key)) {
    errorOf(answer, 'unauthorized')
    return
  }
  const wants = operation.method === 'DELETE' ? 'erase' : 'view'
  const [path = '', ...queries] = target.split('?')
  const query = queries.join('?')
  const ids = path
    .split('/')
    .slice(4)
    .filter((_, i) => i % 2 === 0)
  if (ids.slice(0, operation.path.includes('{subjectId}') ? 2 : 1).includes('')) return
  if ((key === 'view' || key === 'erase') && key !== wants) {
    errorOf(answer, 'forbidden')
    return
  }
  if (operation.method === 'POST') {
    // Bodies are generated with no operation in mind: few fit, and none may do harm.
    assert.ok([200, 400, 422].includes(answer.status), `${answer.status} for a body`)
    return
  }
  const problems = problemsOf(operation, path, query)
  if (problems === 'broken') errorOf(answer, 'invalid_request')
  else if (problems.length > 0) {
    const named = problemFields(answer)
    for (const field of problems)
      assert.ok(named.includes(field), `${field} is wrong, and only ${named} are named`)
  } else if (answer.status === 422) {
    for (const field of problemFields(answer))
      assert.ok(together.includes(field), `nothing is wrong with ${field}`)
  } else assert.ok(answer.status === 200 || answer.status === 404, `${answer.status}, and nothing is wrong`)
}

/** Which parameters are not what the document says; `'broken'` where they cannot be told apart. */
function problemsOf(
  { parameters, path: template }: Operation,
  path: string,
  query: string,
): string[] | 'broken' {
  const problems: string[] = []
  const allows = (name: string, text: string) =>
    parameters.find((each) => each.name === name && each.in !== 'header')?.allows(text)
  try {
    const segments = path.split('/')
    template.split('/').forEach((segment, i) => {
      const name = /^\{(\w+)\}$/.exec(segment)?.[1]
      if (name && !allows(name, decodeURIComponent(segments[i] ?? ''))) problems.push(name)
    })
    const seen = new Set<string>()
    for (const pair of query.split('&').filter((text) => text !== '')) {
      const [name = '', ...values] = pair.split('=').map((text) => text.replaceAll('+', ' '))
      const decoded = decodeURIComponent(name)
      if (seen.has(decoded) || !allows(decoded, decodeURIComponent(values.join('=')))) problems.push(decoded)
      seen.add(decoded)
    }
  } catch {
    return 'broken'
  }
  return problems
}

/** The path in a target, as the router sees it: without a scheme and a host, and decoded where that changes nothing. */
function pathOf(target: string): string {
  // The parser passes over spaces around a target.
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
