import { type ActivityEntry, activityKinds } from '../../domain/activity.ts'
import { type ApiKey, apiKeyState } from '../../domain/api-key.ts'
import { type BatchOfEntry, batchKinds } from '../../domain/erasure-batch.ts'
import { formatInstant, type Instant, instantRule } from '../../domain/instant.ts'
import type { LedgerEntry } from '../../domain/ledger.ts'
import { emailRule, type Member as MemberRow, maxEmailLength } from '../../domain/member.ts'
import { maxPasswordLength, minPasswordLength } from '../../domain/password.ts'
import { parseRecord } from '../../domain/receipt.ts'
import { plans } from '../../domain/retention.ts'
import {
  identifierNamePattern,
  identifierNameRule,
  identifierValuePattern,
  identifierValueRule,
  maxIdentifierValueLength,
} from '../../domain/subject-identifier.ts'
import { maxPersonParts } from '../../operations/erase-person.ts'
import type { LedgerErasure as ErasureEntry } from '../../operations/erasure.ts'
import { mostFound } from '../../operations/find-people.ts'
import type { LedgerHead, ProvenEntry as ProvenLedgerEntry } from '../../operations/ledger.ts'
import type { ErasureCertificate } from '../../operations/receipt.ts'
import {
  Counts,
  EventList,
  eventListParameters,
  FoundSubject,
  Identifier,
  SessionList,
  Subject,
  SubjectList,
  sessionListParameters,
} from '../api/fields.ts'
import { identifier } from '../parameters.ts'
import { boolean, integer, list, object, oneOf, optional, orNull, type Schema, text } from '../schema.ts'

// What the console's answers hold. The types of its pages are made from these.

const instant = text({ format: 'date-time' })

export const Nothing = object({})

const Member = object(
  { id: text(), email: text(), createdAt: instant, joinedAt: orNull(instant) },
  { title: 'Member' },
)

export const SignedIn = object(
  {
    member: Member,
    organisation: object({ id: text(), name: text(), plan: oneOf(plans), retentionDays: integer() }),
  },
  { title: 'SignedIn' },
)

export const Invited = object(
  { email: text(), organisation: text(), hasPassword: boolean() },
  { title: 'Invited' },
)

const Key = object(
  {
    id: text(),
    name: text(),
    scopes: list(text()),
    lastFour: text(),
    state: oneOf(['active', 'expired', 'revoked']),
    createdAt: instant,
    rotatedAt: orNull(instant),
    expiresAt: orNull(instant),
    revokedAt: orNull(instant),
    lastUsedAt: orNull(instant),
  },
  { title: 'Key' },
)

/** The one answer that holds a key's string. */
export const IssuedKey = object({ key: Key, keyString: text() }, { title: 'IssuedKey' })

const Area = object(
  { area: text(), scopes: list(object({ scope: text(), allows: text() })) },
  { title: 'Area' },
)

const Tracker = object(
  { id: text(), name: text(), createdAt: instant, subjects: integer(), hasMoreSubjects: boolean() },
  { title: 'Tracker' },
)

const Day = object({ day: text(), sessions: integer(), events: integer() }, { title: 'Day' })

const Actor: Schema<{ kind: 'member' | 'key'; id: string; name: string } | { kind: 'command-line' }> = {
  anyOf: [
    object({ kind: oneOf(['member', 'key']), id: text(), name: text() }),
    object({ kind: oneOf(['command-line']) }),
  ],
}

const Activity = object(
  {
    id: text(),
    at: instant,
    actor: Actor,
    kind: oneOf(activityKinds),
    target: orNull(text()),
    requestId: orNull(text()),
    counts: orNull(Counts),
    ledgerIndex: orNull(integer()),
  },
  { title: 'Activity' },
)

/** Of the lines that were read, each is used, empty, invalid, repeated, or `other` (BatchLines). */
const batchLines = {
  ...{ read: integer(), used: integer(), empty: integer(), invalid: integer(), repeated: integer() },
  ...{ other: integer(), nothing: integer(), lines: integer() },
}

export const Batch = object(
  {
    ...{ id: text(), kind: oneOf(batchKinds), state: oneOf(['running', 'paused', 'stopped', 'done']) },
    ...{ startedBy: Actor, requestId: orNull(text()), createdAt: instant, finishedAt: orNull(instant) },
    ...batchLines,
    ...{ subjects: integer(), settled: integer() },
    erased: orNull(object({ subjects: integer(), sessions: integer(), events: integer() })),
    ...{ checkedAt: orNull(instant), left: orNull(integer()), resumesAt: orNull(instant) },
  },
  { title: 'Batch' },
)

export const BatchPlan = object(
  {
    ...batchLines,
    ...{ found: integer(), subjects: integer(), counts: Counts, hidden: integer() },
    trackers: list(object({ trackerId: text(), subjects: integer() })),
    others: list(object({ line: integer(), outcome: oneOf(['nothing', 'invalid', 'repeated']) })),
  },
  { title: 'BatchPlan' },
)

export const BatchList = object({ batches: list(Batch) }, { title: 'BatchList' })

/** Whom an erasure is about, as the pages name them. */
const SubjectRef = object({ trackerId: text(), subjectId: text() }, { title: 'SubjectRef' })

export const PersonPlan = object(
  {
    ...{ subjects: list(FoundSubject), hidden: list(SubjectRef) },
    /** Who may be the same person: they share an identifier with those above. */
    others: object({ subjects: list(FoundSubject), identifiers: list(Identifier) }),
    /** What is left of the member's erasures. */
    budget: object({ limit: integer(), remaining: integer(), resetsAt: instant }),
  },
  { title: 'PersonPlan' },
)

const LedgerErasure = object(
  {
    index: integer(),
    trackerId: text(),
    erasedAt: instant,
    alreadyErased: boolean(),
    counts: Counts,
    by: orNull(object({ actor: Actor, requestId: orNull(text()) })),
    /** What it was part of. */
    batch: orNull(object({ id: text(), kind: oneOf(batchKinds), subjects: integer() })),
  },
  { title: 'LedgerErasure' },
)

export const ErasureList = object(
  { erasures: list(LedgerErasure), size: integer(), nextCursor: orNull(text()) },
  { title: 'ErasureList' },
)

/** All that a page needs to prove an entry of the ledger by itself. */
export const Certificate = object(
  {
    erasure: LedgerErasure,
    record: text(),
    proof: list(text()),
    checkpoint: text(),
    verifierKeys: list(text()),
    trackerName: orNull(text()),
    organisation: text(),
    scrub: object({ lastAt: instant, reachesEveryByte: boolean() }),
    /** Of an erasure by a batch. */
    receipt: orNull(text()),
  },
  { title: 'Certificate' },
)

/** A page of the erasures of one batch, and of what became of those that it did not erase. */
export const BatchCertificate = object(
  {
    batch: Batch,
    certificates: list(Certificate),
    ...{ waiting: integer(), gone: integer(), stopped: integer() },
    nextPlace: orNull(integer()),
  },
  { title: 'BatchCertificate' },
)

/** `null` when the erasure was of another data subject. */
export const ReceiptAgain = object({ receipt: orNull(text()) }, { title: 'ReceiptAgain' })

export const SubjectDays = object({ days: list(Day), hasMore: boolean() }, { title: 'SubjectDays' })

const FoundGroup = object(
  { tracker: object({ id: text(), name: text() }), subjects: list(FoundSubject), hasMore: boolean() },
  { title: 'FoundGroup' },
)

/** `identifier` is `null` for who was found by a complete id. */
const FoundPerson = object(
  {
    identifier: orNull(Identifier),
    subjects: list(FoundSubject),
    hidden: list(object({ trackerId: text(), subjectId: text() })),
  },
  { title: 'FoundPerson' },
)

export const FoundGroups = object(
  { groups: list(FoundGroup), people: list(FoundPerson) },
  { title: 'FoundGroups' },
)

export const KeyDetail = object(
  {
    key: Key,
    scopes: list(object({ scope: text(), allows: text() })),
    today: text(),
    days: list(object({ day: text(), requests: integer(), refusals: integer() }, { title: 'KeyDay' })),
  },
  { title: 'KeyDetail' },
)
const BudgetTold = object(
  { name: text(), limit: integer(), windowSeconds: integer() },
  { title: 'BudgetTold' },
)
export const Settings = object(
  {
    organisation: object({ id: text(), name: text(), plan: oneOf(plans), createdAt: instant }),
    windows: list(object({ plan: oneOf(plans), days: integer() })),
    activityDays: integer(),
    budgets: list(BudgetTold),
    batchesPerMinute: integer(),
    ...{ engine: text(), version: text() },
    scrub: object({ lastAt: instant, isDue: boolean(), reachesEveryByte: boolean() }),
  },
  { title: 'Settings' },
)
export const HiddenByPlan = object(
  { subjects: integer(), hasMoreSubjects: boolean(), atMost: Counts },
  { title: 'HiddenByPlan' },
)
export const OrganisationName = object({ id: text(), name: text() }, { title: 'OrganisationName' })
export const KeyList = object({ keys: list(Key) }, { title: 'KeyList' })
export const AreaList = object({ areas: list(Area) }, { title: 'AreaList' })
export const MemberList = object({ members: list(Member) }, { title: 'MemberList' })
export const TrackerList = object({ trackers: list(Tracker) }, { title: 'TrackerList' })
export const TrackerName = object({ id: text(), name: text() }, { title: 'TrackerName' })
export const EventNames = object(
  { names: list(object({ name: text(), count: integer() })), isComplete: boolean() },
  { title: 'EventNames' },
)
export const Totals = object({ today: text(), days: list(Day) }, { title: 'Totals' })
export const Invitation = object(
  { member: Member, token: text(), expiresAt: instant },
  { title: 'Invitation' },
)
export const RevokedKey = object({ key: Key }, { title: 'RevokedKey' })
export const ActivityList = object(
  { entries: list(Activity), nextCursor: orNull(text()) },
  { title: 'ActivityList' },
)
export const Ledger = object(
  {
    ...{ origin: text(), size: integer(), rootHash: text(), checkpoint: text(), verifierKeys: list(text()) },
    lastErasedAt: orNull(instant),
  },
  { title: 'Ledger' },
)
export const LedgerVerification = object(
  { size: integer(), rootHash: text(), problem: orNull(text()) },
  { title: 'LedgerVerification' },
)
/** What a link downloads: no page reads it. */
export const ProvenEntry = object(
  { index: integer(), record: text(), leafHash: text(), proof: list(text()), checkpoint: text() },
  { title: 'ProvenEntry' },
)
export { EventList, SessionList, Subject, SubjectList }

// As in the API, `x-rule` says in words what the schema says in keywords. Names and scopes are checked by the operations.

/** Whatever somebody typed; what it may be is the operation's to say. */
export const typed = text({ maxLength: 1_000, 'x-rule': 'a text of at most 1000 characters' })

/** PostgreSQL cannot even look for NUL. */
const noControlCharacters = '^[^\\x00-\\x1f\\x7f-\\x9f]+$'

export const email = text({
  minLength: 1,
  maxLength: maxEmailLength,
  pattern: noControlCharacters,
  'x-rule': emailRule,
})

export const password = text({
  minLength: 1,
  maxLength: 4 * maxPasswordLength,
  'x-rule': `${minPasswordLength} to ${maxPasswordLength} characters`,
})

export const token = text({ minLength: 1, maxLength: 200, 'x-rule': 'what stands in the link' })

export const organisation = optional(text(identifier))

export const scopeList = list(text({ maxLength: 100 }), {
  maxItems: 50,
  'x-rule': 'a list of scopes',
})

export const expiry = optional(orNull(text({ maxLength: 100 }), { 'x-rule': `${instantRule}, or null` }))

export const days = optional(
  integer({ minimum: 1, maximum: 40_000, 'x-rule': 'a whole number from 1 to 40000' }),
)

export const provenEntryParameters = {
  index: integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, 'x-rule': 'a whole number from 0 on' }),
}

const until = optional(text({ format: 'date-time', 'x-rule': instantRule }))

/** As the API's, from an instant on backwards. */
export const sessionsUntilParameters = { ...sessionListParameters, until }
export const eventsUntilParameters = { ...eventListParameters, until }

export const findBody = {
  text: text({ minLength: 1, maxLength: 300, 'x-rule': '1 to 300 characters' }),
  limit: optional(
    integer({ minimum: 1, maximum: mostFound, 'x-rule': `a whole number from 1 to ${mostFound}` }),
  ),
}

export const receiptBody = { ...provenEntryParameters, subjectId: text(identifier) }

const shortText = {
  minLength: 1,
  maxLength: 200,
  pattern: noControlCharacters,
  'x-rule': '1 to 200 characters, no control characters',
}

export const activityFilterParameters = {
  requestId: optional(text(shortText)),
  kind: optional(text({ ...shortText, 'x-rule': 'a kind of activity' })),
  actor: optional(text({ ...shortText, 'x-rule': 'the id of a member or a key, or command-line' })),
  since: optional(text({ maxLength: 100, 'x-rule': instantRule })),
  until: optional(text({ maxLength: 100, 'x-rule': instantRule })),
}

export const activityFormat = oneOf(['csv', 'json'], { 'x-rule': 'csv or json' })

export const activityListParameters = { ...sessionListParameters, ...activityFilterParameters }

/** How large a request with a list of people may be. */
export const maxListBytes = 4 * 1024 * 1024

/** The list of a batch, and what to make of it. */
export const batchFields = {
  text: text({ maxLength: maxListBytes, 'x-rule': 'a list, one data subject or person a line' }),
  format: oneOf(['lines', 'csv'], { 'x-rule': 'lines or csv' }),
  column: optional(text({ maxLength: 1_000, 'x-rule': 'the name of a column' })),
  by: oneOf(['subjectId', 'email'], { 'x-rule': 'subjectId or email' }),
  trackerIds: list(text(identifier), {
    maxItems: 1_000,
    'x-rule': 'a list of trackers, empty for all of them',
  }),
}

export const typedSubjects = integer({
  minimum: 0,
  maximum: Number.MAX_SAFE_INTEGER,
  'x-rule': 'how many data subjects are to be erased, as a whole number',
})

/** The place in a batch behind which a page of its certificate begins. */
export const certificateAfter = optional(integer({ minimum: 0, 'x-rule': 'a whole number from 0 on' }))

/** Whom an erasure is about. How many parts it may have together is the operation's to say. */
export const personField = object(
  {
    identifiers: list(
      object({
        name: text({ pattern: identifierNamePattern, 'x-rule': identifierNameRule }),
        value: text({
          ...{ minLength: 1, maxLength: maxIdentifierValueLength },
          ...{ pattern: identifierValuePattern, 'x-rule': identifierValueRule },
        }),
      }),
      { maxItems: maxPersonParts },
    ),
    subjects: list(object({ trackerId: text(identifier), subjectId: text(identifier) }), {
      maxItems: maxPersonParts,
    }),
  },
  { 'x-rule': 'identifiers and data subjects' },
)

export const plan = oneOf(plans, { 'x-rule': `one of ${plans.join(', ')}` })

export function instantOrNull(instant: Instant | null): string | null {
  return instant === null ? null : formatInstant(instant)
}

/** A key as pages show it: all but its string, which is in no store. */
export function presentKey(key: ApiKey, now: Instant) {
  const { id, name, scopes, lastFour } = key
  return {
    ...{ id, name, scopes: [...scopes], lastFour, state: apiKeyState(key, now) },
    createdAt: formatInstant(key.createdAt),
    rotatedAt: instantOrNull(key.rotatedAt),
    expiresAt: instantOrNull(key.expiresAt),
    revokedAt: instantOrNull(key.revokedAt),
    lastUsedAt: instantOrNull(key.lastUsedAt),
  }
}

export function presentMember({ id, email, createdAt, passwordSetAt }: MemberRow) {
  return { id, email, createdAt: formatInstant(createdAt), joinedAt: instantOrNull(passwordSetAt) }
}

export function presentActivity(entry: ActivityEntry) {
  const { id, at, actor, kind, target, requestId, counts, ledgerIndex } = entry
  return { id, at: formatInstant(at), actor, kind, target, requestId, counts, ledgerIndex }
}

export function presentLedgerErasure(
  { index, record, by }: ErasureEntry,
  batch: BatchOfEntry['batch'] | null,
) {
  const { trackerId, erasedAt, alreadyErased, counts } = record
  return { index, trackerId, erasedAt: formatInstant(erasedAt), alreadyErased, counts, by, batch }
}

export function presentCertificate(
  { erasure, batch, scrub, ...rest }: ErasureCertificate,
  organisation: string,
) {
  const { lastAt, reachesEveryByte } = scrub
  return {
    ...{ ...rest, erasure: presentLedgerErasure(erasure, batch), organisation },
    scrub: { lastAt: formatInstant(lastAt), reachesEveryByte },
  }
}

export function presentProvenEntry({ index, record, leafHash, proof, checkpoint }: ProvenLedgerEntry) {
  return { index, record, leafHash: Buffer.from(leafHash).toString('base64'), proof, checkpoint }
}

export function presentLedger(
  { origin, size, rootHash, checkpoint, verifierKeys }: LedgerHead,
  last: LedgerEntry | null,
) {
  const record = last && parseRecord(last.record)
  return {
    ...{ origin, size, rootHash: Buffer.from(rootHash).toString('base64'), checkpoint, verifierKeys },
    lastErasedAt: instantOrNull(record?.erasedAt ?? null),
  }
}
