import type { Instant } from '../domain/instant.ts'
import { deriveId } from './fields.ts'

/** A pause of a visitor after which the next record begins a new session. */
export const sessionPauseMs = 30 * 60_000
/** So many visitors are remembered in any case, because files may not be in the order of their records. */
export const keptVisitors = 20_000
/** Beyond this, the visitors that were seen least recently are forgotten. */
export const maxVisitors = 100_000
/** Records may be out of order, so the sessions before the latest stay open. */
const maxOpenPerVisitor = 4

interface OpenSession {
  sessionId: string
  firstAt: Instant
  lastAt: Instant
}

/**
 * Divides the records of visitors into sessions, for sources without sessions. If there are many visitors, it
 * remembers only those who were active within an hour of the current record, and a bounded number of them.
 */
export class Sessions {
  /** The visitor seen least recently comes first. */
  readonly #open = new Map<string, readonly OpenSession[]>()
  readonly #kept: number
  readonly #max: number
  /** Above this number, visitors are forgotten. */
  #limit: number

  constructor({ kept = keptVisitors, max = maxVisitors } = {}) {
    this.#kept = kept
    this.#max = max
    this.#limit = kept
  }

  get openCount(): number {
    return this.#open.size
  }

  /** The session of a record, and whether the record opens it. */
  at(subjectId: string, at: Instant): { sessionId: string; isNew: boolean } {
    const open = this.#open.get(subjectId) ?? []
    this.#open.delete(subjectId)
    const known = open.find((session) => isWithin(session, at))
    const session = known ?? { sessionId: deriveId('session', subjectId, at), firstAt: at, lastAt: at }
    session.firstAt = Math.min(session.firstAt, at)
    session.lastAt = Math.max(session.lastAt, at)
    this.#open.set(subjectId, known ? open : [...open, session].slice(-maxOpenPerVisitor))
    this.#forgetOld(at)
    return { sessionId: session.sessionId, isNew: known === undefined }
  }

  /**
   * Records may be out of order, so a visitor is remembered for twice the pause. Forgets many at a time,
   * because a map visits its deleted entries again.
   */
  #forgetOld(now: Instant): void {
    if (this.#open.size <= this.#limit) return
    const goal = this.#open.size > this.#max ? 0.9 * this.#max : this.#max
    for (const [subjectId, open] of this.#open) {
      const hasEnded = open.every(({ lastAt }) => Math.abs(now - lastAt) > 2 * sessionPauseMs)
      if (this.#open.size <= (hasEnded ? this.#kept : goal)) break
      this.#open.delete(subjectId)
    }
    this.#limit = Math.min(this.#max, Math.max(this.#kept, 1.1 * this.#open.size))
  }
}

function isWithin({ firstAt, lastAt }: OpenSession, at: Instant): boolean {
  return at >= firstAt - sessionPauseMs && at <= lastAt + sessionPauseMs
}
