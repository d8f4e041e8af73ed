import type { Instant } from './instant.ts'
import type { Page } from './page.ts'

/** What can be read in an organisation's activity. */
export const activityKinds = [
  'key.created',
  'key.rotated',
  'key.revoked',
  'key.renamed',
  'organisation.renamed',
  'tracker.renamed',
  'subject.erased',
  'subject.exported',
  'batch.started',
  'batch.paused',
  'batch.resumed',
  'batch.stopped',
  'batch.finished',
  'tracker.created',
  'tracker.deleted',
  'organisation.plan-changed',
  'organisation.deleted',
  'member.invited',
  'member.joined',
  'member.removed',
  'member.signed-in',
  'member.sign-in-failed',
  'member.signed-out',
  'member.signed-out-everywhere',
] as const

export type ActivityKind = (typeof activityKinds)[number]

/** Who did something: a member or an API key, by its id and its name of that time, or whoever has the command line. */
export type Actor = { kind: 'member' | 'key'; id: string; name: string } | { kind: 'command-line' }

/** Where a change comes from: who asks for it, by which request, and how far they reach. */
export interface Origin {
  actor: Actor
  requestId: string | null
  /** The only organisation that is there for them; `null` for operators, who see every one. */
  organisationId: string | null
}

export const commandLine: Origin = { actor: { kind: 'command-line' }, requestId: null, organisationId: null }

/** A line of an organisation's activity. It never holds a subject's id: an erased subject must not live on in it. */
export interface ActivityEntry {
  id: string
  organisationId: string
  at: Instant
  actor: Actor
  kind: ActivityKind
  /**
   * What it was done to: the name of a key, the id of a tracker, the address of a member, the plan moved to, of what was renamed
   * both names, of what was deleted its id and name, the id of a batch; `null` for the actor itself.
   */
  target: string | null
  requestId: string | null
  /** What an erasure deleted. */
  counts: SubjectCounts | null
  /** The entry that an erasure left in the organisation's ledger, from 0. */
  ledgerIndex: number | null
}

/** What an erasure adds to its entry. */
export interface ErasureFacts {
  counts: SubjectCounts
  ledgerIndex: number
}

/** An entry as a change hands it to its port, which stores it in the transaction of the change. */
export type ActivityNote = Omit<ActivityEntry, keyof ErasureFacts>

export interface ActivityPosition {
  at: Instant
  id: string
}

export interface ActivityQuery {
  limit: number
  after: ActivityPosition | null
  /** Only what happened then or later. */
  since?: Instant
  /** Only what this request did. */
  requestId: string | null
  /** Only what is of this kind. */
  kind?: ActivityKind | null
  /** Only what this member or key did, by its id, or the command line. */
  actor?: string | null
}

/** What stands for whoever has the command line, where others have an id. */
export const commandLineActor = 'command-line'

export interface ActivityStore {
  /** Stores an entry of what changes nothing in the store. Does nothing when the organisation was deleted. */
  add(note: ActivityNote): Promise<void>
  /** An organisation's activity, newest first, and by id among equals, last first. Empty for an organisation without any. */
  list(organisationId: string, query: ActivityQuery): Promise<Page<ActivityEntry, ActivityPosition>>
}

export function isActivityKind(text: string): text is ActivityKind {
  return activityKinds.some((kind) => kind === text)
}

/** How much is stored of a subject, or was. */
export interface SubjectCounts {
  sessions: number
  events: number
}
