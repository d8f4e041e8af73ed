import { activityKinds } from '../../domain/activity.ts'
import { batchKinds } from '../../domain/erasure-batch.ts'
import { plans } from '../../domain/plan.ts'
import {
  Counts,
  EventList,
  FoundSubject,
  Identifier,
  SessionList,
  Subject,
  SubjectList,
} from '../api/schemas/resources.ts'
import { boolean, integer, list, object, oneOf, orNull, type Schema, text } from '../schemas/schema.ts'

// What the console's answers hold. The types of its pages are made from these.

const instant = text({ format: 'date-time' })

export const Nothing = object({})

export const Member = object(
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

export const Key = object(
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

export const Tracker = object(
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
