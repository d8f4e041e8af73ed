import type { Event, Session } from '../types.ts'

/** A line of a subject's story: a session that begins, or is taken up again, or one of its events. */
export type TimelineRow =
  | { kind: 'session'; sessionId: string; isContinued: boolean }
  | { kind: 'event'; event: Event }

/** What has come of a list so far, newest first. */
interface Loaded<Item> {
  items: readonly (readonly Item[])[]
  hasMore: boolean
}

/**
 * The rows of a story, which only ever grow: events, newest first, under the sessions they belong to, and sessions without any where
 * they began. What has been put in its place stays there, so that a long story costs no more for every page that is added.
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

  /** Adds what is new. An event waits until it is known which sessions without any began after it. */
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
