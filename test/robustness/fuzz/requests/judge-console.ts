import assert from 'node:assert/strict'
import { errorCodes } from '../../../../src/domain/errors.ts'
import { errorOf, isObject, objectIn, textIn } from '../../../support/answers.ts'
import type { Answer } from '../../../support/documented.ts'
import { cookies, origins } from './console-credentials.ts'
import type { GeneratedRequest } from './generated-request.ts'
import type { Operation } from './operations.ts'

/** Part of everything in the other organisation that requests do not name: no answer may contain it. */
export const secret = 'nobody-elses'

/** Fails unless an answer has what every answer of the console must have, for any request. */
export function assertSafe(request: GeneratedRequest, answer: Answer): void {
  const { status, headers, body } = answer
  assert.ok([200, 204, 302, 400, 401, 403, 404, 422, 429].includes(status), `the status ${status}`)
  assert.equal(headers.get('x-content-type-options'), 'nosniff')
  for (const [name] of headers) assert.doesNotMatch(name, /^access-control-|^x-powered-by$|^server$/)
  assert.ok(!JSON.stringify([body, [...headers]]).includes(secret), 'the answer holds what is another’s')
  if (status === 204) return
  if (status >= 400) assertRefusal(request, answer)
  else if (headers.get('content-type')?.startsWith('application/json')) assertData(request, answer)
  else if (isFile(answer)) assert.equal(headers.get('cache-control'), 'no-store')
  else assertPage(answer)
}

function assertRefusal({ method }: GeneratedRequest, answer: Answer): void {
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

function assertData({ method }: GeneratedRequest, answer: Answer): void {
  assert.equal(answer.headers.get('cache-control'), 'no-store')
  for (const cookie of answer.headers.getSetCookie()) assert.match(cookie, signInCookie)
  if (method !== 'HEAD' && !isFile(answer)) assert.ok(isObject(answer.body) && 'data' in answer.body)
}

function isFile({ headers }: Answer): boolean {
  return /^attachment; filename="[\w.-]+\.(json|csv|zip)"$/.test(headers.get('content-disposition') ?? '')
}

/** Fails unless an answer is a page or an asset with the required headers. */
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

const parts = ['keys', 'members', 'trackers', 'variables', 'subjects', 'profile', 'requests', 'activity']

/** What each writing route may change; others may change nothing. */
const mayChange: Record<string, readonly string[]> = {
  'POST /console/api/sign-in': ['activity'],
  'POST /console/api/sign-in/second-factor': ['activity'],
  'POST /console/api/sign-in/passkey/options': [],
  'POST /console/api/sign-in/passkey': ['activity'],
  'POST /console/api/verification/options': [],
  'POST /console/api/verification': ['activity'],
  'POST /console/api/account/password': ['activity'],
  'POST /console/api/account/passkeys/options': [],
  'POST /console/api/account/passkeys': ['activity'],
  'POST /console/api/account/passkeys/{passkeyId}/rename': ['activity'],
  'DELETE /console/api/account/passkeys/{passkeyId}': ['activity'],
  'POST /console/api/account/totp/offer': [],
  'POST /console/api/account/totp': ['activity'],
  'DELETE /console/api/account/totp': ['activity'],
  'POST /console/api/account/recovery-codes': ['activity'],
  'POST /console/api/sign-in-rules/second-factor': ['activity'],
  'POST /console/api/members/{memberId}/remove-factors': ['activity'],
  'POST /console/api/invitation': [],
  'POST /console/api/invitation/accept': ['members', 'activity'],
  'POST /console/api/single-sign-on': [],
  'POST /console/api/single-sign-on/finish': [],
  'POST /console/api/verification/single-sign-on': [],
  'POST /console/api/sign-in-rules/domains': ['activity'],
  'POST /console/api/sign-in-rules/password': ['activity'],
  'POST /console/api/sign-out': ['activity'],
  'POST /console/api/sign-out-everywhere': ['activity'],
  'POST /console/api/account/sign-ins/{signInId}/end': ['activity'],
  'POST /console/api/account/end-other-sign-ins': ['activity'],
  'POST /console/api/account/language': ['members', 'activity'],
  'POST /console/api/keys': ['keys', 'activity'],
  'POST /console/api/keys/{keyId}/rename': ['keys', 'activity'],
  'POST /console/api/keys/{keyId}/rotate': ['keys', 'activity'],
  'POST /console/api/keys/{keyId}/revoke': ['keys', 'activity'],
  'POST /console/api/trackers': ['trackers', 'activity'],
  'POST /console/api/trackers/{trackerId}/delete': ['trackers', 'variables', 'subjects', 'activity'],
  'POST /console/api/trackers/{trackerId}/rename': ['trackers', 'activity'],
  'POST /console/api/trackers/{trackerId}/variables': ['variables', 'activity'],
  'POST /console/api/trackers/{trackerId}/variable-tokens': ['variables', 'activity'],
  'POST /console/api/variable-tokens/{tokenId}/rotate': ['variables', 'activity'],
  'POST /console/api/variable-tokens/{tokenId}/revoke': ['variables', 'activity'],
  'POST /console/api/find': [],
  'POST /console/api/organisation/rename': ['activity'],
  'POST /console/api/ledger/verify': [],
  'POST /console/api/erasure-lists/preview': [],
  'POST /console/api/erasure-lists': ['requests', 'activity'],
  'POST /console/api/request-groups/start': ['requests', 'activity'],
  'POST /console/api/request-groups/cancel': ['requests', 'activity'],
  'POST /console/api/erasures/receipt': [],
  'GET /console/api/trackers/{trackerId}/subjects/{subjectId}/export': ['activity'],
  'POST /console/api/person': [],
  'POST /console/api/person/timeline': [],
  'POST /console/api/requests': ['requests', 'activity'],
  'POST /console/api/requests/{requestId}/extend': ['requests', 'activity'],
  'POST /console/api/requests/{requestId}/reject': ['requests', 'activity'],
  'POST /console/api/requests/{requestId}/cancel': ['requests', 'activity'],
  'POST /console/api/requests/{requestId}/close': ['requests', 'activity'],
  'POST /console/api/requests/{requestId}/erase': ['requests', 'activity'],
  'POST /console/api/requests/{requestId}/assign': ['requests', 'activity'],
  'POST /console/api/requests/{requestId}/notes': ['requests', 'activity'],
  'POST /console/api/requests/{requestId}/exclude': ['requests', 'activity'],
  'POST /console/api/requests/{requestId}/include': ['requests', 'activity'],
  'DELETE /console/api/requests/{requestId}/notes/{noteId}': ['requests', 'activity'],
  'POST /console/api/requests/{requestId}/records': [],
  'GET /console/api/requests/{requestId}/export': ['activity'],
  'GET /console/api/request-groups/report': ['activity'],
  'GET /console/api/requests/report/export': ['activity'],
  'GET /console/api/activity/export': ['activity'],
  'POST /console/api/organisation/approval': ['activity'],
  'POST /console/api/requests/{requestId}/approve': ['requests', 'activity'],
  'POST /console/api/requests/{requestId}/decline': ['requests', 'activity'],
  'POST /console/api/request-groups/approve': ['requests', 'activity'],
  'POST /console/api/request-groups/decline': ['requests', 'activity'],
  'POST /console/api/organisation/profile': ['profile', 'activity'],
  'POST /console/api/organisation/logo': ['profile', 'activity'],
  'DELETE /console/api/organisation/logo': ['profile', 'activity'],
  'POST /console/api/reply-texts': ['profile', 'activity'],
  'POST /console/api/reply-texts/restore': ['profile', 'activity'],
  'POST /console/api/members': ['members', 'activity'],
  'POST /console/api/members/{memberId}/link': ['activity'],
  'POST /console/api/members/{memberId}/role': ['members', 'activity'],
  'DELETE /console/api/members/{memberId}': ['members', 'activity'],
}

/** What a request may have changed, depending on its sender and the answer. */
export function effectsOf(
  { sender, origin, oddity }: GeneratedRequest,
  operation: Operation,
  { status }: Answer,
): readonly string[] {
  const changes = mayChange[operation.name]
  if (status !== 200 || (operation.method === 'GET' && !changes && oddity === null)) return []
  const refusals = [origins[origin]?.refusal(operation), cookies[sender]?.refusal(operation)]
  if (refusals.includes('forbidden') || refusals.includes('unauthorized')) return []
  // An odd target or method may belong to another route.
  if (oddity !== null) return parts
  assert.ok(changes, `nobody has said what ${operation.name} may change`)
  return changes
}
