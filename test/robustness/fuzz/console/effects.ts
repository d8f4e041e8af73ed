import assert from 'node:assert/strict'
import type { Answer } from '../../../support/documented.ts'
import type { ConsoleRequest } from './console-request.ts'
import { cookies, origins } from './credentials.ts'
import { routeNamed } from './judge-console.ts'
import type { Look } from './stage.ts'

type Part = keyof Look

/** What each route that is no mere reading may change, and nothing else may. */
const mayChange: Record<string, readonly Part[]> = {
  'POST /console/api/sign-in': ['activity'],
  'POST /console/api/invitation': [],
  'POST /console/api/invitation/accept': ['members', 'activity'],
  'POST /console/api/sign-out': ['activity'],
  'POST /console/api/sign-out-everywhere': ['activity'],
  'POST /console/api/keys': ['keys', 'activity'],
  'POST /console/api/keys/{keyId}/rename': ['keys', 'activity'],
  'POST /console/api/keys/{keyId}/rotate': ['keys', 'activity'],
  'POST /console/api/keys/{keyId}/revoke': ['keys', 'activity'],
  'POST /console/api/trackers': ['trackers', 'activity'],
  'POST /console/api/trackers/{trackerId}/delete': ['trackers', 'subjects', 'activity'],
  'POST /console/api/trackers/{trackerId}/rename': ['trackers', 'activity'],
  'POST /console/api/find': [],
  'POST /console/api/organisation/rename': ['activity'],
  'POST /console/api/ledger/verify': [],
  'POST /console/api/batches/preview': [],
  'POST /console/api/batches': ['activity'],
  'POST /console/api/batches/{batchId}/pause': ['activity'],
  'POST /console/api/batches/{batchId}/resume': ['activity'],
  'POST /console/api/batches/{batchId}/stop': ['activity'],
  'POST /console/api/erasures/receipt': [],
  'GET /console/api/trackers/{trackerId}/subjects/{subjectId}/export': ['activity'],
  'POST /console/api/people/preview': [],
  'POST /console/api/people/erase': ['subjects', 'activity'],
  'POST /console/api/members': ['members', 'activity'],
  'DELETE /console/api/members/{memberId}': ['members', 'activity'],
}

/** What a request may have changed, going by who sent it and what it was answered. */
export function effectsOf(request: ConsoleRequest, { status }: Answer): readonly Part[] {
  const route = routeNamed(request.route)
  const parts = mayChange[request.route]
  if (status !== 200 || (route.method === 'GET' && !parts && request.oddity === null)) return []
  if (route.method !== 'GET' && origins[request.origin]?.isOurs === false) return []
  if (route.access === 'member' && cookies[request.cookie]?.isMembers === false) return []
  // Another target or method may be another route's.
  if (request.oddity !== null) return ['keys', 'members', 'trackers', 'subjects', 'activity']
  assert.ok(parts, `nobody has said what ${request.route} may change`)
  return parts
}

/** Fails when more has changed than may have. */
export function assertChangedOnly(parts: readonly Part[], before: Look, after: Look): void {
  const kept = (look: Look) => Object.entries(look).filter(([part]) => !parts.some((each) => each === part))
  assert.deepEqual(kept(after), kept(before))
}
