import { maxApprovalAbove } from '../../domain/approval.ts'
import { decideGroup, decideRequest, saveApprovalRule } from '../../operations/approval.ts'
import { identityOf, originOf } from '../request-context.ts'
import { defineRoute } from '../route.ts'
import { integer, object, orNull } from '../schema.ts'
import { wholeCount } from './fields.ts'
import { changedPage, RequestPage } from './request-fields.ts'
import { RequestGroup, readGroup, reference } from './request-groups.ts'
import { requestPath } from './requests.ts'

const ApprovalRule = object(
  /** How many people a member may erase in a day without an approval. */
  { above: orNull(integer()) },
  { title: 'ApprovalRule' },
)

const rulePath = '/console/api/organisation/approval'
const rule = `a whole number from 1 to ${maxApprovalAbove}, or null`
const waitingRequests = wholeCount('the number of requests to approve or to decline')

/** The rule that erasing many people takes two members, and their decisions. */
export const approvalRoutes = [
  defineRoute({
    method: 'GET',
    path: rulePath,
    access: 'viewer',
    response: ApprovalRule,
    handle: async ({ services, context }) => ({
      above: await services.approvals.findRule(identityOf(context).organisationId),
    }),
  }),
  defineRoute({
    method: 'POST',
    path: rulePath,
    access: 'admin',
    recentSignIn: true,
    body: { above: orNull(integer({ minimum: 1, maximum: maxApprovalAbove }), { 'x-rule': rule }) },
    bodyNamesNobody: true,
    response: ApprovalRule,
    async handle({ services, context, body: { above } }) {
      await saveApprovalRule(services, identityOf(context).organisationId, above, originOf(context))
      return { above }
    },
  }),
  ...(['approve', 'decline'] as const).flatMap((verdict) => [
    defineRoute({
      method: 'POST',
      path: `${requestPath}/${verdict}`,
      access: 'desk',
      recentSignIn: true,
      body: {},
      response: RequestPage,
      handle: (call) =>
        changedPage(call, async (view, requestId, origin) => {
          await decideRequest(call.services, view, requestId, verdict, origin)
          call.http.wakeRequests()
        }),
    }),
    defineRoute({
      method: 'POST',
      path: `/console/api/request-groups/${verdict}`,
      access: 'desk',
      recentSignIn: true,
      body: { reference, requests: waitingRequests },
      response: RequestGroup,
      async handle(call) {
        const { organisationId } = identityOf(call.context)
        await decideGroup(call.services, organisationId, call.body, verdict, originOf(call.context))
        call.http.wakeRequests()
        return readGroup(call, call.body.reference)
      },
    }),
  ]),
]
