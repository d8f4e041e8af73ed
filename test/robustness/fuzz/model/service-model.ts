import type { Scope } from '../../../../src/domain/api-key.ts'
import type { IncomingRow } from '../../../../src/domain/ingest.ts'
import type { Plan } from '../../../../src/domain/retention.ts'
import type { Event, Session } from '../../../../src/domain/session.ts'
import type { SubjectSort, SubjectSummary } from '../../../../src/domain/subject.ts'
import { byCodePoints, type WholeSubject } from '../../../storage/contract/fixture.ts'
import { TrackerModel } from '../../../storage/contract/tracker-model.ts'

const dayMs = 86_400_000
const days: Record<Plan, number> = { free: 180, starter: 425, pro: 730, business: 1_825 }

export interface ModelOrganisation {
  id: string
  plan: Plan
}

export interface ModelTracker {
  id: string
  owner: ModelOrganisation
  holds: TrackerModel
}

export interface ModelKey {
  id: string
  name: string
  owner: ModelOrganisation
  scopes: readonly Scope[]
  expiresAt: number | null
  isRevoked: boolean
  /** Its string, and its earlier ones. */
  strings: string[]
}

/** Why a request is refused before its operation. */
type Refusal = 'unauthorized' | 'forbidden' | 'not_found'

/** The whole service as a few lists: ownership, keys, the time. Written from the contract, not the code. */
export class ServiceModel {
  now: number
  readonly organisations: ModelOrganisation[] = []
  readonly trackers: ModelTracker[] = []
  readonly keys: ModelKey[] = []

  constructor(now: number) {
    this.now = now
  }

  addTracker(id: string, owner: ModelOrganisation): void {
    this.trackers.push({ id, owner, holds: new TrackerModel() })
  }

  isActive({ isRevoked, expiresAt }: ModelKey): boolean {
    return !isRevoked && (expiresAt === null || this.now < expiresAt)
  }

  /** Why this string is refused for this tracker; `null` if it is accepted. */
  refusal(key: ModelKey, string: string, scope: Scope, tracker: ModelTracker | null): Refusal | null {
    if (!this.isActive(key) || key.strings.at(-1) !== string) return 'unauthorized'
    if (!key.scopes.includes(scope)) return 'forbidden'
    return tracker && tracker.owner === key.owner ? null : 'not_found'
  }

  /** The start of an organisation's window. */
  since({ plan }: ModelOrganisation): number {
    return this.now - days[plan] * dayMs
  }

  subjects({ owner, holds }: ModelTracker): WholeSubject[] {
    return holds.view(this.since(owner))
  }

  subject(tracker: ModelTracker, subjectId: string): WholeSubject | null {
    return this.subjects(tracker).find(({ record }) => record.subjectId === subjectId) ?? null
  }

  /** Adds rows that are not too old, and returns the result of an import. */
  ingest({ owner, holds }: ModelTracker, rows: readonly IncomingRow[]) {
    const since = this.since(owner)
    const fresh = rows.filter((row) => (row.type === 'session' ? row.endedAt : row.occurredAt) >= since)
    const { ofErased = 0, ...added } = holds.ingest(fresh)
    return {
      lines: rows.length,
      badLines: 0,
      tooOld: rows.length - fresh.length,
      ofErased,
      rows: fresh.length - ofErased,
      ...added,
    }
  }

  sweep() {
    const swept = this.trackers.map(({ owner, holds }) => holds.sweep(this.since(owner)))
    const sum = (field: 'subjects' | 'sessions' | 'events') =>
      swept.reduce((total, each) => total + each[field], 0)
    return { subjects: sum('subjects'), sessions: sum('sessions'), events: sum('events') }
  }
}

/** The parameters of a list of subjects; the bounds are instants. */
export interface ListQuestion {
  sort: SubjectSort | null
  prefix: string | null
  after: number | null
  before: number | null
}

/** The expected rows of all pages of a list; `null` for an invalid combination of parameters. */
export function expectedList(all: readonly WholeSubject[], { sort, prefix, after, before }: ListQuestion) {
  const isBounded = after !== null || before !== null
  const order = sort ?? (isBounded ? 'lastSeenAt' : 'subjectId')
  if (order === 'subjectId' ? isBounded : prefix !== null) return null
  const rows = all
    .map(({ record }) => record)
    .filter(({ subjectId }) => prefix === null || subjectId.startsWith(prefix))
    .filter(
      ({ lastSeenAt }) => (after === null || lastSeenAt >= after) && (before === null || lastSeenAt < before),
    )
  const byId = (a: SubjectSummary, b: SubjectSummary) => byCodePoints(a.subjectId, b.subjectId)
  if (order === 'subjectId') rows.sort(byId)
  else rows.sort((a, b) => a.lastSeenAt - b.lastSeenAt || byId(a, b))
  if (order === '-lastSeenAt') rows.reverse()
  return rows.map(summary)
}

function summary({ subjectId, firstSeenAt, lastSeenAt, counts }: SubjectSummary) {
  return { subjectId, firstSeenAt: iso(firstSeenAt), lastSeenAt: iso(lastSeenAt), counts }
}

export function expectedRecord(trackerId: string, { record }: WholeSubject) {
  const { identifiers, attributes } = record
  return { trackerId, ...summary(record), identifiers, attributes }
}

export function expectedSession({ startedAt, endedAt, ...rest }: Session) {
  return { ...rest, startedAt: iso(startedAt), endedAt: iso(endedAt) }
}

export function expectedEvent({ occurredAt, ...rest }: Event) {
  return { ...rest, occurredAt: iso(occurredAt) }
}

export function iso(instant: number): string {
  return new Date(instant).toISOString()
}
