// Written by `npm run openapi` from openapi/v1.json; a change here is lost.

export interface Counts {
  /** How many sessions. */
  sessions: number
  /** How many events. */
  events: number
}

/** A data subject as lists show it. */
export interface SubjectSummary {
  subjectId: string
  /** The start of the oldest session stored. */
  firstSeenAt: string
  /** The end of the newest activity stored. */
  lastSeenAt: string
  counts: Counts
}

export interface SubjectList {
  subjects: SubjectSummary[]
  /** Hand it back as `cursor` for the next page; `null` on the last one. */
  nextCursor: string | null
}

/** What every answer carries, failure or success. */
export interface Meta {
  /** The same value as the X-Request-Id header; a UUID unless the client chose its own. */
  requestId: string
  /** When the answer was made: ISO 8601 in UTC with milliseconds. */
  timestamp: string
}

/** Something a data subject is known by outside of its tracker. */
export interface Identifier {
  /** What kind it is, such as `email`. */
  name: string
  value: string
}

/** What is stored about one data subject. */
export interface Subject {
  trackerId: string
  subjectId: string
  /** The start of the oldest session stored. */
  firstSeenAt: string
  /** The end of the newest activity stored. */
  lastSeenAt: string
  counts: Counts
  /** What it is known by, by name and value. One goes with the newest data that brought it. */
  identifiers: Identifier[]
  /** What is known of the subject as of its newest session. */
  attributes: Record<string, unknown>
}

/** What this very request deleted. */
export interface Erasure {
  trackerId: string
  subjectId: string
  /** The subject held no data: erased before, aged out, or never seen. */
  alreadyErased: boolean
  counts: Counts
  /** When the data was gone. */
  erasedAt: string
  /** The proof of this erasure, a text in the format C2SP tlog-proof, which anybody can check against the key of the organisation’s ledger. */
  receipt: string
}

/** What `searchSubjects` takes in its body. */
export interface SearchSubjectsBody {
  /** Whoever is known by this, in whichever tracker. Goes without `subjectId`. */
  identifier?: {
    /** What kind it is, such as `email`. */
    name: string
    /** An `email` is compared without regard to case, whatever else exactly. */
    value: string
  }
  /** The data subjects with this id, in whichever tracker. Goes without `identifier`. */
  subjectId?: string
  /** How many to return at most; 50 without it. */
  limit?: number
  /** The `nextCursor` of the page before. Opaque, and good only for the same list, sort and filters. */
  cursor?: string
}

/** A data subject that a search found, and its tracker. */
export interface FoundSubject {
  trackerId: string
  subjectId: string
  /** The start of the oldest session stored. */
  firstSeenAt: string
  /** The end of the newest activity stored. */
  lastSeenAt: string
  counts: Counts
}

export interface HiddenSubject {
  trackerId: string
  subjectId: string
}

export interface FoundSubjectList {
  subjects: FoundSubject[]
  /** Present only after a change to a shorter plan, for the day before it deletes: data subjects of the person that the plan hides. They cannot be read, but a longer plan would bring them back. To erase the person, erase these too. */
  hidden?: HiddenSubject[]
  /** Hand it back as `cursor` for the next page; `null` on the last one. */
  nextCursor: string | null
}

export interface Session {
  sessionId: string
  /** When it began. */
  startedAt: string
  /** When it ended, as far as is known. */
  endedAt: string
  counts: {
    /** How many events. */
    events: number
  }
  /** What was collected with the session. */
  attributes: Record<string, unknown>
}

export interface SessionList {
  sessions: Session[]
  /** Hand it back as `cursor` for the next page; `null` on the last one. */
  nextCursor: string | null
}

export interface Event {
  eventId: string
  sessionId: string
  name: string
  /** When it happened. */
  occurredAt: string
  /** What was collected with the event. */
  properties: Record<string, unknown>
}

export interface EventList {
  events: Event[]
  /** Hand it back as `cursor` for the next page; `null` on the last one. */
  nextCursor: string | null
}

/** All that is stored about one data subject. */
export interface SubjectExport {
  trackerId: string
  subjectId: string
  /** The start of the oldest session stored. */
  firstSeenAt: string
  /** The end of the newest activity stored. */
  lastSeenAt: string
  counts: Counts
  /** What it is known by, by name and value. One goes with the newest data that brought it. */
  identifiers: Identifier[]
  /** What is known of the subject as of its newest session. */
  attributes: Record<string, unknown>
  /** All of them, oldest first. */
  sessions: Session[]
  /** All of them, oldest first. */
  events: Event[]
}

/** An erasure of a data subject, and the proof of it. */
export interface Receipt {
  /** When the data was gone. */
  erasedAt: string
  /** The subject held no data then. */
  alreadyErased: boolean
  counts: Counts
  /** The proof of this erasure, a text in the format C2SP tlog-proof, which anybody can check against the key of the organisation’s ledger. */
  receipt: string
}

export interface ReceiptList {
  receipts: Receipt[]
  /** Hand it back as `cursor` for the next page; `null` on the last one. */
  nextCursor: string | null
}

/** How the ledger of an organisation’s erasures stands. */
export interface Ledger {
  /** The name of the ledger and of its keys. */
  origin: string
  /** How many entries it has. */
  size: number
  /** The root of the tree of its entries. SHA-256, in base64. */
  rootHash: string
  /** The head of the ledger, signed: a C2SP tlog-checkpoint with Ed25519. */
  checkpoint: string
  /** The keys that sign it, as C2SP signed-note writes them; the one in use first. */
  verifierKeys: string[]
}

/** An erasure, as the ledger tells of it. */
export interface LedgerEntry {
  /** Its place, from 0. */
  index: number
  /** What was erased and when, as one line of canonical JSON (RFC 8785). */
  record: string
  /** The hash of the record as a leaf of the tree. SHA-256, in base64. */
  leafHash: string
}

export interface EntryList {
  entries: LedgerEntry[]
  /** Hand it back as `cursor` for the next page; `null` on the last one. */
  nextCursor: string | null
}

/** The proof that a ledger begins with what it was before. */
export interface Consistency {
  /** How many entries the older ledger had. */
  from: number
  /** How many the ledger has now. */
  to: number
  /** The hashes of the proof, in base64. */
  proof: string[]
  /** The head of the ledger, signed: a C2SP tlog-checkpoint with Ed25519. */
  checkpoint: string
}

/** What is wrong with one parameter. */
export interface FieldProblem {
  field: string
  message: string
}

/** The envelope of every failure: `error` stands where `data` would. */
export interface Failure {
  error: {
    /** What went wrong, for programs. */
    code: 'invalid_request' | 'unauthorized' | 'forbidden' | 'not_found' | 'validation_error' | 'rate_limited' | 'internal_error'
    /** What went wrong, for people. */
    message: string
    /** One entry per field; only with validation_error. Of more than 100, the last entry says how many more there are. */
    details?: FieldProblem[]
  }
  meta: Meta
}

/** What `listSubjects` takes in its query. */
export interface ListSubjectsQuery {
  /** How many to return at most. */
  limit?: number | undefined
  /** The `nextCursor` of the page before. Opaque, and good only for the same list, sort and filters. */
  cursor?: string | undefined
  /** The order. `subjectId`, the default, walks a tracker completely whatever happens meanwhile. With a `lastSeen…` filter the default is `lastSeenAt`. */
  sort?: 'subjectId' | 'lastSeenAt' | '-lastSeenAt' | undefined
  /** Only ids that start with this. Goes with `sort=subjectId`. */
  subjectIdPrefix?: string | undefined
  /** Only subjects last seen at this instant or later. Goes with a `lastSeenAt` sort. */
  lastSeenAfter?: string | undefined
  /** Only subjects last seen before this instant. Goes with a `lastSeenAt` sort. */
  lastSeenBefore?: string | undefined
}

/** What `listSessions` takes in its query. */
export interface ListSessionsQuery {
  /** How many to return at most. */
  limit?: number | undefined
  /** The `nextCursor` of the page before. Opaque, and good only for the same list, sort and filters. */
  cursor?: string | undefined
}

/** What `listEvents` takes in its query. */
export interface ListEventsQuery {
  /** How many to return at most. */
  limit?: number | undefined
  /** The `nextCursor` of the page before. Opaque, and good only for the same list, sort and filters. */
  cursor?: string | undefined
  /** Only the events of this session. */
  sessionId?: string | undefined
}

/** What `listReceipts` takes in its query. */
export interface ListReceiptsQuery {
  /** How many to return at most. */
  limit?: number | undefined
  /** The `nextCursor` of the page before. Opaque, and good only for the same list, sort and filters. */
  cursor?: string | undefined
}

/** What `listEntries` takes in its query. */
export interface ListEntriesQuery {
  /** How many to return at most. */
  limit?: number | undefined
  /** The `nextCursor` of the page before. Opaque, and good only for the same list, sort and filters. */
  cursor?: string | undefined
}

/** What `proveConsistency` takes in its query. */
export interface ProveConsistencyQuery {
  /** How many entries the ledger had when it was looked at before; at most as many as it has now. */
  from: number
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function isCounts(value: unknown): value is Counts {
  return isObject(value) &&
    typeof value.sessions === 'number' &&
    typeof value.events === 'number'
}

export function isSubjectSummary(value: unknown): value is SubjectSummary {
  return isObject(value) &&
    typeof value.subjectId === 'string' &&
    typeof value.firstSeenAt === 'string' &&
    typeof value.lastSeenAt === 'string' &&
    isCounts(value.counts)
}

export function isSubjectList(value: unknown): value is SubjectList {
  return isObject(value) &&
    Array.isArray(value.subjects) && value.subjects.every((item) => isSubjectSummary(item)) &&
    (typeof value.nextCursor === 'string' || value.nextCursor === null)
}

export function isMeta(value: unknown): value is Meta {
  return isObject(value) &&
    typeof value.requestId === 'string' &&
    typeof value.timestamp === 'string'
}

export function isIdentifier(value: unknown): value is Identifier {
  return isObject(value) &&
    typeof value.name === 'string' &&
    typeof value.value === 'string'
}

export function isSubject(value: unknown): value is Subject {
  return isObject(value) &&
    typeof value.trackerId === 'string' &&
    typeof value.subjectId === 'string' &&
    typeof value.firstSeenAt === 'string' &&
    typeof value.lastSeenAt === 'string' &&
    isCounts(value.counts) &&
    Array.isArray(value.identifiers) && value.identifiers.every((item) => isIdentifier(item)) &&
    isObject(value.attributes)
}

export function isErasure(value: unknown): value is Erasure {
  return isObject(value) &&
    typeof value.trackerId === 'string' &&
    typeof value.subjectId === 'string' &&
    typeof value.alreadyErased === 'boolean' &&
    isCounts(value.counts) &&
    typeof value.erasedAt === 'string' &&
    typeof value.receipt === 'string'
}

export function isSearchSubjectsBody(value: unknown): value is SearchSubjectsBody {
  return isObject(value) &&
    (value.identifier === undefined || (isObject(value.identifier) &&
      typeof value.identifier.name === 'string' &&
      typeof value.identifier.value === 'string')) &&
    (value.subjectId === undefined || (typeof value.subjectId === 'string')) &&
    (value.limit === undefined || (typeof value.limit === 'number')) &&
    (value.cursor === undefined || (typeof value.cursor === 'string'))
}

export function isFoundSubject(value: unknown): value is FoundSubject {
  return isObject(value) &&
    typeof value.trackerId === 'string' &&
    typeof value.subjectId === 'string' &&
    typeof value.firstSeenAt === 'string' &&
    typeof value.lastSeenAt === 'string' &&
    isCounts(value.counts)
}

export function isHiddenSubject(value: unknown): value is HiddenSubject {
  return isObject(value) &&
    typeof value.trackerId === 'string' &&
    typeof value.subjectId === 'string'
}

export function isFoundSubjectList(value: unknown): value is FoundSubjectList {
  return isObject(value) &&
    Array.isArray(value.subjects) && value.subjects.every((item) => isFoundSubject(item)) &&
    (value.hidden === undefined || (Array.isArray(value.hidden) && value.hidden.every((item) => isHiddenSubject(item)))) &&
    (typeof value.nextCursor === 'string' || value.nextCursor === null)
}

export function isSession(value: unknown): value is Session {
  return isObject(value) &&
    typeof value.sessionId === 'string' &&
    typeof value.startedAt === 'string' &&
    typeof value.endedAt === 'string' &&
    isObject(value.counts) &&
      typeof value.counts.events === 'number' &&
    isObject(value.attributes)
}

export function isSessionList(value: unknown): value is SessionList {
  return isObject(value) &&
    Array.isArray(value.sessions) && value.sessions.every((item) => isSession(item)) &&
    (typeof value.nextCursor === 'string' || value.nextCursor === null)
}

export function isEvent(value: unknown): value is Event {
  return isObject(value) &&
    typeof value.eventId === 'string' &&
    typeof value.sessionId === 'string' &&
    typeof value.name === 'string' &&
    typeof value.occurredAt === 'string' &&
    isObject(value.properties)
}

export function isEventList(value: unknown): value is EventList {
  return isObject(value) &&
    Array.isArray(value.events) && value.events.every((item) => isEvent(item)) &&
    (typeof value.nextCursor === 'string' || value.nextCursor === null)
}

export function isSubjectExport(value: unknown): value is SubjectExport {
  return isObject(value) &&
    typeof value.trackerId === 'string' &&
    typeof value.subjectId === 'string' &&
    typeof value.firstSeenAt === 'string' &&
    typeof value.lastSeenAt === 'string' &&
    isCounts(value.counts) &&
    Array.isArray(value.identifiers) && value.identifiers.every((item) => isIdentifier(item)) &&
    isObject(value.attributes) &&
    Array.isArray(value.sessions) && value.sessions.every((item) => isSession(item)) &&
    Array.isArray(value.events) && value.events.every((item) => isEvent(item))
}

export function isReceipt(value: unknown): value is Receipt {
  return isObject(value) &&
    typeof value.erasedAt === 'string' &&
    typeof value.alreadyErased === 'boolean' &&
    isCounts(value.counts) &&
    typeof value.receipt === 'string'
}

export function isReceiptList(value: unknown): value is ReceiptList {
  return isObject(value) &&
    Array.isArray(value.receipts) && value.receipts.every((item) => isReceipt(item)) &&
    (typeof value.nextCursor === 'string' || value.nextCursor === null)
}

export function isLedger(value: unknown): value is Ledger {
  return isObject(value) &&
    typeof value.origin === 'string' &&
    typeof value.size === 'number' &&
    typeof value.rootHash === 'string' &&
    typeof value.checkpoint === 'string' &&
    Array.isArray(value.verifierKeys) && value.verifierKeys.every((item) => typeof item === 'string')
}

export function isLedgerEntry(value: unknown): value is LedgerEntry {
  return isObject(value) &&
    typeof value.index === 'number' &&
    typeof value.record === 'string' &&
    typeof value.leafHash === 'string'
}

export function isEntryList(value: unknown): value is EntryList {
  return isObject(value) &&
    Array.isArray(value.entries) && value.entries.every((item) => isLedgerEntry(item)) &&
    (typeof value.nextCursor === 'string' || value.nextCursor === null)
}

export function isConsistency(value: unknown): value is Consistency {
  return isObject(value) &&
    typeof value.from === 'number' &&
    typeof value.to === 'number' &&
    Array.isArray(value.proof) && value.proof.every((item) => typeof item === 'string') &&
    typeof value.checkpoint === 'string'
}

export function isFieldProblem(value: unknown): value is FieldProblem {
  return isObject(value) &&
    typeof value.field === 'string' &&
    typeof value.message === 'string'
}

export function isFailure(value: unknown): value is Failure {
  return isObject(value) &&
    isObject(value.error) &&
      (value.error.code === 'invalid_request' ||
        value.error.code === 'unauthorized' ||
        value.error.code === 'forbidden' ||
        value.error.code === 'not_found' ||
        value.error.code === 'validation_error' ||
        value.error.code === 'rate_limited' ||
        value.error.code === 'internal_error') &&
      typeof value.error.message === 'string' &&
      (value.error.details === undefined || (Array.isArray(value.error.details) && value.error.details.every((item) => isFieldProblem(item)))) &&
    isMeta(value.meta)
}
