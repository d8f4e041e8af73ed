import { type Static, Type } from 'typebox'

const instant = (description: string) => Type.String({ format: 'date-time', description })
const count = (description: string) => Type.Integer({ minimum: 0, description })
const freeForm = (description: string) => Type.Object({}, { additionalProperties: true, description })
const nextCursor = Type.Union([Type.String(), Type.Null()], {
  description: 'Hand it back as `cursor` for the next page; `null` on the last one.',
})

const Counts = Type.Object(
  { sessions: count('How many sessions.'), events: count('How many events.') },
  { title: 'Counts' },
)

const summaryFields = {
  subjectId: Type.String(),
  firstSeenAt: instant('The start of the oldest session stored.'),
  lastSeenAt: instant('The end of the newest activity stored.'),
  counts: Counts,
}

export const SubjectSummary = Type.Object(summaryFields, {
  title: 'SubjectSummary',
  description: 'A data subject as lists show it.',
})

export const Subject = Type.Object(
  {
    trackerId: Type.String(),
    ...summaryFields,
    attributes: freeForm('What is known of the subject as of its newest session.'),
  },
  { title: 'Subject', description: 'What is stored about one data subject.' },
)

export const SubjectList = Type.Object(
  { subjects: Type.Array(SubjectSummary), nextCursor },
  { title: 'SubjectList' },
)

export const Session = Type.Object(
  {
    sessionId: Type.String(),
    startedAt: instant('When it began.'),
    endedAt: instant('When it ended, as far as is known.'),
    counts: Type.Object({ events: count('How many events.') }),
    attributes: freeForm('What was collected with the session.'),
  },
  { title: 'Session' },
)

export const SessionList = Type.Object(
  { sessions: Type.Array(Session), nextCursor },
  { title: 'SessionList' },
)

export const Event = Type.Object(
  {
    eventId: Type.String(),
    sessionId: Type.String(),
    name: Type.String(),
    occurredAt: instant('When it happened.'),
    properties: freeForm('What was collected with the event.'),
  },
  { title: 'Event' },
)

export const EventList = Type.Object({ events: Type.Array(Event), nextCursor }, { title: 'EventList' })

export const Erasure = Type.Object(
  {
    trackerId: Type.String(),
    subjectId: Type.String(),
    alreadyErased: Type.Boolean({
      description: 'The subject held no data: erased before, aged out, or never seen.',
    }),
    counts: Counts,
    erasedAt: instant('When the data was gone.'),
  },
  { title: 'Erasure', description: 'What this very request deleted.' },
)

export type SubjectSummaryBody = Static<typeof SubjectSummary>
