/** What the server's answers hold, as src/console/routes give it. */

export interface Session {
  member: Member
  organisation: { id: string; name: string; plan: string; retentionDays: number }
}

export interface Member {
  id: string
  email: string
  createdAt: string
  joinedAt: string | null
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

export interface IssuedKey {
  key: Key
  keyString: string
}

export interface Area {
  area: string
  scopes: { scope: string; allows: string }[]
}

export interface Tracker {
  id: string
  name: string
  createdAt: string
  subjects: number
  hasMoreSubjects: boolean
}

export interface Totals {
  today: string
  days: { day: string; sessions: number; events: number }[]
}

export interface Counts {
  sessions: number
  events: number
}

export interface Subject {
  subjectId: string
  firstSeenAt: string
  lastSeenAt: string
  counts: Counts
}

export interface SubjectRecord extends Subject {
  attributes: Record<string, unknown>
}

export interface Visit {
  sessionId: string
  startedAt: string
  endedAt: string
  counts: { events: number }
  attributes: Record<string, unknown>
}

export interface VisitEvent {
  eventId: string
  sessionId: string
  name: string
  occurredAt: string
  properties: Record<string, unknown>
}

export interface Erasure {
  alreadyErased: boolean
  counts: Counts
  erasedAt: string
}

export interface Activity {
  id: string
  at: string
  actor: { kind: 'member' | 'key'; id: string; name: string } | { kind: 'command-line' }
  kind: string
  target: string | null
  requestId: string | null
  counts: Counts | null
}
