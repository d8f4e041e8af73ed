import type { Instant } from '../domain/instant.ts'
import { deriveId } from './fields.ts'

/** A pause of a visitor after which the next record begins a new session. */
export const sessionPauseMs = 30 * 60_000
/** Beyond this, the visitors that were seen least recently are forgotten. */
export const maxOpenSessions = 250_000
/** Records may be out of order, so the sessions before the latest stay open. */
const maxOpenPerVisitor = 4

interface OpenSession {
  sessionId: string
  firstAt: Instant
  lastAt: Instant
}

/**
 * Divides the records of visitors into sessions, for sources without sessions. Remembers only visitors who were
 * active within the last hour of the records, and a bounded number of them.
 */
export class Sessions {
  /** The visitor seen least recently comes first. */
  readonly #open = new Map<string, readonly OpenSession[]>()
  readonly #maxOpen: number
  #newestAt: Instant = Number.NEGATIVE_INFINITY

  constructor(maxOpen = maxOpenSessions) {
    this.#maxOpen = maxOpen
  }

  get openCount(): number {
    return this.#open.size
  }

  /** The session of a record, and whether the record opens it. */
  at(subjectId: string, at: Instant): { sessionId: string; isNew: boolean } {
    this.#newestAt = Math.max(this.#newestAt, at)
    const open = this.#open.get(subjectId) ?? []
    this.#open.delete(subjectId)
    const known = open.find((session) => isWithin(session, at))
    const session = known ?? { sessionId: deriveId('session', subjectId, at), firstAt: at, lastAt: at }
    session.firstAt = Math.min(session.firstAt, at)
    session.lastAt = Math.max(session.lastAt, at)
    this.#open.set(subjectId, known ? open : [...open, session].slice(-maxOpenPerVisitor))
    this.#forgetOld()
    return { sessionId: session.sessionId, isNew: known === undefined }
  }

  /** Records may be out of order, so a visitor is remembered for twice the pause. */
  #forgetOld(): void {
    for (const [subjectId, open] of this.#open) {
      const hasEnded = open.every(({ lastAt }) => lastAt < this.#newestAt - 2 * sessionPauseMs)
      if (!hasEnded && this.#open.size <= this.#maxOpen) return
      this.#open.delete(subjectId)
    }
  }
}

function isWithin({ firstAt, lastAt }: OpenSession, at: Instant): boolean {
  return at >= firstAt - sessionPauseMs && at <= lastAt + sessionPauseMs
}
