import type { Event, Session, TimelinePage } from '../types.ts'

/** A row of the timeline: a day, the start or continuation of a session, or an event. */
export type TimelineRow =
  | { kind: 'day'; at: string }
  | { kind: 'session'; at: string; record: number; sessionId: string; isContinued: boolean }
  | { kind: 'event'; event: Event }

/**
 * The rows of the timeline: days, and under them events, newest first, under their sessions. A session
 * without events is at its start. Rows are only added, so that each page costs the same.
 */
export class TimelineRows {
  readonly rows: TimelineRow[] = []
  readonly #sessions = new Map<string, Session>()
  readonly #opened = new Set<string>()
  #day = ''
  #current = ''
  #seenPages = 0

  /** `null` until the page with the session's start is loaded. */
  session(record: number, sessionId: string): Session | null {
    return this.#sessions.get(keyOf(record, sessionId)) ?? null
  }

  /** Adds the rows of new pages. */
  grow(pages: readonly TimelinePage[]): void {
    for (; this.#seenPages < pages.length; this.#seenPages++) {
      for (const { record, session, event } of pages[this.#seenPages]?.entries ?? []) {
        if (session) this.#addSession(record, session)
        if (event) this.#addEvent(record, event)
      }
    }
  }

  #addEvent(record: number, event: Event): void {
    this.#addDay(event.occurredAt)
    this.#open(record, event.sessionId, event.occurredAt)
    this.rows.push({ kind: 'event', event })
  }

  #addSession(record: number, session: Session): void {
    this.#sessions.set(keyOf(record, session.sessionId), session)
    if (session.counts.events > 0) return
    this.#addDay(session.startedAt)
    this.#open(record, session.sessionId, session.startedAt)
  }

  #open(record: number, sessionId: string, at: string): void {
    const key = keyOf(record, sessionId)
    if (key === this.#current) return
    this.rows.push({ kind: 'session', at, record, sessionId, isContinued: this.#opened.has(key) })
    this.#opened.add(key)
    this.#current = key
  }

  #addDay(at: string): void {
    const day = dayOf(at)
    if (day === this.#day) return
    this.rows.push({ kind: 'day', at })
    this.#day = day
    this.#current = ''
  }
}

/** In the reader's time zone. */
export function dayOf(at: string): string {
  return new Date(at).toDateString()
}

function keyOf(record: number, sessionId: string): string {
  return `${record} ${sessionId}`
}
