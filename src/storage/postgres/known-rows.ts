import type { SessionState, SubjectBatch } from '../ingest-batch.ts'
import { integer, integerOrNull, text } from '../nouns/row.ts'
import { statement } from '../nouns/statement.ts'
import { keyText } from './key-text.ts'
import type { Run } from './transact.ts'

/** What is stored already of what a batch brings. */
export class KnownRows {
  readonly #events = new Set<string>()
  readonly #sessions = new Map<string, SessionState>()

  addEvent(key: string, occurredAt: number, eventId: string): void {
    this.#events.add(`${key} ${occurredAt} ${eventId}`)
  }

  hasEvent(key: string, occurredAt: number, eventId: string): boolean {
    return this.#events.has(`${key} ${occurredAt} ${eventId}`)
  }

  addSession(key: string, sessionId: string, state: SessionState): void {
    this.#sessions.set(`${key} ${sessionId}`, state)
  }

  session(key: string, sessionId: string): SessionState | null {
    return this.#sessions.get(`${key} ${sessionId}`) ?? null
  }
}

export const findEvents = statement(
  `SELECT e.subject_key, e.occurred_at, e.event_id
   FROM unnest($1::uuid[], $2::bigint[], $3::text[]) AS given (subject_key, occurred_at, event_id)
   JOIN events e USING (subject_key, occurred_at, event_id)`,
  'any',
)
const findSessions = statement(
  `SELECT s.subject_key, s.session_id, started_at, ended_at, event_count, attributes, attributes_at
   FROM unnest($1::uuid[], $2::text[]) AS given (subject_key, session_id)
   JOIN sessions s USING (subject_key, session_id)`,
  'any',
)

/** Looks up the events and sessions that these parts of a batch name. */
export async function findKnownRows(run: Run, subjects: readonly SubjectBatch[]): Promise<KnownRows> {
  const known = new KnownRows()
  if (subjects.length === 0) return known
  const keyed = subjects.map((subject) => ({ ...subject, key: keyText(subject.key) }))
  const events = keyed.flatMap(({ key, events }) => events.map((event) => ({ key, ...event })))
  if (events.length > 0) {
    const { rows } = await run(findEvents, [
      events.map(({ key }) => key),
      events.map(({ occurredAt }) => occurredAt),
      events.map(({ eventId }) => eventId),
    ])
    for (const row of rows) {
      known.addEvent(text(row, 'subject_key'), integer(row, 'occurred_at'), text(row, 'event_id'))
    }
  }
  const named = keyed.flatMap(({ key, events, sessions }) =>
    Array.from(new Set([...events, ...sessions].map(({ sessionId }) => sessionId)), (id) => ({ key, id })),
  )
  const { rows } = await run(findSessions, [named.map(({ key }) => key), named.map(({ id }) => id)])
  for (const row of rows) {
    known.addSession(text(row, 'subject_key'), text(row, 'session_id'), {
      startedAt: integer(row, 'started_at'),
      endedAt: integer(row, 'ended_at'),
      eventCount: integer(row, 'event_count'),
      attributes: text(row, 'attributes'),
      attributesAt: integerOrNull(row, 'attributes_at'),
    })
  }
  return known
}
