import type { Event, Session } from '../types.ts'

/** A row of the timeline: the start or continuation of a session, or an event. */
export type TimelineRow =
  | { kind: 'session'; sessionId: string; isContinued: boolean }
  | { kind: 'event'; event: Event }

/** The loaded pages of a list, newest first. */
interface Loaded<Item> {
  items: readonly (readonly Item[])[]
  hasMore: boolean
}

/**
 * The rows of the timeline: events, newest first, under their sessions, and sessions without events at their
 * start. Rows are only added, so that each page costs the same however long the timeline is.
 */
export class TimelineRows {
  readonly rows: TimelineRow[] = []
  readonly sessions = new Map<string, Session>()
  readonly #silent: Session[] = []
  readonly #opened = new Set<string>()
  #current: string | null = null
  #seenSessions = 0
  #seenPages = 0
  #seenEvents = 0
  #seenSilent = 0

  /** Adds new rows. An event waits until all later sessions without events are known. */
  grow(events: Loaded<Event>, sessions: Loaded<Session>): void {
    for (; this.#seenSessions < sessions.items.length; this.#seenSessions++) {
      for (const session of sessions.items[this.#seenSessions] ?? []) {
        this.sessions.set(session.sessionId, session)
        if (session.counts.events === 0) this.#silent.push(session)
      }
    }
    const knownSince = sessions.hasMore ? (sessions.items.at(-1)?.at(-1)?.startedAt ?? null) : ''
    if (knownSince === null) return
    for (; this.#seenPages < events.items.length; this.#seenPages++, this.#seenEvents = 0) {
      const page = events.items[this.#seenPages] ?? []
      for (; this.#seenEvents < page.length; this.#seenEvents++) {
        const event = page[this.#seenEvents]
        if (!event || event.occurredAt < knownSince) return
        this.#addEvent(event)
      }
    }
    if (!events.hasMore && !sessions.hasMore) this.#addSilent('')
  }

  #addEvent(event: Event): void {
    this.#addSilent(event.occurredAt)
    if (event.sessionId !== this.#current) this.#addSession(event.sessionId)
    this.rows.push({ kind: 'event', event })
  }

  #addSilent(since: string): void {
    for (; (this.#silent[this.#seenSilent]?.startedAt ?? '') > since; this.#seenSilent++) {
      this.#addSession(this.#silent[this.#seenSilent]?.sessionId ?? '')
    }
  }

  #addSession(sessionId: string): void {
    this.rows.push({ kind: 'session', sessionId, isContinued: this.#opened.has(sessionId) })
    this.#opened.add(sessionId)
    this.#current = sessionId
  }
}
