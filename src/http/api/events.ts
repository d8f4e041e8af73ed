import { formatInstant } from '../../domain/instant.ts'
import { andThen } from '../../domain/maybe-promise.ts'
import type { Event as StoredEvent } from '../../domain/session.ts'
import { listEvents, planEventList } from '../../operations/subject.ts'
import { identifier } from '../parameters.ts'
import { defineRoute, trackerView } from '../route.ts'
import { object, optional, text } from '../schema.ts'
import { exampleEvents, exampleSubjectParameters } from './examples.ts'
import { cursor, freeForm, id, instant, limit, nextCursor, page } from './fields.ts'
import { subjectPath } from './subjects.ts'

const eventListParameters = {
  limit: optional(limit),
  cursor: optional(cursor),
  sessionId: optional(text({ ...identifier, description: 'Only the events of this session.' })),
}

export const Event = object(
  {
    eventId: id(),
    sessionId: id(),
    name: id(),
    occurredAt: instant('When the event occurred.'),
    properties: freeForm('The data collected with the event.'),
  },
  { title: 'Event' },
)

const EventList = object({ events: page(Event), nextCursor }, { title: 'EventList' })

export const listEventsRoute = defineRoute({
  method: 'GET',
  path: `${subjectPath}/events`,
  access: 'analytics:view',
  query: eventListParameters,
  response: EventList,
  documentation: {
    operationId: 'listEvents',
    summary: "List a data subject's events",
    description: 'Newest first; all events, or those of one session.',
    exampleParameters: { ...exampleSubjectParameters, sessionId: 'visitor-61920061-2', limit: 1 },
    exampleAlone: { cursor: 'tKriMvdlhSdRWzE3OTIyNzM4NTc4MDYsInZpc2l0b3ItNjE5MjAwNjEtMi0yIl0' },
    example: {
      events: exampleEvents.slice(-1),
      nextCursor: 'tKriMvdlhSdRWzE3OTIyNzM4NTc4MDYsInZpc2l0b3ItNjE5MjAwNjEtMi0yIl0',
    },
  },
  plan: ({ path, query }, problems) => planEventList(path.trackerId, path.subjectId, query, problems),
  handle(call) {
    const { trackerId, subjectId } = call.path
    return andThen(
      listEvents(call.services, trackerView(call, trackerId), subjectId, call.plan),
      ({ events, nextCursor }) => ({ events: events.map(presentEvent), nextCursor }),
    )
  },
})

export function presentEvent({ eventId, sessionId, name, occurredAt, properties }: StoredEvent) {
  return { eventId, sessionId, name, occurredAt: formatInstant(occurredAt), properties }
}
