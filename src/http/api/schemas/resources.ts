import {
  anyObject,
  boolean,
  integer,
  list,
  object,
  orNull,
  text,
  type ValueOf,
} from '../../schemas/schema.ts'

const instant = (description: string) => text({ format: 'date-time', description })
const count = (description: string) => integer({ minimum: 0, description })
const freeForm = (description: string) => anyObject({ description })
const nextCursor = orNull(text(), {
  description: 'Hand it back as `cursor` for the next page; `null` on the last one.',
})

export const Counts = object(
  { sessions: count('How many sessions.'), events: count('How many events.') },
  { title: 'Counts' },
)

const summaryFields = {
  subjectId: text(),
  firstSeenAt: instant('The start of the oldest session stored.'),
  lastSeenAt: instant('The end of the newest activity stored.'),
  counts: Counts,
}

export const SubjectSummary = object(summaryFields, {
  title: 'SubjectSummary',
  description: 'A data subject as lists show it.',
})

export const Subject = object(
  {
    trackerId: text(),
    ...summaryFields,
    attributes: freeForm('What is known of the subject as of its newest session.'),
  },
  { title: 'Subject', description: 'What is stored about one data subject.' },
)

export const SubjectList = object({ subjects: list(SubjectSummary), nextCursor }, { title: 'SubjectList' })

export const Session = object(
  {
    sessionId: text(),
    startedAt: instant('When it began.'),
    endedAt: instant('When it ended, as far as is known.'),
    counts: object({ events: count('How many events.') }),
    attributes: freeForm('What was collected with the session.'),
  },
  { title: 'Session' },
)

export const SessionList = object({ sessions: list(Session), nextCursor }, { title: 'SessionList' })

export const Event = object(
  {
    eventId: text(),
    sessionId: text(),
    name: text(),
    occurredAt: instant('When it happened.'),
    properties: freeForm('What was collected with the event.'),
  },
  { title: 'Event' },
)

export const EventList = object({ events: list(Event), nextCursor }, { title: 'EventList' })

export const Erasure = object(
  {
    trackerId: text(),
    subjectId: text(),
    alreadyErased: boolean({
      description: 'The subject held no data: erased before, aged out, or never seen.',
    }),
    counts: Counts,
    erasedAt: instant('When the data was gone.'),
    receipt: text({
      description:
        'The proof of this erasure, a text in the format C2SP tlog-proof, which anybody can check against the key of the organisation’s ledger.',
    }),
  },
  { title: 'Erasure', description: 'What this very request deleted.' },
)

export type SubjectSummaryBody = ValueOf<typeof SubjectSummary>
