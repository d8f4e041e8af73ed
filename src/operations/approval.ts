import type { ActivityKind, Origin } from '../domain/activity.ts'
import { type ApprovalStore, maxApprovalAbove } from '../domain/approval.ts'
import { invalidField, LetheError, notFound } from '../domain/errors.ts'
import type { Clock } from '../domain/instant.ts'
import type { PrivacyRequest } from '../domain/privacy-request.ts'
import type { Randomness } from '../domain/randomness.ts'
import type { OrganisationView } from '../domain/subject-search.ts'
import { activityNote } from './activity.ts'
import { requireRequest, withFound } from './privacy-request.ts'
import { type CountedRequest, changeAll, type GroupDeps, requireGroup } from './request-group.ts'
import type { RequestSearchDeps } from './search-request.ts'

interface ApprovalDeps {
  approvals: ApprovalStore
  clock: Clock
  randomness: Randomness
}

type DecideDeps = ApprovalDeps & GroupDeps & RequestSearchDeps

/** `above` is how many people a member may erase alone in a day; `null`: any number. Throws `not_found`. */
export async function saveApprovalRule(
  deps: ApprovalDeps,
  organisationId: string,
  above: number | null,
  origin: Origin,
): Promise<void> {
  if (above !== null && (!Number.isInteger(above) || above < 1 || above > maxApprovalAbove))
    throw invalidField('above', `above must be a whole number from 1 to ${maxApprovalAbove}`)
  const before = await deps.approvals.findRule(organisationId)
  if (before === above) return
  const target = `${before ?? 'off'} → ${above ?? 'off'}`
  const kind = 'organisation.approval-changed'
  const note = activityNote(deps, origin, { organisationId, kind, target })
  if (!(await deps.approvals.saveRule(organisationId, above, note))) throw notFound('This organisation')
}

type Verdict = 'approve' | 'decline'

/**
 * Approves or declines the erasure of a request. The member who asked for it can decline it, too. Throws
 * `forbidden` if this member approves it.
 */
export async function decideRequest(
  deps: DecideDeps,
  view: OrganisationView,
  requestId: string,
  verdict: Verdict,
  origin: Origin,
): Promise<void> {
  const request = await requireRequest(deps, view.organisationId, requestId)
  const { approval } = request
  if (verdict === 'approve' && approval?.askedBy.id === memberOf(origin))
    throw new LetheError('forbidden', 'Another member has to approve this erasure, because you started it.')
  const { found } = await withFound(deps, view, request)
  if (!approval || (await decide(deps, [{ ...request, found }], verdict, origin)) === 0)
    throw invalidField('state', 'this request is not waiting for an approval; nothing was changed')
}

/**
 * Approves all requests with a reference that wait for another member, or declines all that wait. Throws
 * `validation_error` if their number is no longer `typed`, and `forbidden` if this member asked for all of
 * those to approve.
 */
export async function decideGroup(
  deps: DecideDeps,
  organisationId: string,
  { reference, requests: typed }: { reference: string; requests: number },
  verdict: Verdict,
  origin: Origin,
): Promise<void> {
  await requireGroup(deps, organisationId, reference)
  const memberId = memberOf(origin)
  let own = 0
  const isChosen = ({ approval }: Pick<PrivacyRequest, 'approval'>) => {
    const isOwn = approval?.askedBy.id === memberId
    if (isOwn) own += 1
    return approval !== null && (verdict === 'decline' || !isOwn)
  }
  const waiting = { reference, kind: 'erasure', state: 'open', isChosen } as const
  const check = (count: number) => {
    if (count === 0 && own > 0)
      throw new LetheError(
        'forbidden',
        'Another member has to approve these erasures, because you started them.',
      )
    if (count === typed) return
    throw invalidField(
      'requests',
      `the number of waiting requests is ${count} now, not ${typed}; nothing was changed`,
    )
  }
  let decided = 0
  await changeAll(deps, organisationId, waiting, check, async (requests) => {
    decided += await decide(deps, requests, verdict, origin)
  })
  if (decided === 0) throw invalidField('requests', 'no request waits any more; nothing was changed')
}

async function decide(
  deps: ApprovalDeps,
  requests: readonly CountedRequest[],
  verdict: Verdict,
  origin: Origin,
): Promise<number> {
  const kind: ActivityKind = verdict === 'approve' ? 'request.approved' : 'request.declined'
  const decisions = requests.map(({ organisationId, id, found }) => ({
    ...{ ref: { organisationId, id }, found },
    note: activityNote(deps, origin, { organisationId, kind, target: id }),
  }))
  const memberId = memberOf(origin)
  return verdict === 'approve'
    ? deps.approvals.approve(decisions, memberId)
    : deps.approvals.decline(decisions)
}

function memberOf({ actor }: Origin): string {
  if (actor.kind !== 'member') throw new LetheError('forbidden', 'Only members approve erasures.')
  return actor.id
}
