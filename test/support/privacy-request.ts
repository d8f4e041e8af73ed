import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import type { ActivityKind } from '../../src/domain/activity.ts'
import type { Instant } from '../../src/domain/instant.ts'
import type { PrivacyRequestRef, RequestClosing } from '../../src/domain/privacy-request.ts'
import type { ReportedRequest } from '../../src/domain/request-report.ts'
import type { Store } from '../../src/domain/store.ts'
import { testKeyring } from './test-keyring.ts'

interface StoredRequest extends Partial<Pick<ReportedRequest, 'id' | 'kind' | 'dueAt'>> {
  receivedAt: Instant
  /** How and when it was closed, if it was. */
  closed?: readonly [to: RequestClosing['to'] | 'done', at: Instant]
}

/** Stores a request received at one time and, if `closed` is given, closed at another. */
export async function storeRequest(
  { privacyRequests }: Pick<Store, 'privacyRequests'>,
  organisationId: string,
  {
    receivedAt,
    closed,
    id = randomUUID(),
    kind = 'erasure',
    dueAt = receivedAt + 30 * 86_400_000,
  }: StoredRequest,
): Promise<PrivacyRequestRef> {
  const actor = { kind: 'command-line' } as const
  const note = (kind: ActivityKind, at: Instant) =>
    ({ id: randomUUID(), organisationId, at, actor, kind, target: null, requestId: null }) as const
  const request = {
    ...{ id, organisationId, kind, reference: null, receivedAt, dueAt, contentDigest: 'digest' },
    ...{ createdAt: receivedAt, createdBy: actor, found: { subjects: 0, sessions: 0, events: 0 } },
    person: { identifiers: [{ name: 'email', value: 'ada@example.com' }], subjects: [] },
  }
  const created = await privacyRequests.create(request, [], note('request.created', receivedAt))
  assert.equal(created, 'created')
  if (closed) {
    const [to, now] = closed
    const ref = { organisationId, id }
    const end = { lease: null, now, found: null, left: null, nothingHeld: [] } as const
    const guard = { headKeys: testKeyring.headKeys, minEntries: 0 }
    const isClosed =
      to === 'done'
        ? await privacyRequests.finish(ref, { ...end, guard }, note('request.closed', now))
        : await privacyRequests.close(
            ref,
            { from: ['open'], to, now, rejectionReason: null },
            note(`request.${to}`, now),
          )
    assert.ok(isClosed)
  }
  return { organisationId, id }
}
