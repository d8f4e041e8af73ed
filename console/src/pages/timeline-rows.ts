import type { Event, Session } from '../types.ts'

/** A line of a subject's story: a session that begins, or is taken up again, or one of its events. */
export type TimelineRow =
  | { kind: 'session'; sessionId: string; session: Session | null; isContinued: boolean }
  | { kind: 'event'; event: Event }

/**
 * Events, newest first, under the sessions they belong to. Sessions without any stand where they began; those that began before the last
 * event come once it is known that no event follows.
 */
export function timelineRows(
  events: readonly Event[],
  sessions: readonly Session[],
  hasMoreEvents: boolean,
): TimelineRow[] {
  const known = new Map(sessions.map((session) => [session.sessionId, session]))
  const silent = sessions.filter(({ counts }) => counts.events === 0)
  const rows: TimelineRow[] = []
  const opened = new Set<string>()
  let current: string | null = null
  let nextSilent = 0
  const addSilent = (since: string) => {
    for (; (silent[nextSilent]?.startedAt ?? '') > since; nextSilent++) {
      const session = silent[nextSilent]
      if (session) rows.push({ kind: 'session', sessionId: session.sessionId, session, isContinued: false })
      current = null
    }
  }
  for (const event of events) {
    addSilent(event.occurredAt)
    const { sessionId } = event
    if (sessionId !== current) {
      const isContinued = opened.has(sessionId)
      rows.push({ kind: 'session', sessionId, session: known.get(sessionId) ?? null, isContinued })
      opened.add(sessionId)
      current = sessionId
    }
    rows.push({ kind: 'event', event })
  }
  if (!hasMoreEvents) addSilent('')
  return rows
}
