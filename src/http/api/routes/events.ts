import type { Event } from '../../../domain/event.ts'
import { formatInstant } from '../../../domain/instant.ts'
import { andThen } from '../../../domain/maybe-promise.ts'
import { listEvents, planEventList } from '../../../operations/subject/list-events.ts'
import { defineRoute, trackerView } from '../../route.ts'
import { eventListParameters } from '../schemas/parameters.ts'
import { EventList } from '../schemas/resources.ts'
import { subjectPath } from './subjects.ts'

export const exampleEvent = {
  eventId: 'e-51d0',
  sessionId: 's-9f3c',
  name: 'pageview',
  occurredAt: '2026-11-14T21:03:55.004Z',
  properties: { url: 'https://shop.example/checkout' },
}

export const listEventsRoute = defineRoute({
  method: 'GET',
  path: `${subjectPath}/events`,
  access: 'analytics:view',
  query: eventListParameters,
  response: EventList,
  documentation: {
    operationId: 'listEvents',
    summary: "List a data subject's events",
    description: 'Newest first; all of them, or those of one session.',
    example: {
      events: [exampleEvent],
      nextCursor: null,
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

export function presentEvent({ eventId, sessionId, name, occurredAt, properties }: Event) {
  return { eventId, sessionId, name, occurredAt: formatInstant(occurredAt), properties }
}
