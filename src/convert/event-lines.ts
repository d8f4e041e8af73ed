import type { Instant } from '../domain/instant.ts'
import { presentFields, textOf } from './fields.ts'
import type { EventLine, ImportLine, JsonObject, SessionLine } from './format.ts'
import { Sessions } from './sessions.ts'

/** An event with what its source says about its session. */
export interface SourceEvent extends Omit<EventLine, 'type' | 'sessionId'> {
  /** Derived from the visitor's pauses if the source has no sessions. */
  sessionId: string | undefined
  /** What the event shows about the visit, such as the browser. Only short texts are kept. */
  attributes?: JsonObject
  /** Another ID of the same visitor, whose subject gets the same identifiers. */
  formerId?: string | undefined
}

interface KnownSession {
  startedAt: Instant
  endedAt: Instant
  attributes: JsonObject
}

/** Beyond this, the sessions that were seen least recently are forgotten. */
const maxKnownSessions = 20_000
/** Keeps the memory of known sessions small. */
export const maxAttributeLength = 1_024

/**
 * Turns the events of sources that have no records of sessions into lines. An event that shows something new
 * about its session is preceded by a session line. What was shown first counts, such as a campaign.
 */
export class EventLines {
  readonly #derived = new Sessions()
  /** The session seen least recently comes first. */
  readonly #known = new Map<string, KnownSession>()
  readonly #maxKnown: number

  constructor(maxKnown = maxKnownSessions) {
    this.#maxKnown = maxKnown
  }

  get knownCount(): number {
    return this.#known.size
  }

  linesOf({ sessionId: given, attributes, formerId, ...event }: SourceEvent): readonly ImportLine[] {
    const { subjectId, occurredAt, identifiers } = event
    const sessionId = given ?? this.#derived.at(subjectId, occurredAt).sessionId
    const shown = shortTexts(attributes)
    const { session, isNew } = this.#observe({ subjectId, sessionId }, occurredAt, shown)
    const lines: ImportLine[] = [{ type: 'event', sessionId, ...event }]
    if (isNew) lines.unshift(session)
    if (formerId !== undefined && formerId !== subjectId && identifiers !== undefined) {
      const former = this.#observe({ subjectId: formerId, sessionId }, occurredAt, shown)
      lines.push({ ...former.session, identifiers })
    }
    return lines
  }

  /** The session with everything known about it, and whether the event shows something new. */
  #observe(ids: { subjectId: string; sessionId: string }, at: Instant, shown: JsonObject) {
    const key = JSON.stringify([ids.subjectId, ids.sessionId])
    const known = this.#known.get(key)
    const now: KnownSession = {
      startedAt: Math.min(known?.startedAt ?? at, at),
      endedAt: Math.max(known?.endedAt ?? at, at),
      attributes: { ...shown, ...known?.attributes },
    }
    this.#remember(key, now)
    const session: SessionLine = { type: 'session', ...ids, ...now }
    return { session, isNew: Object.keys(shown).some((name) => known?.attributes[name] === undefined) }
  }

  #remember(key: string, session: KnownSession): void {
    this.#known.delete(key)
    this.#known.set(key, session)
    if (this.#known.size <= this.#maxKnown) return
    // Many at a time, because a map visits its deleted entries again.
    for (const oldest of this.#known.keys()) {
      if (this.#known.size <= 0.9 * this.#maxKnown) return
      this.#known.delete(oldest)
    }
  }
}

function shortTexts(attributes: JsonObject = {}): JsonObject {
  const texts = Object.entries(attributes).map(([name, value]): [string, unknown] => {
    const text = textOf(value)
    return [name, text !== undefined && text.length <= maxAttributeLength ? text : undefined]
  })
  return presentFields(Object.fromEntries(texts)) ?? {}
}
