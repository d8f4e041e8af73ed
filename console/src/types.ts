// Written by `npm run openapi` from the routes of the console; a change here is lost.

export interface PasskeyRequest {
  rpId: string
  challenge: string
  timeout: number
  userVerification: 'required'
  allowCredentials: {
    id: string
    type: 'public-key'
    transports: string[]
  }[]
}

export interface ProofPrompt {
  token: string
  proofs: ('passkey' | 'totp' | 'recovery-code' | 'password' | 'single-sign-on')[]
  passkey: PasskeyRequest | null
}

export interface SignInStep {
  prompt: ProofPrompt | null
}

export interface Invited {
  email: string
  organisation: string
  organisationId: string
  hasPassword: boolean
  passwordAllowed: boolean
}

export interface Member {
  id: string
  email: string
  role: 'viewer' | 'desk' | 'admin'
  createdAt: string
  joinedAt: string | null
  isConnected: boolean
}

export interface SignedIn {
  member: Member
  language: 'en' | 'de' | null
  missingFactor: 'second-factor' | 'passkey' | null
  organisation: {
    id: string
    name: string
    plan: 'free' | 'starter' | 'pro' | 'business'
    retentionDays: number
  }
}

export interface SignInWays {
  singleSignOn: string | null
}

export interface RoundTrip {
  address: string
}

export interface SingleSignOn {
  prompt: ProofPrompt | null
  organisations: {
    id: string
    name: string
  }[]
}

export interface SignIn {
  id: string
  method: 'password' | 'passkey' | 'single-sign-on' | 'invitation'
  startedAt: string
  lastSeenAt: string
  device: string | null
  address: string | null
  isCurrent: boolean
}

export interface SignInList {
  signIns: SignIn[]
}

export interface Passkey {
  id: string
  name: string
  createdAt: string
  lastUsedAt: string | null
  isBackedUp: boolean
}

export interface SecondFactors {
  passkeys: Passkey[]
  totp: {
    setAt: string
  } | null
  recoveryCodes: number
  rule: 'optional' | 'required' | 'passkey'
}

export interface PasskeyCreation {
  rp: {
    id: string
    name: string
  }
  user: {
    id: string
    name: string
    displayName: string
  }
  challenge: string
  timeout: number
  attestation: 'none'
  pubKeyCredParams: {
    alg: number
    type: 'public-key'
  }[]
  excludeCredentials: {
    id: string
    type: 'public-key'
    transports: string[]
  }[]
  authenticatorSelection: {
    residentKey: 'required'
    userVerification: 'required'
  }
}

export interface AddedFactor {
  recoveryCodes: string[] | null
}

export interface TotpOffer {
  token: string
  secret: string
  uri: string
}

export interface RecoveryCodes {
  recoveryCodes: string[]
}

export interface SignInRules {
  secondFactor: 'optional' | 'required' | 'passkey'
  passwordAllowed: boolean
  domains: string[]
  domainRole: 'viewer' | 'desk' | 'admin'
  provider: string | null
}

export interface Key {
  id: string
  name: string
  scopes: string[]
  lastFour: string
  state: 'active' | 'expired' | 'revoked'
  createdAt: string
  rotatedAt: string | null
  expiresAt: string | null
  revokedAt: string | null
  lastUsedAt: string | null
}

export interface KeyList {
  keys: Key[]
}

export interface KeyDay {
  day: string
  requests: number
  refusals: number
}

export interface KeyDetail {
  key: Key
  scopes: {
    scope: string
    allows: string
  }[]
  today: string
  days: KeyDay[]
}

export interface RevokedKey {
  key: Key
}

export interface Area {
  area: string
  scopes: {
    scope: string
    allows: string
  }[]
}

export interface AreaList {
  areas: Area[]
}

export interface IssuedKey {
  key: Key
  keyString: string
}

export interface Tracker {
  id: string
  name: string
  createdAt: string
  subjects: number
  hasMoreSubjects: boolean
}

export interface TrackerList {
  trackers: Tracker[]
}

export interface TrackerName {
  id: string
  name: string
}

export interface Day {
  day: string
  sessions: number
  events: number
}

export interface Totals {
  today: string
  days: Day[]
}

export interface EventNames {
  names: {
    name: string
    count: number
  }[]
  isComplete: boolean
}

export interface VariableSet {
  version: number
  variables: Record<string, unknown>
}

export interface VariableVersion {
  version: number
  changedAt: string
  actor: {
    kind: 'member' | 'key'
    id: string
    name: string
  } | {
    kind: 'command-line'
  }
  added: number
  changed: number
  removed: number
}

export interface VariableVersionList {
  versions: VariableVersion[]
}

export interface SavedVariables {
  version: number
}

export interface VariableToken {
  id: string
  name: string
  lastFour: string
  state: 'active' | 'revoked'
  createdAt: string
  rotatedAt: string | null
  revokedAt: string | null
  lastUsedAt: string | null
}

export interface VariableTokenList {
  tokens: VariableToken[]
}

export interface IssuedToken {
  token: VariableToken
  tokenString: string
  variablesPort: number | null
}

export interface RevokedToken {
  token: VariableToken
}

export interface Counts {
  /** The number of sessions. */
  sessions: number
  /** The number of events. */
  events: number
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

export interface FoundGroup {
  tracker: {
    id: string
    name: string
  }
  subjects: FoundSubject[]
  hasMore: boolean
}

/** A name and a value that identify a data subject outside of its tracker. */
export interface Identifier {
  /** The kind of identifier, such as `email`. */
  name: string
  value: string
}

export interface FoundPerson {
  identifier: Identifier | null
  subjects: FoundSubject[]
  hidden: {
    trackerId: string
    subjectId: string
  }[]
  address: string | null
}

export interface FoundGroups {
  groups: FoundGroup[]
  people: FoundPerson[]
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

export interface ConsoleSubject {
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
  personAddress: string
}

export interface SubjectDays {
  days: Day[]
  hasMore: boolean
}

export interface SubjectRef {
  trackerId: string
  subjectId: string
}

export interface PersonRecord {
  trackerId: string
  subjectId: string
  firstSeenAt: string
  lastSeenAt: string
  counts: {
    sessions: number
    events: number
  }
  identifiers: Identifier[]
  hasMoreIdentifiers: boolean
}

export interface RelatedRecords {
  identifier: Identifier | null
  subjects: FoundSubject[]
  hidden: SubjectRef[]
  hasMore: boolean
}

export interface PersonRequest {
  requestId: string
  kind: 'access' | 'erasure'
  state: 'open' | 'running' | 'done' | 'rejected' | 'cancelled'
  reference: string | null
  receivedAt: string
  dueAt: string
  closedAt: string | null
}

export interface PersonRecords {
  address: string
  person: {
    identifiers: Identifier[]
    subjects: SubjectRef[]
  }
  records: PersonRecord[]
  hidden: SubjectRef[]
  hasMore: boolean
  others: RelatedRecords[]
  requests: PersonRequest[]
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

export interface Event {
  eventId: string
  sessionId: string
  name: string
  /** When the event occurred. */
  occurredAt: string
  /** The data collected with the event. */
  properties: Record<string, unknown>
}

export interface TimelineEntry {
  record: number
  session: Session | null
  event: Event | null
}

export interface TimelinePage {
  entries: TimelineEntry[]
  /** The `cursor` of the next page; `null` on the last page. */
  nextCursor: string | null
}

export interface Request {
  requestId: string
  kind: 'access' | 'erasure'
  state: 'open' | 'running' | 'done' | 'rejected' | 'cancelled'
  reference: string | null
  receivedAt: string
  dueAt: string
  extendedAt: string | null
  closedAt: string | null
  reason: string | null
  person: {
    identifiers: Identifier[]
    subjects: SubjectRef[]
  } | null
  namesIdentifiers: boolean
  found: {
    subjects: number
    sessions: number
    events: number
  }
  erased: {
    subjects: number
    sessions: number
    events: number
  }
  left: number | null
  resumesAt: string | null
  assignee: {
    id: string
    email: string
  } | null
  createdAt: string
  createdBy: {
    kind: 'member' | 'key'
    id: string
    name: string
  } | {
    kind: 'command-line'
  }
  startedBy: {
    kind: 'member' | 'key'
    id: string
    name: string
  } | {
    kind: 'command-line'
  } | null
  approval: {
    askedAt: string
    askedBy: {
      kind: 'member' | 'key'
      id: string
      name: string
    } | {
      kind: 'command-line'
    }
  } | null
}

export interface RequestRow {
  request: Request
  size: number
}

export interface RequestList {
  rows: RequestRow[]
  nextCursor: string | null
}

export interface RequestCounts {
  open: number
  dueSoon: number
  overdue: number
  mine: number
}

export interface RequestNote {
  id: string
  at: string
  by: {
    kind: 'member' | 'key'
    id: string
    name: string
  } | {
    kind: 'command-line'
  }
  text: string
}

export interface RequestExclusion {
  trackerId: string
  reason: string
  at: string
  by: {
    kind: 'member' | 'key'
    id: string
    name: string
  } | {
    kind: 'command-line'
  }
}

export interface EarlierRequest {
  requestId: string
  kind: 'access' | 'erasure'
  state: 'open' | 'running' | 'done' | 'rejected' | 'cancelled'
  reference: string | null
  receivedAt: string
  closedAt: string | null
}

export interface StoryEntry {
  id: string
  at: string
  by: {
    kind: 'member' | 'key'
    id: string
    name: string
  } | {
    kind: 'command-line'
  }
  kind: 'key.created' | 'key.rotated' | 'key.revoked' | 'key.renamed' | 'organisation.renamed' | 'organisation.profile-changed' | 'organisation.approval-changed' | 'reply-text.changed' | 'reply-text.restored' | 'tracker.renamed' | 'variables.changed' | 'variable-token.created' | 'variable-token.rotated' | 'variable-token.revoked' | 'subject.erased' | 'subject.exported' | 'batch.started' | 'batch.paused' | 'batch.resumed' | 'batch.stopped' | 'batch.finished' | 'request.created' | 'request.extended' | 'request.rejected' | 'request.cancelled' | 'request.closed' | 'request.approval-asked' | 'request.approved' | 'request.declined' | 'request.started' | 'request.finished' | 'request.exported' | 'request.assigned' | 'request.note-added' | 'request.note-deleted' | 'request.record-excluded' | 'request.record-included' | 'request-group.exported' | 'request-report.exported' | 'activity.exported' | 'tracker.created' | 'tracker.deleted' | 'organisation.plan-changed' | 'organisation.deleted' | 'member.invited' | 'member.joined' | 'member.connected' | 'member.disconnected' | 'member.link-created' | 'member.role-changed' | 'member.removed' | 'member.signed-in' | 'member.sign-in-failed' | 'member.signed-out' | 'member.signed-out-everywhere' | 'member.signed-out-elsewhere' | 'member.language-changed' | 'member.verified' | 'member.verification-failed' | 'member.password-changed' | 'member.passkey-added' | 'member.passkey-renamed' | 'member.passkey-removed' | 'member.passkey-refused' | 'member.totp-set' | 'member.totp-removed' | 'member.recovery-codes-created' | 'member.factors-removed' | 'sign-in-rules.changed'
  requestId: string | null
}

export interface RequestPage {
  request: Request
  isProven: boolean
  notes: RequestNote[]
  exclusions: RequestExclusion[]
  earlier: EarlierRequest[]
  story: StoryEntry[]
  hasMoreStory: boolean
}

export interface ApprovalRule {
  above: number | null
}

export interface RequestGroup {
  reference: string
  counts: {
    open: number
    running: number
    done: number
    rejected: number
    cancelled: number
  }
  startable: number
  waiting: number
  access: number
  ownWaiting: number
  found: {
    subjects: number
    sessions: number
    events: number
  }
  erased: {
    subjects: number
    sessions: number
    events: number
  }
  firstReceivedAt: string
  closedAt: string | null
  resumesAt: string | null
}

export interface RequestRecord {
  trackerId: string
  subjectId: string
  firstSeenAt: string | null
  lastSeenAt: string | null
  counts: Counts | null
  isHidden: boolean
  exclusion: {
    reason: string
    at: string
    by: {
      kind: 'member' | 'key'
      id: string
      name: string
    } | {
      kind: 'command-line'
    }
  } | null
}

export interface RequestRecordList {
  records: RequestRecord[]
  next: SubjectRef | null
}

export interface LedgerErasure {
  kind: 'erasure'
  index: number
  trackerId: string
  erasedAt: string
  alreadyErased: boolean
  counts: Counts
  by: {
    actor: {
      kind: 'member' | 'key'
      id: string
      name: string
    } | {
      kind: 'command-line'
    }
    requestId: string | null
  } | null
  request: {
    id: string
    reference: string | null
  } | null
}

export interface NothingHeld {
  kind: 'nothing-held'
  index: number
  checkedAt: string
  request: {
    id: string
    reference: string | null
  } | null
}

export interface Certificate {
  entry: LedgerErasure | NothingHeld
  record: string
  proof: string[]
  checkpoint: string
  verifierKeys: string[]
  trackerName: string | null
  identifier: string | null
  scrub: {
    lastAt: string
    reachesEveryByte: boolean
  }
  receipt: string | null
}

export interface RequestCertificate {
  request: Request
  certificates: Certificate[]
  waiting: number
  gone: number
  stopped: number
  excluded: number
  nextPlace: number | null
}

export interface RequestReply {
  language: 'en' | 'de'
  suggested: 'access.received' | 'access.more-information' | 'access.extended' | 'access.copy-ready' | 'access.nothing-held' | 'access.rejected' | 'erasure.received' | 'erasure.more-information' | 'erasure.extended' | 'erasure.erased' | 'erasure.already-deleted' | 'erasure.nothing-held' | 'erasure.rejected' | null
  replies: {
    name: 'access.received' | 'access.more-information' | 'access.extended' | 'access.copy-ready' | 'access.nothing-held' | 'access.rejected' | 'erasure.received' | 'erasure.more-information' | 'erasure.extended' | 'erasure.erased' | 'erasure.already-deleted' | 'erasure.nothing-held' | 'erasure.rejected'
    text: string
  }[]
}

export interface ErasureListPlan {
  read: number
  used: number
  empty: number
  invalid: number
  repeated: number
  other: number
  nothing: number
  requested: number
  lines: number
  matched: number
  found: {
    subjects: number
    sessions: number
    events: number
  }
  hidden: number
  trackers: {
    trackerId: string
    subjects: number
  }[]
  unused: {
    line: number
    outcome: 'nothing' | 'invalid' | 'repeated' | 'requested'
  }[]
}

export interface Activity {
  id: string
  at: string
  actor: {
    kind: 'member' | 'key'
    id: string
    name: string
  } | {
    kind: 'command-line'
  }
  kind: 'key.created' | 'key.rotated' | 'key.revoked' | 'key.renamed' | 'organisation.renamed' | 'organisation.profile-changed' | 'organisation.approval-changed' | 'reply-text.changed' | 'reply-text.restored' | 'tracker.renamed' | 'variables.changed' | 'variable-token.created' | 'variable-token.rotated' | 'variable-token.revoked' | 'subject.erased' | 'subject.exported' | 'batch.started' | 'batch.paused' | 'batch.resumed' | 'batch.stopped' | 'batch.finished' | 'request.created' | 'request.extended' | 'request.rejected' | 'request.cancelled' | 'request.closed' | 'request.approval-asked' | 'request.approved' | 'request.declined' | 'request.started' | 'request.finished' | 'request.exported' | 'request.assigned' | 'request.note-added' | 'request.note-deleted' | 'request.record-excluded' | 'request.record-included' | 'request-group.exported' | 'request-report.exported' | 'activity.exported' | 'tracker.created' | 'tracker.deleted' | 'organisation.plan-changed' | 'organisation.deleted' | 'member.invited' | 'member.joined' | 'member.connected' | 'member.disconnected' | 'member.link-created' | 'member.role-changed' | 'member.removed' | 'member.signed-in' | 'member.sign-in-failed' | 'member.signed-out' | 'member.signed-out-everywhere' | 'member.signed-out-elsewhere' | 'member.language-changed' | 'member.verified' | 'member.verification-failed' | 'member.password-changed' | 'member.passkey-added' | 'member.passkey-renamed' | 'member.passkey-removed' | 'member.passkey-refused' | 'member.totp-set' | 'member.totp-removed' | 'member.recovery-codes-created' | 'member.factors-removed' | 'sign-in-rules.changed'
  target: string | null
  requestId: string | null
  counts: Counts | null
  ledgerIndex: number | null
  request: {
    id: string
    reference: string | null
  } | null
}

export interface ActivityList {
  entries: Activity[]
  nextCursor: string | null
}

export interface ActivityGroup {
  newest: Activity
  oldestAt: string
  count: number
  kinds: {
    kind: 'key.created' | 'key.rotated' | 'key.revoked' | 'key.renamed' | 'organisation.renamed' | 'organisation.profile-changed' | 'organisation.approval-changed' | 'reply-text.changed' | 'reply-text.restored' | 'tracker.renamed' | 'variables.changed' | 'variable-token.created' | 'variable-token.rotated' | 'variable-token.revoked' | 'subject.erased' | 'subject.exported' | 'batch.started' | 'batch.paused' | 'batch.resumed' | 'batch.stopped' | 'batch.finished' | 'request.created' | 'request.extended' | 'request.rejected' | 'request.cancelled' | 'request.closed' | 'request.approval-asked' | 'request.approved' | 'request.declined' | 'request.started' | 'request.finished' | 'request.exported' | 'request.assigned' | 'request.note-added' | 'request.note-deleted' | 'request.record-excluded' | 'request.record-included' | 'request-group.exported' | 'request-report.exported' | 'activity.exported' | 'tracker.created' | 'tracker.deleted' | 'organisation.plan-changed' | 'organisation.deleted' | 'member.invited' | 'member.joined' | 'member.connected' | 'member.disconnected' | 'member.link-created' | 'member.role-changed' | 'member.removed' | 'member.signed-in' | 'member.sign-in-failed' | 'member.signed-out' | 'member.signed-out-everywhere' | 'member.signed-out-elsewhere' | 'member.language-changed' | 'member.verified' | 'member.verification-failed' | 'member.password-changed' | 'member.passkey-added' | 'member.passkey-renamed' | 'member.passkey-removed' | 'member.passkey-refused' | 'member.totp-set' | 'member.totp-removed' | 'member.recovery-codes-created' | 'member.factors-removed' | 'sign-in-rules.changed'
    count: number
  }[]
  counts: Counts | null
  ledgerIndex: number | null
}

export interface ActivityGroupList {
  groups: ActivityGroup[]
  nextCursor: string | null
}

export interface Ledger {
  origin: string
  size: number
  rootHash: string
  checkpoint: string
  verifierKeys: string[]
  lastEntryAt: string | null
}

export interface LedgerVerification {
  size: number
  rootHash: string
  problem: string | null
}

export interface ProvenEntry {
  index: number
  record: string
  leafHash: string
  proof: string[]
  checkpoint: string
}

export interface ErasureList {
  erasures: (LedgerErasure | NothingHeld)[]
  size: number
  nextCursor: string | null
}

export interface ErasureGroup {
  newest: LedgerErasure | NothingHeld
  by: {
    actor: {
      kind: 'member' | 'key'
      id: string
      name: string
    } | {
      kind: 'command-line'
    }
    requestId: string | null
  } | null
  count: number
  erased: number
  counts: Counts
  trackerIds: string[]
  cursor: string | null
}

export interface ErasureGroupList {
  groups: ErasureGroup[]
  size: number
  nextCursor: string | null
}

export interface ReceiptAgain {
  receipt: string | null
}

export interface MemberList {
  members: Member[]
}

export interface Invitation {
  member: Member
  token: string
  expiresAt: string
}

export interface BudgetSetting {
  name: string
  limit: number
  windowSeconds: number
}

export interface Settings {
  organisation: {
    id: string
    name: string
    plan: 'free' | 'starter' | 'pro' | 'business'
    createdAt: string
  }
  windows: {
    plan: 'free' | 'starter' | 'pro' | 'business'
    days: number
  }[]
  activityDays: number
  budgets: BudgetSetting[]
  batchesPerMinute: number
  variablesPort: number | null
  engine: string
  version: string
  scrub: {
    lastAt: string
    isDue: boolean
    reachesEveryByte: boolean
  }
}

export interface HiddenByPlan {
  subjects: number
  hasMoreSubjects: boolean
  atMost: Counts
}

export interface OrganisationName {
  id: string
  name: string
}

export interface OrganisationProfile {
  organisation: string
  displayName: string | null
  contact: string | null
  language: 'en' | 'de'
  logo: {
    width: number
    height: number
    digest: string
  } | null
}

export interface SavedLogo {
  organisation: string
  displayName: string | null
  contact: string | null
  language: 'en' | 'de'
  logo: {
    width: number
    height: number
    digest: string
  } | null
  removed: string[]
}

export interface ReplyText {
  name: 'access.received' | 'access.more-information' | 'access.extended' | 'access.copy-ready' | 'access.nothing-held' | 'access.rejected' | 'erasure.received' | 'erasure.more-information' | 'erasure.extended' | 'erasure.erased' | 'erasure.already-deleted' | 'erasure.nothing-held' | 'erasure.rejected'
  language: 'en' | 'de'
  text: string
  default: string
  changedAt: string | null
  placeholders: string[]
}

export interface ReplyTextList {
  language: 'en' | 'de'
  texts: ReplyText[]
  samples: {
    name: string
    en: string
    de: string
  }[]
}

export interface MonthOfRequests {
  month: string
  kind: 'access' | 'erasure'
  received: number
  done: number
  rejected: number
  open: number
  overdue: number
  inTime: number
  late: number
  medianMs: number | null
  worstMs: number | null
}

export interface TotalOfRequests {
  kind: 'access' | 'erasure' | null
  received: number
  done: number
  rejected: number
  open: number
  overdue: number
  inTime: number
  late: number
  medianMs: number | null
  worstMs: number | null
}

export interface RequestReport {
  from: string
  to: string
  at: string
  months: MonthOfRequests[]
  totals: TotalOfRequests[]
  keptDays: number
}
