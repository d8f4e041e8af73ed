import { formatInstant, formatInstantOrNull, instantRule } from '../../domain/instant.ts'
import { requestKinds, requestStates } from '../../domain/privacy-request.ts'
import { isPerson, personRule } from '../../operations/find-person.ts'
import { readPerson } from '../../operations/person.ts'
import { personAddress, personAt } from '../../operations/person-address.ts'
import { maxTimelineRecords, planTimeline, readTimeline } from '../../operations/person-timeline.ts'
import { requestsOfPerson } from '../../operations/privacy-request.ts'
import { Event, presentEvent } from '../api/events.ts'
import { cursor, Identifier, nextCursor, pageSize } from '../api/fields.ts'
import { FoundSubject, presentFound } from '../api/search-subjects.ts'
import { presentSession, Session } from '../api/sessions.ts'
import { defineRoute, organisationView } from '../route.ts'
import { boolean, integer, list, object, oneOf, optional, orNull, text } from '../schema.ts'
import { instant, SubjectRef, subjectRefFields } from './fields.ts'
import { personField } from './request-fields.ts'

const PersonRecord = object(
  {
    ...{ trackerId: text(), subjectId: text(), firstSeenAt: instant, lastSeenAt: instant },
    counts: object({ sessions: integer(), events: integer() }),
    ...{ identifiers: list(Identifier), hasMoreIdentifiers: boolean() },
  },
  { title: 'PersonRecord' },
)

/** `identifier` is `null` for records with the same ID on another tracker. */
const RelatedRecords = object(
  {
    ...{ identifier: orNull(Identifier), subjects: list(FoundSubject) },
    ...{ hidden: list(SubjectRef), hasMore: boolean() },
  },
  { title: 'RelatedRecords' },
)

const PersonRequest = object(
  {
    requestId: text(),
    ...{ kind: oneOf(requestKinds), state: oneOf(requestStates), reference: orNull(text()) },
    ...{ receivedAt: instant, dueAt: instant, closedAt: orNull(instant) },
  },
  { title: 'PersonRequest' },
)

const PersonRecords = object(
  {
    /** What follows `#` in the address of the person's page. */
    address: text(),
    person: object({ identifiers: list(Identifier), subjects: list(SubjectRef) }),
    ...{ records: list(PersonRecord), hidden: list(SubjectRef), hasMore: boolean() },
    others: list(RelatedRecords),
    /** Newest first, in any state. */
    requests: list(PersonRequest),
  },
  { title: 'PersonRecords' },
)

/** `record` is the index of a record of the request. */
const TimelineEntry = object(
  { record: integer(), session: orNull(Session), event: orNull(Event) },
  { title: 'TimelineEntry' },
)

const TimelinePage = object({ entries: list(TimelineEntry), nextCursor }, { title: 'TimelinePage' })

/** One of the two is required. */
const personBody = {
  address: optional(
    text({ maxLength: 200_000, pattern: '^[\\w-]*$', 'x-rule': 'the address of a person’s page' }),
  ),
  person: optional(personField),
}

const timelineBody = {
  records: list(object(subjectRefFields), {
    ...{ minItems: 1, maxItems: maxTimelineRecords },
    'x-rule': `1 to ${maxTimelineRecords} records`,
  }),
  limit: optional(integer(pageSize)),
  cursor: optional(cursor),
  until: optional(text({ format: 'date-time', 'x-rule': instantRule })),
}

/** How many of a person's requests are shown. */
const maxRequests = 50

/** 32 identifiers or 50 records, with the longest IDs. */
const maxBodyBytes = 256 * 1024
/** Timelines of more records take turns with other long work of the organisation. */
const maxRecordsAtOnce = 8

export const personRoutes = [
  defineRoute({
    method: 'POST',
    path: '/console/api/person',
    access: 'viewer',
    body: personBody,
    maxBodyBytes,
    response: PersonRecords,
    plan({ body: { address, person } }, problems) {
      if (address !== undefined && person) problems.add('address', 'give either address or person, not both')
      else if (address === undefined && !person && !problems.has('address', 'person'))
        problems.add('person', 'person or address must be given')
      else if (person && !isPerson(person)) problems.add('person', `person must name ${personRule}`)
    },
    async handle(call) {
      const { services, context } = call
      const { address = '', person: named } = call.body
      const view = organisationView(call)
      const person = named ?? personAt(services.keyring, view.organisationId, address)
      const { records, hidden, hasMore, others } = await services.jobs.run(
        view.organisationId,
        () => readPerson(services, view, person, context.gone),
        context.gone,
      )
      const requests = await requestsOfPerson(services, view.organisationId, person, maxRequests)
      return {
        address: personAddress(services.keyring, view.organisationId, person),
        person: { identifiers: [...person.identifiers], subjects: [...person.subjects] },
        records: records.map(({ identifiers, hasMoreIdentifiers, ...found }) => ({
          ...{ ...presentFound(found), identifiers, hasMoreIdentifiers },
        })),
        ...{ hidden, hasMore },
        others: others.map((each) => ({ ...each, subjects: each.subjects.map(presentFound) })),
        requests: requests.map(({ id, kind, state, reference, receivedAt, dueAt, closedAt }) => ({
          ...{ requestId: id, kind, state, reference, receivedAt: formatInstant(receivedAt) },
          ...{ dueAt: formatInstant(dueAt), closedAt: formatInstantOrNull(closedAt) },
        })),
      }
    },
  }),
  defineRoute({
    method: 'POST',
    path: '/console/api/person/timeline',
    access: 'viewer',
    body: timelineBody,
    maxBodyBytes,
    response: TimelinePage,
    plan: ({ body }, problems) => planTimeline(body, problems),
    async handle(call) {
      const { services, context, plan } = call
      const view = organisationView(call)
      const read = () => readTimeline(services, view, plan, context.gone)
      const { entries, nextCursor } = await (plan.records.length > maxRecordsAtOnce
        ? services.jobs.run(view.organisationId, read, context.gone)
        : read())
      return {
        entries: entries.map(({ record, session, event }) => ({
          record,
          session: session && presentSession(session),
          event: event && presentEvent(event),
        })),
        nextCursor,
      }
    },
  }),
]
