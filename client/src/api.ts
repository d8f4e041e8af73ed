// Written by `npm run openapi` from openapi/v1.json; a change here is lost.

export interface Counts {
  /** The number of sessions. */
  sessions: number
  /** The number of events. */
  events: number
}

/** A data subject in a list. */
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
  /** The `cursor` of the next page; `null` on the last page. */
  nextCursor: string | null
}

/** Included in every response, whether it succeeds or fails. */
export interface Meta {
  /** The same value as the X-Request-Id header; a UUID unless the client chose its own. */
  requestId: string
  /** When the response was created: ISO 8601 in UTC with milliseconds. */
  timestamp: string
}

/** A name and a value that identify a data subject outside of its tracker. */
export interface Identifier {
  /** The kind of identifier, such as `email`. */
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
  /** Its identifiers. An identifier expires with the newest data that contained it. */
  identifiers: Identifier[]
  /** The attributes of the newest session. */
  attributes: Record<string, unknown>
}

/** What this request deleted. */
export interface Erasure {
  trackerId: string
  subjectId: string
  /** The data subject had no data: it was erased before, its data has expired, or it was never seen. */
  alreadyErased: boolean
  counts: Counts
  /** When the data was erased. */
  erasedAt: string
  /** The proof of this erasure in the format C2SP tlog-proof. Anyone can verify it with the key of the organisation’s ledger. */
  receipt: string
}

/** The body of `searchSubjects`. */
export interface SearchSubjectsBody {
  /** Finds the data subjects with this identifier, on all trackers. Cannot be combined with `subjectId`. */
  identifier?: {
    /** The kind of identifier, such as `email`. */
    name: string
    /** An `email` is compared case-insensitively, other identifiers exactly. */
    value: string
  }
  /** Finds the data subjects with this ID, on all trackers. Cannot be combined with `identifier`. */
  subjectId?: string
  /** The maximum number of items to return; 50 by default. */
  limit?: number
  /** The `nextCursor` of the previous page. It is opaque, and valid only for the same list, sort order and filters. */
  cursor?: string
}

/** A data subject that matches a search, with its tracker. */
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
  /** Present only during the day between a change to a shorter plan and the deletion: data subjects of the person that the plan hides. They cannot be read, but a longer plan would restore them. To erase the person, erase these too. */
  hidden?: HiddenSubject[]
  /** The `cursor` of the next page; `null` on the last page. */
  nextCursor: string | null
}

export interface Session {
  sessionId: string
  /** When the session started. */
  startedAt: string
  /** When the session ended, as far as is known. */
  endedAt: string
  counts: {
    /** The number of events. */
    events: number
  }
  /** The data collected with the session. */
  attributes: Record<string, unknown>
}

export interface SessionList {
  sessions: Session[]
  /** The `cursor` of the next page; `null` on the last page. */
  nextCursor: string | null
}

export interface Event {
  eventId: string
  sessionId: string
  name: string
  /** When the event occurred. */
  occurredAt: string
  /** The data collected with the event. */
  properties: Record<string, unknown>
}

export interface EventList {
  events: Event[]
  /** The `cursor` of the next page; `null` on the last page. */
  nextCursor: string | null
}

/** Everything stored about one data subject. */
export interface SubjectExport {
  trackerId: string
  subjectId: string
  /** The start of the oldest session stored. */
  firstSeenAt: string
  /** The end of the newest activity stored. */
  lastSeenAt: string
  counts: Counts
  /** Its identifiers. An identifier expires with the newest data that contained it. */
  identifiers: Identifier[]
  /** The attributes of the newest session. */
  attributes: Record<string, unknown>
  /** All items, oldest first. */
  sessions: Session[]
  /** All items, oldest first. */
  events: Event[]
}

/** An erasure of a data subject, with its proof. */
export interface Receipt {
  /** When the data was erased. */
  erasedAt: string
  /** The data subject had no data at that time. */
  alreadyErased: boolean
  counts: Counts
  /** The proof of this erasure in the format C2SP tlog-proof. Anyone can verify it with the key of the organisation’s ledger. */
  receipt: string
}

export interface ReceiptList {
  receipts: Receipt[]
  /** The `cursor` of the next page; `null` on the last page. */
  nextCursor: string | null
}

/** The state of an organisation’s erasure ledger. */
export interface Ledger {
  /** The name of the ledger and of its keys. */
  origin: string
  /** The number of entries. */
  size: number
  /** The root of the tree of its entries. SHA-256, in base64. */
  rootHash: string
  /** The head of the ledger, signed: a C2SP tlog-checkpoint with Ed25519. */
  checkpoint: string
  /** The keys that sign it, in the format of C2SP signed-note; the current one first. */
  verifierKeys: string[]
}

/** An entry of the ledger. */
export interface LedgerEntry {
  /** Its position, starting at 0. */
  index: number
  /** What was erased, or that nothing was held about a person (version 2), and when: one line of canonical JSON (RFC 8785). Ignore versions that you do not know; they count in the tree. */
  record: string
  /** The hash of the record as a leaf of the tree. SHA-256, in base64. */
  leafHash: string
}

export interface EntryList {
  entries: LedgerEntry[]
  /** The `cursor` of the next page; `null` on the last page. */
  nextCursor: string | null
}

/** The proof that a ledger still starts with its earlier entries. */
export interface Consistency {
  /** The size of the earlier ledger. */
  from: number
  /** The current size of the ledger. */
  to: number
  /** The hashes of the proof, in base64. */
  proof: string[]
  /** The head of the ledger, signed: a C2SP tlog-checkpoint with Ed25519. */
  checkpoint: string
}

/** The body of `createRequest`. */
export interface CreateRequestBody {
  /** What the person asked for. */
  kind: 'access' | 'erasure'
  /** The person: 1 to 32 identifiers and data subjects in total. */
  person: {
    /** Every data subject with one of these identifiers. */
    identifiers?: {
      name: string
      value: string
    }[]
    /** These data subjects. */
    subjects?: {
      trackerId: string
      subjectId: string
    }[]
  }
  /** When the person asked: now, which is the default, or earlier. */
  receivedAt?: string
  /** Your own name for the request, such as a ticket number. It is kept after the request is closed, so it must not contain an identifier or an ID of the person. */
  reference?: string
  /** A UUID of your choice, which makes this safe to repeat. */
  requestId?: string
}

/** A data subject by its tracker and ID. */
export interface SubjectRef {
  trackerId: string
  subjectId: string
}

/** Whom a request is about. */
export interface Person {
  identifiers: Identifier[]
  subjects: SubjectRef[]
}

export interface RequestCounts {
  /** The number of data subjects. */
  subjects: number
  /** The number of sessions. */
  sessions: number
  /** The number of events. */
  events: number
}

/** What a person asked for, from its arrival to its answer. */
export interface PrivacyRequest {
  requestId: string
  /** What the person asked for. */
  kind: 'access' | 'erasure'
  /** `open` until it is answered, `running` while the service erases. The others are final. */
  state: 'open' | 'running' | 'done' | 'rejected' | 'cancelled'
  /** Your own name for it. */
  reference: string | null
  /** When the person asked. */
  receivedAt: string
  /** When the answer is due: one calendar month later, or three if it was extended. */
  dueAt: string
  extendedAt: string | null
  closedAt: string | null
  /** Why it was rejected, or else extended. */
  reason: string | null
  /** Whom it is about; `null` once the request is closed, because it is then deleted. */
  person: Person | null
  found: RequestCounts
  erased: RequestCounts
  left: number | null
  resumesAt: string | null
}

export interface PrivacyRequestList {
  requests: PrivacyRequest[]
  /** The `cursor` of the next page; `null` on the last page. */
  nextCursor: string | null
}

/** The body of `extendRequest`. */
export interface ExtendRequestBody {
  /** Why the answer takes longer, such as the number of requests. */
  reason: string
}

/** The body of `rejectRequest`. */
export interface RejectRequestBody {
  /** Why you do not do what the person asked for. */
  reason: string
}

export interface CertifiedErasure {
  trackerId: string
  /** When the data was erased. */
  erasedAt: string
  /** The data subject had no visible data at that time. */
  alreadyErased: boolean
  counts: Counts
  /** The index of the entry in the ledger, from 0. */
  index: number
  /** The proof of this erasure in the format C2SP tlog-proof. Anyone can verify it with the key of the organisation’s ledger. */
  receipt: string
}

export interface CertifiedAbsence {
  /** The kind of identifier, such as `email`. */
  name: string
  /** When nothing was stored about it. */
  checkedAt: string
  /** The index of the entry in the ledger, from 0. */
  index: number
  /** The proof of this erasure in the format C2SP tlog-proof. Anyone can verify it with the key of the organisation’s ledger. */
  receipt: string
}

/** What a request did, with proof. */
export interface RequestCertificate {
  requestId: string
  kind: 'access' | 'erasure'
  reference: string | null
  /** When the person asked. */
  receivedAt: string
  closedAt: string | null
  /** The request is done, everything that it was to erase has an entry below, and nothing arrived too late. `false` also if a tracker was deleted before its data was erased. */
  complete: boolean
  /** The erasures, in order. They do not identify anyone; the receipts prove them. */
  entries: CertifiedErasure[]
  /** The identifiers about which nothing was stored. */
  nothingHeld: CertifiedAbsence[]
}

/** A session of a data subject. */
export interface SessionLine {
  type: 'session'
  /** The tracker in the path, if given. */
  trackerId?: string
  subjectId: string
  sessionId: string
  /** When the session started. */
  startedAt: string
  /** When it ended; when it started, by default. */
  endedAt?: string
  /** Everything else that is known about the session. */
  attributes?: Record<string, unknown>
  /** What else identifies the person, such as `{"email": "ada@example.com"}`. */
  identifiers?: Record<string, string>
}

/** An event. Its session is created if it does not exist. */
export interface EventLine {
  type: 'event'
  /** The tracker in the path, if given. */
  trackerId?: string
  subjectId: string
  sessionId: string
  /** Derived from the content by default. */
  eventId?: string
  name: string
  /** When the event occurred. */
  occurredAt: string
  /** Everything else that is known about the event. */
  properties?: Record<string, unknown>
  /** What else identifies the person, such as `{"email": "ada@example.com"}`. */
  identifiers?: Record<string, string>
}

/** The lines of a batch. */
export interface IngestBatchBody {
  /** The sessions and events, in any order. */
  lines: (SessionLine | EventLine)[]
}

export interface AddedCounts {
  /** The number of new data subjects. */
  subjects: number
  /** The number of new sessions. */
  sessions: number
  /** The number of new events. */
  events: number
}

export interface RefusedLine {
  /** The number of the line, from 1. */
  line: number
  /** Why the line is invalid. */
  message: string
}

/** What became of the lines of a batch. */
export interface Batch {
  trackerId: string
  /** The number of lines, empty ones included. */
  lines: number
  added: AddedCounts
  /** The number of lines whose session or event was already stored. */
  unchanged: number
  /** The number of lines older than the retention window of the organisation's plan. */
  tooOld: number
  /** The number of lines dated before their data subject was erased. */
  ofErased: number
  /** The number of invalid lines. */
  refusedCount: number
  /** The first 100 invalid lines. */
  refused: RefusedLine[]
}

/** A problem with one field. */
export interface FieldProblem {
  field: string
  message: string
}

/** The envelope of every error response: it has `error` instead of `data`. */
export interface Failure {
  error: {
    /** The error code, for programs. */
    code: 'invalid_request' | 'unauthorized' | 'forbidden' | 'not_found' | 'validation_error' | 'rate_limited' | 'internal_error'
    /** The error message, for people. */
    message: string
    /** One entry per field; only with validation_error. If there are more than 100, the last entry says how many were left out. */
    details?: FieldProblem[]
  }
  meta: Meta
}

/** What `listSubjects` takes in its query. */
export interface ListSubjectsQuery {
  /** The maximum number of items to return. */
  limit?: number | undefined
  /** The `nextCursor` of the previous page. It is opaque, and valid only for the same list, sort order and filters. */
  cursor?: string | undefined
  /** The sort order. `subjectId`, the default, lists every data subject once even if data changes in the meantime. With a `lastSeen…` filter the default is `lastSeenAt`. */
  sort?: 'subjectId' | 'lastSeenAt' | '-lastSeenAt' | undefined
  /** Only IDs with this prefix. Requires `sort=subjectId`. */
  subjectIdPrefix?: string | undefined
  /** Only data subjects last seen at this time or later. Requires a `lastSeenAt` sort order. */
  lastSeenAfter?: string | undefined
  /** Only data subjects last seen before this time. Requires a `lastSeenAt` sort order. */
  lastSeenBefore?: string | undefined
}

/** What `listSessions` takes in its query. */
export interface ListSessionsQuery {
  /** The maximum number of items to return. */
  limit?: number | undefined
  /** The `nextCursor` of the previous page. It is opaque, and valid only for the same list, sort order and filters. */
  cursor?: string | undefined
}

/** What `listEvents` takes in its query. */
export interface ListEventsQuery {
  /** The maximum number of items to return. */
  limit?: number | undefined
  /** The `nextCursor` of the previous page. It is opaque, and valid only for the same list, sort order and filters. */
  cursor?: string | undefined
  /** Only the events of this session. */
  sessionId?: string | undefined
}

/** What `listReceipts` takes in its query. */
export interface ListReceiptsQuery {
  /** The maximum number of items to return. */
  limit?: number | undefined
  /** The `nextCursor` of the previous page. It is opaque, and valid only for the same list, sort order and filters. */
  cursor?: string | undefined
}

/** What `listEntries` takes in its query. */
export interface ListEntriesQuery {
  /** The maximum number of items to return. */
  limit?: number | undefined
  /** The `nextCursor` of the previous page. It is opaque, and valid only for the same list, sort order and filters. */
  cursor?: string | undefined
}

/** What `proveConsistency` takes in its query. */
export interface ProveConsistencyQuery {
  /** The size of the ledger in the earlier checkpoint; at most its current size. */
  from: number
}

/** What `listRequests` takes in its query. */
export interface ListRequestsQuery {
  /** The maximum number of items to return. */
  limit?: number | undefined
  /** The `nextCursor` of the previous page. It is opaque, and valid only for the same list, sort order and filters. */
  cursor?: string | undefined
  /** Only requests in this state. */
  state?: 'open' | 'running' | 'done' | 'rejected' | 'cancelled' | undefined
  /** Only requests of this kind. */
  kind?: 'access' | 'erasure' | undefined
  /** Only requests that are due before this time. */
  dueBefore?: string | undefined
}

export function isObject(value: unknown): value is Record<string, unknown> {
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

export function isCreateRequestBody(value: unknown): value is CreateRequestBody {
  return isObject(value) &&
    (value.kind === 'access' ||
      value.kind === 'erasure') &&
    isObject(value.person) &&
      (value.person.identifiers === undefined || (Array.isArray(value.person.identifiers) && value.person.identifiers.every((item) => isObject(item) &&
        typeof item.name === 'string' &&
        typeof item.value === 'string'))) &&
      (value.person.subjects === undefined || (Array.isArray(value.person.subjects) && value.person.subjects.every((item) => isObject(item) &&
        typeof item.trackerId === 'string' &&
        typeof item.subjectId === 'string'))) &&
    (value.receivedAt === undefined || (typeof value.receivedAt === 'string')) &&
    (value.reference === undefined || (typeof value.reference === 'string')) &&
    (value.requestId === undefined || (typeof value.requestId === 'string'))
}

export function isSubjectRef(value: unknown): value is SubjectRef {
  return isObject(value) &&
    typeof value.trackerId === 'string' &&
    typeof value.subjectId === 'string'
}

export function isPerson(value: unknown): value is Person {
  return isObject(value) &&
    Array.isArray(value.identifiers) && value.identifiers.every((item) => isIdentifier(item)) &&
    Array.isArray(value.subjects) && value.subjects.every((item) => isSubjectRef(item))
}

export function isRequestCounts(value: unknown): value is RequestCounts {
  return isObject(value) &&
    typeof value.subjects === 'number' &&
    typeof value.sessions === 'number' &&
    typeof value.events === 'number'
}

export function isPrivacyRequest(value: unknown): value is PrivacyRequest {
  return isObject(value) &&
    typeof value.requestId === 'string' &&
    (value.kind === 'access' ||
      value.kind === 'erasure') &&
    (value.state === 'open' ||
      value.state === 'running' ||
      value.state === 'done' ||
      value.state === 'rejected' ||
      value.state === 'cancelled') &&
    (typeof value.reference === 'string' || value.reference === null) &&
    typeof value.receivedAt === 'string' &&
    typeof value.dueAt === 'string' &&
    (typeof value.extendedAt === 'string' || value.extendedAt === null) &&
    (typeof value.closedAt === 'string' || value.closedAt === null) &&
    (typeof value.reason === 'string' || value.reason === null) &&
    (isPerson(value.person) || value.person === null) &&
    isRequestCounts(value.found) &&
    isRequestCounts(value.erased) &&
    (typeof value.left === 'number' || value.left === null) &&
    (typeof value.resumesAt === 'string' || value.resumesAt === null)
}

export function isPrivacyRequestList(value: unknown): value is PrivacyRequestList {
  return isObject(value) &&
    Array.isArray(value.requests) && value.requests.every((item) => isPrivacyRequest(item)) &&
    (typeof value.nextCursor === 'string' || value.nextCursor === null)
}

export function isExtendRequestBody(value: unknown): value is ExtendRequestBody {
  return isObject(value) &&
    typeof value.reason === 'string'
}

export function isRejectRequestBody(value: unknown): value is RejectRequestBody {
  return isObject(value) &&
    typeof value.reason === 'string'
}

export function isCertifiedErasure(value: unknown): value is CertifiedErasure {
  return isObject(value) &&
    typeof value.trackerId === 'string' &&
    typeof value.erasedAt === 'string' &&
    typeof value.alreadyErased === 'boolean' &&
    isCounts(value.counts) &&
    typeof value.index === 'number' &&
    typeof value.receipt === 'string'
}

export function isCertifiedAbsence(value: unknown): value is CertifiedAbsence {
  return isObject(value) &&
    typeof value.name === 'string' &&
    typeof value.checkedAt === 'string' &&
    typeof value.index === 'number' &&
    typeof value.receipt === 'string'
}

export function isRequestCertificate(value: unknown): value is RequestCertificate {
  return isObject(value) &&
    typeof value.requestId === 'string' &&
    (value.kind === 'access' ||
      value.kind === 'erasure') &&
    (typeof value.reference === 'string' || value.reference === null) &&
    typeof value.receivedAt === 'string' &&
    (typeof value.closedAt === 'string' || value.closedAt === null) &&
    typeof value.complete === 'boolean' &&
    Array.isArray(value.entries) && value.entries.every((item) => isCertifiedErasure(item)) &&
    Array.isArray(value.nothingHeld) && value.nothingHeld.every((item) => isCertifiedAbsence(item))
}

export function isSessionLine(value: unknown): value is SessionLine {
  return isObject(value) &&
    (value.type === 'session') &&
    (value.trackerId === undefined || (typeof value.trackerId === 'string')) &&
    typeof value.subjectId === 'string' &&
    typeof value.sessionId === 'string' &&
    typeof value.startedAt === 'string' &&
    (value.endedAt === undefined || (typeof value.endedAt === 'string')) &&
    (value.attributes === undefined || (isObject(value.attributes))) &&
    (value.identifiers === undefined || (isObject(value.identifiers) &&
      Object.values(value.identifiers).every((item) => typeof item === 'string')))
}

export function isEventLine(value: unknown): value is EventLine {
  return isObject(value) &&
    (value.type === 'event') &&
    (value.trackerId === undefined || (typeof value.trackerId === 'string')) &&
    typeof value.subjectId === 'string' &&
    typeof value.sessionId === 'string' &&
    (value.eventId === undefined || (typeof value.eventId === 'string')) &&
    typeof value.name === 'string' &&
    typeof value.occurredAt === 'string' &&
    (value.properties === undefined || (isObject(value.properties))) &&
    (value.identifiers === undefined || (isObject(value.identifiers) &&
      Object.values(value.identifiers).every((item) => typeof item === 'string')))
}

export function isIngestBatchBody(value: unknown): value is IngestBatchBody {
  return isObject(value) &&
    Array.isArray(value.lines) && value.lines.every((item) => (isSessionLine(item) || isEventLine(item)))
}

export function isAddedCounts(value: unknown): value is AddedCounts {
  return isObject(value) &&
    typeof value.subjects === 'number' &&
    typeof value.sessions === 'number' &&
    typeof value.events === 'number'
}

export function isRefusedLine(value: unknown): value is RefusedLine {
  return isObject(value) &&
    typeof value.line === 'number' &&
    typeof value.message === 'string'
}

export function isBatch(value: unknown): value is Batch {
  return isObject(value) &&
    typeof value.trackerId === 'string' &&
    typeof value.lines === 'number' &&
    isAddedCounts(value.added) &&
    typeof value.unchanged === 'number' &&
    typeof value.tooOld === 'number' &&
    typeof value.ofErased === 'number' &&
    typeof value.refusedCount === 'number' &&
    Array.isArray(value.refused) && value.refused.every((item) => isRefusedLine(item))
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
