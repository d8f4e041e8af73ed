import { formatInstant, formatInstantOrNull, instantRule, readInstant } from '../../domain/instant.ts'
import {
  maxReferenceLength,
  requestKinds,
  requestStates,
  type PrivacyRequest as StoredRequest,
} from '../../domain/privacy-request.ts'
import {
  identifierNamePattern,
  identifierNameRule,
  identifierValuePattern,
  identifierValueRule,
} from '../../domain/subject-identifier.ts'
import {
  checkWanted,
  createRequest,
  referencePattern,
  referenceRule,
  type WantedRequest,
} from '../../operations/create-privacy-request.ts'
import { maxPersonParts, personRule } from '../../operations/find-person.ts'
import { listRequests, planRequestList, readRequest } from '../../operations/privacy-request.ts'
import { identifier } from '../parameters.ts'
import { identityOf, originOf } from '../request-context.ts'
import { defineRoute, organisationView } from '../route.ts'
import { count, list, listedChoice, object, oneOf, optional, orNull, text } from '../schema.ts'
import { Identifier, id, instant, nextCursor, page, pageParameters } from './fields.ts'
import { exampleCreation, exampleRequest, exampleRequestList } from './request-examples.ts'

export const requestsTag = 'Privacy requests'
const requestsPath = '/v1/analytics/requests'
export const requestPath = `${requestsPath}/{requestId}` as const

const uuidPattern = '^[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$'
const requestId = { minLength: 36, maxLength: 36, pattern: uuidPattern }

const SubjectRef = object(
  { trackerId: id(), subjectId: id() },
  { title: 'SubjectRef', description: 'A data subject by its tracker and ID.' },
)

const closed = { additionalProperties: false }
const partsOf = { maxItems: maxPersonParts }
const { trackerId, subjectId } = { trackerId: text(identifier), subjectId: text(identifier) }

/** Whom a request is about. Its operation limits the number of parts. */
const personField = object(
  {
    identifiers: optional(
      list(
        object(
          {
            name: text({ maxLength: 32, pattern: identifierNamePattern }),
            value: text({ minLength: 1, maxLength: 256, pattern: identifierValuePattern }),
          },
          closed,
        ),
        { ...partsOf, description: 'Every data subject with one of these identifiers.' },
      ),
    ),
    subjects: optional(
      list(object({ trackerId, subjectId }, closed), { ...partsOf, description: 'These data subjects.' }),
    ),
  },
  {
    ...closed,
    description: `The person: ${personRule}.`,
    'x-rule': `an object with identifiers, subjects or both, ${personRule}; each identifier has a name (${identifierNameRule}) and a value (${identifierValueRule})`,
  },
)

const Person = object(
  {
    identifiers: list(Identifier, { maxItems: maxPersonParts }),
    subjects: list(SubjectRef, { maxItems: maxPersonParts }),
  },
  { title: 'Person', description: 'Whom a request is about.' },
)

const RequestCounts = object(
  {
    subjects: count('The number of data subjects.'),
    sessions: count('The number of sessions.'),
    events: count('The number of events.'),
  },
  { title: 'RequestCounts' },
)

export const PrivacyRequest = object(
  {
    requestId: text({ format: 'uuid', maxLength: 36 }),
    kind: oneOf(requestKinds, { description: 'What the person asked for.' }),
    state: oneOf(requestStates, {
      description: '`open` until it is answered, `running` while the service erases. The others are final.',
    }),
    reference: orNull(text({ maxLength: maxReferenceLength }), { description: 'Your own name for it.' }),
    receivedAt: instant('When the person asked.'),
    dueAt: instant('When the answer is due: one calendar month later, or three if it was extended.'),
    extendedAt: orNull(instant('When it was extended.')),
    closedAt: orNull(instant('When it was done, rejected or cancelled.')),
    reason: orNull(text({ maxLength: 1_000 }), { description: 'Why it was rejected, or else extended.' }),
    person: orNull(Person, {
      description: 'Whom it is about; `null` once the request is closed, because it is then deleted.',
    }),
    found: RequestCounts,
    erased: RequestCounts,
    left: orNull(
      count('How many data subjects arrived too late to be erased with the others; `null` until it is done.'),
    ),
    resumesAt: orNull(instant('When the erasure resumes, while it waits for the erasure budget of its key.')),
  },
  { title: 'PrivacyRequest', description: 'What a person asked for, from its arrival to its answer.' },
)

const PrivacyRequestList = object(
  { requests: page(PrivacyRequest), nextCursor },
  { title: 'PrivacyRequestList' },
)

export const createRequestBody = {
  kind: listedChoice(requestKinds, {
    description: 'What the person asked for.',
  }),
  person: personField,
  receivedAt: optional(
    text({
      format: 'date-time',
      description: 'When the person asked: now, which is the default, or earlier.',
      'x-rule': instantRule,
    }),
  ),
  reference: optional(
    text({
      ...{ minLength: 1, maxLength: maxReferenceLength, pattern: referencePattern },
      description:
        'Your own name for the request, such as a ticket number. It is kept after the request is closed, so it must not contain an identifier or an ID of the person.',
      'x-rule': referenceRule,
    }),
  ),
  requestId: optional(
    text({
      ...requestId,
      description: 'A UUID of your choice, which makes this safe to repeat.',
      'x-rule': 'a UUID, such as 6f8b2c1e-5a0d-4a57-9b7e-0c2f6d1f7a34',
    }),
  ),
}

export const createRequestRoute = defineRoute({
  method: 'POST',
  path: requestsPath,
  access: 'analytics:manage-requests',
  body: createRequestBody,
  response: PrivacyRequest,
  documentation: {
    operationId: 'createRequest',
    tag: requestsTag,
    summary: 'Create a privacy request',
    description:
      'Records what a person asked for. It is due one calendar month after `receivedAt`. The response shows what is stored about the person, on every tracker. With a `requestId` it is safe to repeat: the same content gives the same request.',
    exampleParameters: {},
    exampleBody: exampleCreation,
    example: exampleRequest,
  },
  plan({ body }, problems, now): WantedRequest {
    const { kind, person = {}, reference = null, requestId = null } = body
    const { identifiers = [], subjects = [] } = person
    const receivedAt = readInstant('receivedAt', body.receivedAt, problems)
    const wanted = { kind, person: { identifiers, subjects }, receivedAt, reference, requestId }
    checkWanted(wanted, now, problems)
    return wanted
  },
  async handle(call) {
    const origin = originOf(call.context)
    return presentRequest(await createRequest(call.services, organisationView(call), call.plan, origin))
  },
})

export const listRequestsRoute = defineRoute({
  method: 'GET',
  path: requestsPath,
  access: 'analytics:manage-requests',
  query: {
    ...pageParameters,
    state: optional(listedChoice(requestStates, { description: 'Only requests in this state.' })),
    kind: optional(listedChoice(requestKinds, { description: 'Only requests of this kind.' })),
    dueBefore: optional(
      text({
        format: 'date-time',
        description: 'Only requests that are due before this time.',
        'x-rule': instantRule,
      }),
    ),
  },
  response: PrivacyRequestList,
  documentation: {
    operationId: 'listRequests',
    tag: requestsTag,
    summary: 'List privacy requests',
    description:
      'Soonest due first. In a list, `found` is what the last search found; to search again, read the request.',
    exampleParameters: { state: 'open', limit: 1 },
    exampleAlone: {
      cursor: exampleRequestList.nextCursor,
      kind: 'erasure',
      dueBefore: '2026-12-01T00:00:00.000Z',
    },
    example: exampleRequestList,
  },
  plan: ({ query }, problems) => planRequestList(query, problems),
  async handle({ services, context, plan }) {
    const { requests, nextCursor } = await listRequests(services, identityOf(context).organisationId, plan)
    return { requests: requests.map(presentRequest), nextCursor }
  },
})

export const readRequestRoute = defineRoute({
  method: 'GET',
  path: requestPath,
  access: 'analytics:manage-requests',
  response: PrivacyRequest,
  documentation: {
    operationId: 'readRequest',
    tag: requestsTag,
    summary: 'Read a privacy request',
    description: 'While the request is open, `found` is what is stored about the person now.',
    exampleParameters: { requestId: exampleRequest.requestId },
    example: exampleRequest,
  },
  async handle(call) {
    return presentRequest(await readRequest(call.services, organisationView(call), call.path.requestId))
  },
})

export function presentRequest(request: StoredRequest) {
  const { kind, state, reference, found, erased, left, person } = request
  return {
    ...{ requestId: request.id, kind, state, reference },
    receivedAt: formatInstant(request.receivedAt),
    dueAt: formatInstant(request.dueAt),
    extendedAt: formatInstantOrNull(request.extendedAt),
    closedAt: formatInstantOrNull(request.closedAt),
    reason: request.rejectionReason ?? request.extensionReason,
    person: person && { identifiers: [...person.identifiers], subjects: [...person.subjects] },
    ...{ found, erased, left },
    resumesAt: formatInstantOrNull(request.resumesAt),
  }
}
