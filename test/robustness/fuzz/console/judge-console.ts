import assert from 'node:assert/strict'
import { errorCodes } from '../../../../src/domain/errors.ts'
import { consoleRoutes } from '../../../../src/http/console/routes/index.ts'
import type { Route } from '../../../../src/http/request-context.ts'
import { dataOf, errorOf, isObject, objectIn, problemFields, textIn } from '../../../support/answers.ts'
import type { Answer } from '../../../support/documented.ts'
import { assertAnswer } from '../requests/judge.ts'
import { type ConsoleRequest, nameOf } from './console-request.ts'
import { cookies, origins } from './credentials.ts'
import { problemsOf } from './problems-of.ts'
import { secret } from './stage.ts'

/** Fails unless an answer is one that may be given to this request, by what the reference says of the console. */
export function judgeConsole(request: ConsoleRequest, mean: (text: string) => string, answer: Answer): void {
  assertAnswer(request.method, request.target, answer)
  assertSafe(answer)
  if (answer.status === 204) return
  if (answer.status >= 400) assertRefusal(request, answer)
  else if (answer.headers.get('content-type')?.startsWith('application/json')) assertData(request, answer)
  else if (isFile(answer)) assert.equal(answer.headers.get('cache-control'), 'no-store')
  else assertPage(answer)
  if (request.oddity === null && request.target.length < 12_000) judgeRoute(request, mean, answer)
}

/** What holds for every answer, to whatever was sent. */
function assertSafe({ status, headers, body }: Answer): void {
  assert.ok([200, 204, 302, 400, 401, 403, 404, 422, 429].includes(status), `the status ${status}`)
  assert.equal(headers.get('x-content-type-options'), 'nosniff')
  for (const [name] of headers) assert.doesNotMatch(name, /^access-control-|^x-powered-by$|^server$/)
  assert.ok(!JSON.stringify([body, [...headers]]).includes(secret), 'the answer holds what is another’s')
}

function assertRefusal({ method }: ConsoleRequest, answer: Answer): void {
  assert.equal(answer.headers.get('set-cookie'), null)
  assert.equal(answer.headers.get('cache-control'), 'no-store')
  if (method === 'HEAD' && answer.body === null) return
  const told = textIn(objectIn(answer.body, 'error'), 'code')
  const code = errorCodes.find((each) => each === told)
  assert.ok(code, `the code ${told}`)
  errorOf(answer, code)
}

const signInCookie =
  /^(lethe-(console|browser)=[\w.-]*; Max-Age=\d+; Path=\/console; HttpOnly; SameSite=Strict|__Host-lethe-(console|browser)=[\w.-]*; Max-Age=\d+; Path=\/; HttpOnly; SameSite=Strict; Secure)$/

function assertData({ method }: ConsoleRequest, answer: Answer): void {
  assert.equal(answer.headers.get('cache-control'), 'no-store')
  for (const cookie of answer.headers.getSetCookie()) assert.match(cookie, signInCookie)
  if (method !== 'HEAD' && !isFile(answer)) assert.ok(isObject(answer.body) && 'data' in answer.body)
}

function isFile({ headers }: Answer): boolean {
  return /^attachment; filename="[\w.-]+\.(json|csv)"$/.test(headers.get('content-disposition') ?? '')
}

/** A page or a part of one, never another file. */
function assertPage({ headers, body }: Answer): void {
  const policy = headers.get('content-security-policy') ?? ''
  assert.match(policy, /default-src 'none'.*frame-ancestors 'none'/)
  assert.doesNotMatch(policy, /unsafe-|\*|data:/)
  assert.equal(headers.get('x-frame-options'), 'DENY')
  assert.equal(headers.get('referrer-policy'), 'no-referrer')
  assert.equal(headers.get('set-cookie'), null)
  if (headers.get('content-type')?.startsWith('text/html') && body !== null)
    assert.match(String(body), /^<!doctype html>/i)
}

function judgeRoute(request: ConsoleRequest, mean: (text: string) => string, answer: Answer): void {
  const route = routeNamed(request.route)
  const isOurs = route.method === 'GET' ? true : (origins[request.origin]?.isOurs ?? null)
  const isMembers = route.access === 'open' ? true : (cookies[request.cookie]?.isMembers ?? null)
  const target = mean(request.target)
  if (/\/(\/|$|\?)/.test(target)) return
  const refused = (code: 'forbidden' | 'unauthorized' | 'invalid_request') => {
    if (request.method !== 'HEAD') errorOf(answer, code)
  }
  if (isOurs === false) refused('forbidden')
  else if (isMembers === false && isOurs) refused('unauthorized')
  // Earlier requests may have ended the sign-in.
  if (!isOurs || !isMembers || (route.access === 'member' && answer.status === 401)) return
  const problems = problemsOf(route, target, mean(request.body?.bytes ?? '{}'))
  if (problems === 'broken') refused('invalid_request')
  else if (request.method !== 'HEAD') judgeParameters(problems, answer)
}

function judgeParameters(problems: readonly string[], answer: Answer): void {
  if (problems.length > 0) {
    const named = problemFields(answer)
    for (const field of problems)
      assert.ok(named.includes(field), `${field} is wrong, and only ${named} are named`)
  } else if (answer.status === 200 && !answer.headers.has('content-disposition')) dataOf(answer)
}

export function routeNamed(name: string): Route {
  const route = consoleRoutes.find((each) => nameOf(each) === name)
  assert.ok(route, `there is no ${name}`)
  return route
}
