import { maxReasonLength } from '../../domain/privacy-request.ts'
import {
  cancelRequest,
  closeRequest,
  extendRequest,
  reasonPattern,
  reasonRule,
  rejectRequest,
  startRequest,
} from '../../operations/change-privacy-request.ts'
import { waitUntilClosed } from '../../operations/privacy-request.ts'
import { originOf } from '../request-context.ts'
import { defineRoute, organisationView } from '../route.ts'
import { text } from '../schema.ts'
import {
  exampleCancelled,
  exampleClosed,
  exampleErased,
  exampleExtended,
  exampleRejected,
} from './request-examples.ts'
import { PrivacyRequest, presentRequest, requestPath, requestsTag } from './requests.ts'

/** How long the response to an erasure waits for its end. */
const maxWaitMs = 2_000

const reasonField = (description: string) =>
  text({
    minLength: 1,
    maxLength: maxReasonLength,
    pattern: reasonPattern,
    description,
    'x-rule': reasonRule,
  })

export const extendRequestRoute = defineRoute({
  method: 'POST',
  path: `${requestPath}/extend`,
  access: 'analytics:manage-requests',
  body: { reason: reasonField('Why the answer takes longer, such as the number of requests.') },
  response: PrivacyRequest,
  documentation: {
    operationId: 'extendRequest',
    tag: requestsTag,
    summary: 'Extend a privacy request by two months',
    description:
      'Once, while the request is open or running. Tell the person within the first month, with the reason.',
    exampleParameters: { requestId: exampleExtended.requestId },
    exampleBody: { reason: exampleExtended.reason },
    example: exampleExtended,
  },
  async handle(call) {
    const { requestId } = call.path
    const view = organisationView(call)
    const origin = originOf(call.context)
    return presentRequest(await extendRequest(call.services, view, requestId, call.body.reason, origin))
  },
})

export const rejectRequestRoute = defineRoute({
  method: 'POST',
  path: `${requestPath}/reject`,
  access: 'analytics:manage-requests',
  body: { reason: reasonField('Why you do not do what the person asked for.') },
  response: PrivacyRequest,
  documentation: {
    operationId: 'rejectRequest',
    tag: requestsTag,
    summary: 'Reject a privacy request',
    description: 'Closes an open request and deletes its person. No data is erased.',
    exampleParameters: { requestId: exampleRejected.requestId },
    exampleBody: { reason: exampleRejected.reason },
    example: exampleRejected,
  },
  async handle(call) {
    const { requestId } = call.path
    const view = organisationView(call)
    const origin = originOf(call.context)
    return presentRequest(await rejectRequest(call.services, view, requestId, call.body.reason, origin))
  },
})

export const cancelRequestRoute = defineRoute({
  method: 'POST',
  path: `${requestPath}/cancel`,
  access: 'analytics:manage-requests',
  body: {},
  response: PrivacyRequest,
  documentation: {
    operationId: 'cancelRequest',
    tag: requestsTag,
    summary: 'Cancel a privacy request',
    description:
      'Closes a request that was withdrawn or created by mistake, and deletes its person. A running erasure stops; what it has erased stays erased.',
    exampleParameters: { requestId: exampleCancelled.requestId },
    example: exampleCancelled,
  },
  async handle(call) {
    const view = organisationView(call)
    const origin = originOf(call.context)
    return presentRequest(await cancelRequest(call.services, view, call.path.requestId, origin))
  },
})

export const closeRequestRoute = defineRoute({
  method: 'POST',
  path: `${requestPath}/close`,
  access: 'analytics:manage-requests',
  body: {},
  response: PrivacyRequest,
  documentation: {
    operationId: 'closeRequest',
    tag: requestsTag,
    summary: 'Close an access request that was answered',
    description:
      'Deletes its person. For each identifier about which nothing is stored, the ledger gets an entry that proves this. An erasure request closes when the erasure is done.',
    exampleParameters: { requestId: exampleClosed.requestId },
    example: exampleClosed,
  },
  async handle(call) {
    const view = organisationView(call)
    const origin = originOf(call.context)
    return presentRequest(await closeRequest(call.services, view, call.path.requestId, origin))
  },
})

export const eraseRequestRoute = defineRoute({
  method: 'POST',
  path: `${requestPath}/erase`,
  access: 'analytics:delete-data',
  body: {},
  response: PrivacyRequest,
  documentation: {
    operationId: 'eraseRequest',
    tag: requestsTag,
    summary: 'Erase what a privacy request found, for good',
    description:
      'Erases every data subject that the person of an erasure request has on any tracker, including data that a shorter plan hides. Responds when the erasure is done, when it waits for the erasure budget, or after two seconds; the service continues on its own. Each data subject counts against the erasure budget of the key; when it is spent, the service waits until `resumesAt`. It is safe to repeat while the request is open or running.',
    exampleParameters: { requestId: exampleErased.requestId },
    example: exampleErased,
  },
  async handle(call) {
    const { services, context, http } = call
    const started = await startRequest(
      services,
      organisationView(call),
      call.path.requestId,
      originOf(context),
    )
    http.wakeRequests()
    return presentRequest(await waitUntilClosed(services, started, maxWaitMs, context.gone))
  },
})
