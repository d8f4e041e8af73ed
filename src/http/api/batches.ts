import { maxIdentifiersPerLine, maxIdentifierValueLength } from '../../domain/subject-identifier.ts'
import {
  type IngestSummary,
  ingestLines,
  maxRefusedLines,
  type RefusedLine,
} from '../../operations/ingest.ts'
import { identifier } from '../parameters.ts'
import { identityOf } from '../request-context.ts'
import { maxBatchLines } from '../request-lines.ts'
import { defineRoute } from '../route.ts'
import { anyObject, anyOf, count, integer, list, object, oneOf, optional, text } from '../schema.ts'
import { exampleBatch, exampleBatchLines, exampleBatchParameters } from './examples.ts'
import { freeForm, id, instant } from './fields.ts'

const lineIdentifiers = anyObject({
  additionalProperties: text({ minLength: 1, maxLength: maxIdentifierValueLength }),
  maxProperties: maxIdentifiersPerLine,
  description: 'What else identifies the person, such as `{"email": "ada@example.com"}`.',
})

const lineOwner = {
  trackerId: optional(text({ description: 'The tracker in the path, if given.' })),
  subjectId: id(),
  sessionId: id(),
}

const SessionLine = object(
  {
    type: oneOf(['session']),
    ...lineOwner,
    startedAt: instant('When the session started.'),
    endedAt: optional(instant('When it ended; when it started, by default.')),
    attributes: optional(freeForm('Everything else that is known about the session.')),
    identifiers: optional(lineIdentifiers),
  },
  { title: 'SessionLine', description: 'A session of a data subject.' },
)

const EventLine = object(
  {
    type: oneOf(['event']),
    ...lineOwner,
    eventId: optional(text({ ...identifier, description: 'Derived from the content by default.' })),
    name: id(),
    occurredAt: instant('When the event occurred.'),
    properties: optional(freeForm('Everything else that is known about the event.')),
    identifiers: optional(lineIdentifiers),
  },
  { title: 'EventLine', description: 'An event. Its session is created if it does not exist.' },
)

/** Lines are checked one by one, by the rules of an import. */
const Line = anyOf(SessionLine, EventLine)

const Batch = object(
  {
    trackerId: id(),
    lines: integer({
      format: 'int32',
      minimum: 0,
      maximum: maxBatchLines,
      description: 'The number of lines, empty ones included.',
    }),
    added: object(
      {
        subjects: count('The number of new data subjects.'),
        sessions: count('The number of new sessions.'),
        events: count('The number of new events.'),
      },
      { title: 'AddedCounts' },
    ),
    unchanged: count('The number of lines whose session or event was already stored.'),
    tooOld: count("The number of lines older than the retention window of the organisation's plan."),
    ofErased: count('The number of lines dated before their data subject was erased.'),
    refusedCount: count('The number of invalid lines.'),
    refused: list(
      object(
        {
          line: integer({
            format: 'int32',
            minimum: 1,
            maximum: maxBatchLines,
            description: 'The number of the line, from 1.',
          }),
          message: text({ description: 'Why the line is invalid.' }),
        },
        { title: 'RefusedLine' },
      ),
      { maxItems: maxRefusedLines, description: `The first ${maxRefusedLines} invalid lines.` },
    ),
  },
  { title: 'Batch', description: 'What became of the lines of a batch.' },
)

function toBatch(
  trackerId: string,
  { lines, subjects, sessions, events, unchanged, tooOld, ofErased, badLines }: IngestSummary,
  refused: RefusedLine[],
) {
  const added = { subjects, sessions, events }
  return { trackerId, lines, added, unchanged, tooOld, ofErased, refusedCount: badLines, refused }
}

export const ingestBatchRoute = defineRoute({
  method: 'POST',
  path: '/v1/ingest/trackers/{trackerId}/batches',
  access: 'analytics:collect',
  line: Line,
  response: Batch,
  documentation: {
    operationId: 'ingestBatch',
    tag: 'Ingest',
    summary: 'Store a batch of sessions and events',
    description:
      'Stores the valid lines in one transaction; they are durable when the response is sent. Sending a batch again changes nothing, so it is safe to repeat after a timeout or an error. Invalid lines are reported and skipped, as are lines that are too old, or dated before the erasure of their data subject.',
    exampleParameters: exampleBatchParameters,
    exampleBody: { lines: exampleBatchLines },
    example: exampleBatch,
  },
  async handle({ path: { trackerId }, context, services }) {
    const { organisationId } = identityOf(context)
    const tracker = { organisationId, trackerId }
    const { summary, refused } = await ingestLines(services, tracker, context.lines, context.gone)
    return toBatch(trackerId, summary, refused)
  },
})
