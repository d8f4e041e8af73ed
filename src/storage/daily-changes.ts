import { type Day, dayOf } from '../domain/daily-total.ts'
import type { Instant } from '../domain/instant.ts'

/** The changes that a transaction makes to daily totals, gathered so that each total is written once. */
export class DailyChanges {
  readonly #events = new Map<string, { trackerId: string; day: Day; name: string; change: number }>()
  readonly #sessions = new Map<string, { trackerId: string; day: Day; change: number }>()

  addEvent(trackerId: string, occurredAt: Instant, name: string): void {
    const day = dayOf(occurredAt)
    const id = `${day}\0${name}\0${trackerId}`
    const known = this.#events.get(id)
    if (known) known.change += 1
    else this.#events.set(id, { trackerId, day, name, change: 1 })
  }

  /** Counts a session, which may have been counted with another start before. */
  addSession(trackerId: string, startedAt: Instant, earlierStartedAt: Instant | null): void {
    this.#changeSessions(trackerId, startedAt, 1)
    if (earlierStartedAt !== null) this.#changeSessions(trackerId, earlierStartedAt, -1)
  }

  events() {
    return this.#events.values()
  }

  sessions() {
    return this.#sessions.values()
  }

  #changeSessions(trackerId: string, startedAt: Instant, change: 1 | -1): void {
    const day = dayOf(startedAt)
    const id = `${day}\0${trackerId}`
    const known = this.#sessions.get(id)
    if (known) known.change += change
    else this.#sessions.set(id, { trackerId, day, change })
  }
}
