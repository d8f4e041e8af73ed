import type { Instant } from './instant.ts'
import type { Page } from './page.ts'

/** The kinds of entries in an organisation's activity log. */
export const activityKinds = [
  'key.created',
  'key.rotated',
  'key.revoked',
  'key.renamed',
  'organisation.renamed',
  'organisation.profile-changed',
  'organisation.approval-changed',
  'reply-text.changed',
  'reply-text.restored',
  'tracker.renamed',
  'variables.changed',
  'variable-token.created',
  'variable-token.rotated',
  'variable-token.revoked',
  'subject.erased',
  'subject.exported',
  'batch.started',
  'batch.paused',
  'batch.resumed',
  'batch.stopped',
  'batch.finished',
  'request.created',
  'request.extended',
  'request.rejected',
  'request.cancelled',
  'request.closed',
  'request.approval-asked',
  'request.approved',
  'request.declined',
  'request.started',
  'request.finished',
  'request.exported',
  'request.assigned',
  'request.note-added',
  'request.note-deleted',
  'request.record-excluded',
  'request.record-included',
  'request-group.exported',
  'request-report.exported',
  'activity.exported',
  'tracker.created',
  'tracker.deleted',
  'organisation.plan-changed',
  'organisation.deleted',
  'member.invited',
  'member.joined',
  'member.connected',
  'member.disconnected',
  'member.link-created',
  'member.role-changed',
  'member.removed',
  'member.signed-in',
  'member.sign-in-failed',
  'member.signed-out',
  'member.signed-out-everywhere',
  'member.signed-out-elsewhere',
  'member.language-changed',
  'member.verified',
  'member.verification-failed',
  'member.password-changed',
  'member.passkey-added',
  'member.passkey-renamed',
  'member.passkey-removed',
  'member.passkey-refused',
  'member.totp-set',
  'member.totp-removed',
  'member.recovery-codes-created',
  'member.factors-removed',
  'sign-in-rules.changed',
] as const

export type ActivityKind = (typeof activityKinds)[number]

/** Who did something: a member or an API key, with its name at that time, or the command line. */
export type Actor = { kind: 'member' | 'key'; id: string; name: string } | { kind: 'command-line' }

/** Who caused a change, by which request, and which organisations they can see. */
export interface Origin {
  actor: Actor
  requestId: string | null
  /** The only organisation visible to the actor; `null` for operators, who see all. */
  organisationId: string | null
}

export const commandLine: Origin = { actor: { kind: 'command-line' }, requestId: null, organisationId: null }

/** How many sessions and events a subject has, or had. */
export interface SubjectCounts {
  sessions: number
  events: number
}

/** How much data something found or deleted. */
export interface DataCounts extends SubjectCounts {
  subjects: number
}

/** Adds counts to a total. */
export function addCounts(total: DataCounts, { subjects, sessions, events }: DataCounts): void {
  total.subjects += subjects
  total.sessions += sessions
  total.events += events
}

/** An entry of the activity log. It never contains a subject's ID, because it outlives the erasure. */
export interface ActivityEntry {
  id: string
  organisationId: string
  at: Instant
  actor: Actor
  kind: ActivityKind
  /**
   * What was changed: a name (both of a rename), a member's address and both roles, the ID of a tracker,
   * batch or request, the new plan, a profile's changed fields, a reply text and its language, the ID and
   * name of something deleted, a reference, months, an export's format; `null` if the actor changed itself.
   */
  target: string | null
  requestId: string | null
  /** What an erasure deleted. */
  counts: SubjectCounts | null
  /** The index, from 0, of an erasure's entry in the organisation's ledger. */
  ledgerIndex: number | null
}

/** What an erasure adds to its entry. */
export interface ErasureFacts {
  counts: SubjectCounts
  ledgerIndex: number
}

/** An entry that a change passes to its port, which stores it in the change's transaction. */
export type ActivityNote = Omit<ActivityEntry, keyof ErasureFacts>

export interface ActivityPosition {
  at: Instant
  id: string
}

export interface ActivityQuery {
  limit: number
  after: ActivityPosition | null
  /** Inclusive. */
  since?: Instant
  /** Only entries of this request. */
  requestId: string | null
  kind?: ActivityKind | null
  /** The ID of a member or a key, or `commandLineActor`. */
  actor?: string | null
}

/** Identifies the command line, which has no ID. */
export const commandLineActor = 'command-line'

export interface ActivityStore {
  /** Stores an entry for an action without other changes. Does nothing if the organisation was deleted. */
  add(note: ActivityNote): Promise<void>
  /** Newest first; entries with the same time are in descending order of ID. */
  list(organisationId: string, query: ActivityQuery): Promise<Page<ActivityEntry, ActivityPosition>>
  /** When the oldest entry that is kept was made; `null` if there is none. */
  oldest(organisationId: string): Promise<Instant | null>
  /** The newest entries about a privacy request, newest first. */
  ofPrivacyRequest(ref: { organisationId: string; id: string }, limit: number): Promise<ActivityEntry[]>
}

export function isActivityKind(text: string): text is ActivityKind {
  return activityKinds.some((kind) => kind === text)
}
