import { identifierPattern, maxIdentifierLength } from '../../domain/identifier.ts'
import { instantRule } from '../../domain/instant.ts'
import { defaultPageSize, maxPageSize } from '../../domain/page.ts'
import { subjectSorts } from '../../domain/subject.ts'
import {
  identifierNamePattern,
  identifierNameRule,
  identifierValuePattern,
  identifierValueRule,
  maxIdentifierValueLength,
} from '../../domain/subject-identifier.ts'
import { identifier } from '../parameters.ts'
import {
  anyObject,
  boolean,
  count,
  integer,
  list,
  object,
  oneOf,
  optional,
  orNull,
  type Schema,
  text,
  type ValueOf,
} from '../schema.ts'

const cursor = text({
  minLength: 1,
  maxLength: 4096,
  description:
    'The `nextCursor` of the page before. Opaque, and good only for the same list, sort and filters.',
  'x-rule': 'the nextCursor of the page before, of the same list, sort and filters',
})

const pageSize = {
  format: 'int32',
  minimum: 1,
  maximum: maxPageSize,
  'x-rule': `a whole number from 1 to ${maxPageSize}`,
}

const limit = integer({
  ...pageSize,
  default: defaultPageSize,
  description: 'How many to return at most.',
})

/** Generated clients take a field of a body with a default for one that is always there. */
const bodyLimit = integer({
  ...pageSize,
  description: `How many to return at most; ${defaultPageSize} without it.`,
})

const instantParameter = { type: 'string', format: 'date-time', 'x-rule': instantRule }

export const subjectListParameters = {
  limit: optional(limit),
  cursor: optional(cursor),
  sort: optional(
    oneOf(subjectSorts, {
      description:
        'The order. `subjectId`, the default, walks a tracker completely whatever happens meanwhile. With a `lastSeen…` filter the default is `lastSeenAt`.',
      'x-rule': `one of ${subjectSorts.join(', ')}`,
    }),
  ),
  subjectIdPrefix: optional(
    text({
      ...identifier,
      pattern: '^[^\\x00-\\x1f\\x7f-\\x9f]+$',
      description: 'Only ids that start with this. Goes with `sort=subjectId`.',
      'x-rule': `1 to ${maxIdentifierLength} characters, no control characters`,
    }),
  ),
  lastSeenAfter: optional(
    text({
      ...instantParameter,
      description: 'Only subjects last seen at this instant or later. Goes with a `lastSeenAt` sort.',
    }),
  ),
  lastSeenBefore: optional(
    text({
      ...instantParameter,
      description: 'Only subjects last seen before this instant. Goes with a `lastSeenAt` sort.',
    }),
  ),
}

/** What the body of a search may hold. */
export const subjectSearchBody = {
  identifier: optional(
    object(
      {
        name: text({
          maxLength: 32,
          pattern: identifierNamePattern,
          description: 'What kind it is, such as `email`.',
        }),
        value: text({
          minLength: 1,
          maxLength: maxIdentifierValueLength,
          pattern: identifierValuePattern,
          description: 'An `email` is compared without regard to case, whatever else exactly.',
        }),
      },
      {
        additionalProperties: false,
        description: 'Whoever is known by this, in whichever tracker. Goes without `subjectId`.',
        'x-rule': `an object with a name (${identifierNameRule}) and a value (${identifierValueRule})`,
      },
    ),
  ),
  subjectId: optional(
    text({
      ...identifier,
      description: 'The data subjects with this id, in whichever tracker. Goes without `identifier`.',
    }),
  ),
  limit: optional(bodyLimit),
  cursor: optional(cursor),
}

const pageParameters = { limit: optional(limit), cursor: optional(cursor) }

export const sessionListParameters = pageParameters
export const receiptListParameters = pageParameters
export const entryListParameters = pageParameters

export const consistencyParameters = {
  from: integer({
    format: 'int64',
    minimum: 0,
    maximum: Number.MAX_SAFE_INTEGER,
    description:
      'How many entries the ledger had when it was looked at before; at most as many as it has now.',
    'x-rule': 'a whole number from 0 to the number of entries in the ledger',
  }),
}

export const eventListParameters = {
  limit: optional(limit),
  cursor: optional(cursor),
  sessionId: optional(text({ ...identifier, description: 'Only the events of this session.' })),
}

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

const SubjectSummary = object(summaryFields, {
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

const Session = object(
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

const Event = object(
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

const Receipt = object(
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

const LedgerEntry = object(
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
