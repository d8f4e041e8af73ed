import { instantRule, readInstant } from '../../domain/instant.ts'
import { requestKinds } from '../../domain/privacy-request.ts'
import {
  cancelRequest,
  closeRequest,
  extendRequest,
  reasonRule,
  rejectRequest,
  startRequest,
} from '../../operations/change-privacy-request.ts'
import { createRequest } from '../../operations/create-privacy-request.ts'
import { inboxStates, listInbox, planInbox } from '../../operations/inbox.ts'
import { confirmSubjects } from '../../operations/request-handling.ts'
import { countOpenRequests, readRequestPage } from '../../operations/request-page.ts'
import { pageParameters } from '../api/fields.ts'
import { createRequestBody } from '../api/requests.ts'
import { identifier } from '../parameters.ts'
import { originOf } from '../request-context.ts'
import { defineRoute, organisationView } from '../route.ts'
import { integer, listedChoice, object, oneOf, optional, text } from '../schema.ts'
import {
  changedPage,
  personField,
  presentPage,
  presentRow,
  RequestList,
  RequestPage,
  typedSubjects,
} from './request-fields.ts'
import { reference } from './request-groups.ts'

const RequestCounts = object(
  { open: integer(), dueSoon: integer(), overdue: integer(), mine: integer() },
  { title: 'RequestCounts' },
)

const inboxParameters = {
  ...pageParameters,
  state: optional(listedChoice(inboxStates)),
  kind: optional(listedChoice(requestKinds)),
  assignee: optional(text({ ...identifier, 'x-rule': 'me, none or the ID of a member' })),
  overdue: optional(oneOf(['true'], { 'x-rule': 'true' })),
  reference: optional(reference),
}

/** The operations count characters; these only limit what they have to read. */
const reason = text({ maxLength: 2_000, 'x-rule': reasonRule })

const newRequestFields = {
  kind: listedChoice(requestKinds),
  person: personField,
  receivedAt: optional(text({ format: 'date-time', 'x-rule': instantRule })),
  reference: optional(reference),
  requestId: createRequestBody.requestId,
}

export const requestPath = '/console/api/requests/{requestId}'

export const requestRoutes = [
  defineRoute({
    method: 'GET',
    path: '/console/api/requests',
    access: 'viewer',
    query: inboxParameters,
    response: RequestList,
    plan: ({ query: { overdue, ...query } }, problems) =>
      planInbox({ ...query, isOverdue: overdue !== undefined }, problems),
    async handle({ services, signedIn: { organisation, member }, plan }) {
      const { requests, nextCursor } = await listInbox(services, organisation.id, member.id, plan)
      return { rows: requests.map(presentRow), nextCursor }
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/console/api/request-counts',
    access: 'viewer',
    response: RequestCounts,
    handle: ({ services, signedIn: { organisation, member } }) =>
      countOpenRequests(services, organisation.id, member.id),
  }),
  defineRoute({
    method: 'POST',
    path: '/console/api/requests',
    access: 'desk',
    body: newRequestFields,
    response: RequestPage,
    plan: ({ body: { receivedAt, reference = null, requestId = null, ...wanted } }, problems) => ({
      ...{ ...wanted, reference, requestId },
      receivedAt: readInstant('receivedAt', receivedAt, problems),
    }),
    async handle(call) {
      const view = organisationView(call)
      const { id } = await createRequest(call.services, view, call.plan, originOf(call.context))
      return presentPage(await readRequestPage(call.services, view, id))
    },
  }),
  defineRoute({
    method: 'GET',
    path: requestPath,
    access: 'viewer',
    response: RequestPage,
    handle: async (call) =>
      presentPage(await readRequestPage(call.services, organisationView(call), call.path.requestId)),
  }),
  defineRoute({
    method: 'POST',
    path: `${requestPath}/extend`,
    access: 'desk',
    body: { reason },
    response: RequestPage,
    handle: (call) =>
      changedPage(call, (view, requestId, origin) =>
        extendRequest(call.services, view, requestId, call.body.reason, origin),
      ),
  }),
  defineRoute({
    method: 'POST',
    path: `${requestPath}/reject`,
    access: 'desk',
    body: { reason },
    response: RequestPage,
    handle: (call) =>
      changedPage(call, (view, requestId, origin) =>
        rejectRequest(call.services, view, requestId, call.body.reason, origin),
      ),
  }),
  ending('cancel', cancelRequest),
  ending('close', closeRequest),
  defineRoute({
    method: 'POST',
    path: `${requestPath}/erase`,
    access: 'desk',
    recentSignIn: true,
    body: { subjects: typedSubjects },
    response: RequestPage,
    handle: (call) =>
      changedPage(call, async (view, requestId, origin) => {
        await confirmSubjects(call.services, view, requestId, call.body.subjects)
        await startRequest(call.services, view, requestId, origin)
        call.http.wakeRequests()
      }),
  }),
]

function ending(verb: 'cancel' | 'close', end: typeof cancelRequest) {
  return defineRoute({
    method: 'POST',
    path: `${requestPath}/${verb}`,
    access: 'desk',
    body: {},
    response: RequestPage,
    handle: (call) =>
      changedPage(call, (view, requestId, origin) => end(call.services, view, requestId, origin)),
  })
}
