import { identifierPattern, maxIdentifierLength } from '../../../domain/identifier.ts'
import { maxPageSize } from '../../../domain/page.ts'
import {
  identifierNamePattern,
  identifierValuePattern,
  maxIdentifierValueLength,
} from '../../../domain/subject-identifier.ts'
import {
  anyObject,
  boolean,
  count,
  list,
  object,
  optional,
  orNull,
  type Schema,
  text,
  type ValueOf,
} from '../../schemas/schema.ts'

const id = () => text({ minLength: 1, maxLength: maxIdentifierLength, pattern: identifierPattern })
const instant = (description: string) => text({ format: 'date-time', maxLength: 24, description })
const page = <Item>(items: Schema<Item>) => list(items, { maxItems: maxPageSize })
const freeForm = (description: string) => anyObject({ description })
const nextCursor = orNull(text({ maxLength: 4096, pattern: '^[\\w-]+$' }), {
  description: 'Hand it back as `cursor` for the next page; `null` on the last one.',
})

export const Counts = object(
  { sessions: count('How many sessions.'), events: count('How many events.') },
  { title: 'Counts' },
)

const summaryFields = {
  subjectId: id(),
  firstSeenAt: instant('The start of the oldest session stored.'),
  lastSeenAt: instant('The end of the newest activity stored.'),
  counts: Counts,
}

export const SubjectSummary = object(summaryFields, {
  title: 'SubjectSummary',
  description: 'A data subject as lists show it.',
})

export const Identifier = object(
  {
    name: text({
      maxLength: 32,
      pattern: identifierNamePattern,
      description: 'What kind it is, such as `email`.',
    }),
    value: text({ minLength: 1, maxLength: maxIdentifierValueLength, pattern: identifierValuePattern }),
  },
  { title: 'Identifier', description: 'Something a data subject is known by outside of its tracker.' },
)

const subjectFields = {
  trackerId: id(),
  ...summaryFields,
  identifiers: list(Identifier, {
    description: 'What it is known by, by name and value. One goes with the newest data that brought it.',
  }),
  attributes: freeForm('What is known of the subject as of its newest session.'),
}

export const Subject = object(subjectFields, {
  title: 'Subject',
  description: 'What is stored about one data subject.',
})

export const SubjectList = object({ subjects: page(SubjectSummary), nextCursor }, { title: 'SubjectList' })

export const FoundSubject = object(
  { trackerId: id(), ...summaryFields },
  { title: 'FoundSubject', description: 'A data subject that a search found, and its tracker.' },
)

const HiddenSubject = object({ trackerId: id(), subjectId: id() }, { title: 'HiddenSubject' })

export const FoundSubjectList = object(
  {
    subjects: page(FoundSubject),
    hidden: optional(
      list(HiddenSubject, {
        maxItems: maxPageSize,
        description:
          'Present only after a change to a shorter plan, for the day before it deletes: data subjects of the person that the plan hides. They cannot be read, but a longer plan would bring them back. To erase the person, erase these too.',
      }),
    ),
    nextCursor,
  },
  { title: 'FoundSubjectList' },
)

export const Session = object(
  {
    sessionId: id(),
    startedAt: instant('When it began.'),
    endedAt: instant('When it ended, as far as is known.'),
    counts: object({ events: count('How many events.') }),
    attributes: freeForm('What was collected with the session.'),
  },
  { title: 'Session' },
)

export const SessionList = object({ sessions: page(Session), nextCursor }, { title: 'SessionList' })

export const Event = object(
  {
    eventId: id(),
    sessionId: id(),
    name: id(),
    occurredAt: instant('When it happened.'),
    properties: freeForm('What was collected with the event.'),
  },
  { title: 'Event' },
)

export const EventList = object({ events: page(Event), nextCursor }, { title: 'EventList' })

export const SubjectExport = object(
  {
    ...subjectFields,
    sessions: list(Session, { description: 'All of them, oldest first.' }),
    events: list(Event, { description: 'All of them, oldest first.' }),
  },
  { title: 'SubjectExport', description: 'All that is stored about one data subject.' },
)

const receipt = text({
  description:
    'The proof of this erasure, a text in the format C2SP tlog-proof, which anybody can check against the key of the organisation’s ledger.',
})

export const Erasure = object(
  {
    trackerId: id(),
    subjectId: id(),
    alreadyErased: boolean({
      description: 'The subject held no data: erased before, aged out, or never seen.',
    }),
    counts: Counts,
    erasedAt: instant('When the data was gone.'),
    receipt,
  },
  { title: 'Erasure', description: 'What this very request deleted.' },
)

export const Receipt = object(
  {
    erasedAt: instant('When the data was gone.'),
    alreadyErased: boolean({ description: 'The subject held no data then.' }),
    counts: Counts,
    receipt,
  },
  { title: 'Receipt', description: 'An erasure of a data subject, and the proof of it.' },
)

export const ReceiptList = object({ receipts: page(Receipt), nextCursor }, { title: 'ReceiptList' })

const base64Hash = { maxLength: 44, pattern: '^[A-Za-z0-9+/]{43}=$' }
const hash = (description: string) =>
  text({ ...base64Hash, description: `${description} SHA-256, in base64.` })
const checkpoint = text({
  description: 'The head of the ledger, signed: a C2SP tlog-checkpoint with Ed25519.',
})

export const Ledger = object(
  {
    origin: text({ description: 'The name of the ledger and of its keys.' }),
    size: count('How many entries it has.'),
    rootHash: hash('The root of the tree of its entries.'),
    checkpoint,
    verifierKeys: list(text(), {
      description: 'The keys that sign it, as C2SP signed-note writes them; the one in use first.',
    }),
  },
  { title: 'Ledger', description: 'How the ledger of an organisation’s erasures stands.' },
)

export const LedgerEntry = object(
  {
    index: count('Its place, from 0.'),
    record: text({ description: 'What was erased and when, as one line of canonical JSON (RFC 8785).' }),
    leafHash: hash('The hash of the record as a leaf of the tree.'),
  },
  { title: 'LedgerEntry', description: 'An erasure, as the ledger tells of it.' },
)

export const EntryList = object({ entries: page(LedgerEntry), nextCursor }, { title: 'EntryList' })

export const Consistency = object(
  {
    from: count('How many entries the older ledger had.'),
    to: count('How many the ledger has now.'),
    proof: list(text(base64Hash), { maxItems: 64, description: 'The hashes of the proof, in base64.' }),
    checkpoint,
  },
  { title: 'Consistency', description: 'The proof that a ledger begins with what it was before.' },
)

export type SubjectSummaryBody = ValueOf<typeof SubjectSummary>
