import type { DataCounts, SubjectCounts } from '../../../src/domain/activity.ts'
import { type DailyTotal, dayOf } from '../../../src/domain/daily-total.ts'
import type { IncomingEvent, IncomingRow, IncomingSession, IngestResult } from '../../../src/domain/ingest.ts'
import type { Instant } from '../../../src/domain/instant.ts'
import { type BroughtIdentifier, sortIdentifiers } from '../../../src/domain/subject-identifier.ts'
import { byCodePoints, isSameIdentifier, type WholeSubject } from './fixture.ts'

type ModelSession = Omit<IncomingSession, 'type' | 'trackerId'> & { attributesAt: Instant | null }
type ModelEvent = Omit<IncomingEvent, 'type' | 'trackerId'>
type ModelIdentifier = BroughtIdentifier & { subjectId: string }

/** The expected contents of one tracker, kept in lists without a store. */
export class TrackerModel {
  #sessions: ModelSession[] = []
  #events: ModelEvent[] = []
  #identifiers: ModelIdentifier[] = []
  /** The instant up to which rows of an erased subject are refused. */
  readonly #refusedUntil = new Map<string, Instant>()
  readonly #totals = new Map<number, { sessions: number; events: Map<string, number> }>()

  ingest(batch: readonly IncomingRow[]): IngestResult {
    const before = this.#size()
    const living = batch.filter((row) => !this.#isRefused(row))
    for (const row of living) {
      if (row.type === 'event') this.#addEvent(row)
      else this.#say({ ...row, attributesAt: row.endedAt })
      this.#addIdentifiers(row)
    }
    const ofErased = batch.length - living.length
    return { ...difference(this.#size(), before), ...(ofErased > 0 && { ofErased }) }
  }

  #isRefused(row: IncomingRow): boolean {
    const at = row.type === 'session' ? row.startedAt : row.occurredAt
    return at <= (this.#refusedUntil.get(row.subjectId) ?? Number.NEGATIVE_INFINITY)
  }

  /** What is visible of the tracker's subjects if data older than `since` is hidden. */
  view(since: Instant): WholeSubject[] {
    const seen = this.#sessions.filter(({ endedAt }) => endedAt >= since)
    const subjectIds = [...new Set(seen.map(({ subjectId }) => subjectId))].sort(byCodePoints)
    return subjectIds.map((subjectId) => {
      const events = this.#events
        .filter((event) => event.subjectId === subjectId && event.occurredAt >= since)
        .sort((a, b) => b.occurredAt - a.occurredAt || byCodePoints(b.eventId, a.eventId))
        .map(({ eventId, sessionId, name, occurredAt, properties }) => ({
          ...{ eventId, sessionId, name, occurredAt, properties },
        }))
      const sessions = seen
        .filter((session) => session.subjectId === subjectId)
        .sort((a, b) => b.startedAt - a.startedAt || byCodePoints(b.sessionId, a.sessionId))
        .map(({ sessionId, startedAt, endedAt, attributes }) => ({
          ...{ sessionId, startedAt, endedAt, attributes },
          counts: { events: events.filter((event) => event.sessionId === sessionId).length },
        }))
      const record = {
        subjectId,
        firstSeenAt: Math.min(...sessions.map(({ startedAt }) => startedAt)),
        lastSeenAt: Math.max(...sessions.map(({ endedAt }) => endedAt)),
        counts: { sessions: sessions.length, events: events.length },
        identifiers: sortIdentifiers(
          this.#identifiers
            .filter((each) => each.subjectId === subjectId && each.broughtAt >= since)
            .map(({ name, value }) => ({ name, value })),
        ),
        attributes: sessions[0]?.attributes ?? {},
      }
      return { record, sessions, events }
    })
  }

  erase(subjectId: string, since: Instant, erasedAt: Instant = 0): SubjectCounts {
    const instants = [
      ...this.#sessions
        .filter((session) => session.subjectId === subjectId)
        .map(({ startedAt }) => startedAt),
      ...this.#events.filter((event) => event.subjectId === subjectId).map(({ occurredAt }) => occurredAt),
    ]
    const before = this.#refusedUntil.get(subjectId) ?? Number.NEGATIVE_INFINITY
    this.#refusedUntil.set(subjectId, Math.max(before, erasedAt, ...instants))
    const visible = this.view(since).find(({ record }) => record.subjectId === subjectId)
    this.#sessions = this.#sessions.filter((session) => session.subjectId !== subjectId)
    this.#events = this.#events.filter((event) => event.subjectId !== subjectId)
    this.#identifiers = this.#identifiers.filter((each) => each.subjectId !== subjectId)
    return visible?.record.counts ?? { sessions: 0, events: 0 }
  }

  sweep(since: Instant): DataCounts {
    const before = this.#size()
    this.#sessions = this.#sessions.filter(({ endedAt }) => endedAt >= since)
    this.#events = this.#events.filter(({ occurredAt }) => occurredAt >= since)
    this.#identifiers = this.#identifiers.filter(({ broughtAt }) => broughtAt >= since)
    return difference(before, this.#size())
  }

  /** Removes what the store no longer holds: an unfinished sweep may delete rows in any order. */
  keepOnly(held: readonly WholeSubject[]): DataCounts {
    const before = this.#size()
    const sessions = new Set(
      held.flatMap(({ record, sessions }) =>
        sessions.map(({ sessionId }) => `${record.subjectId}\n${sessionId}`),
      ),
    )
    const events = new Set(
      held.flatMap(({ record, events }) =>
        events.map(({ occurredAt, eventId }) => `${record.subjectId}\n${occurredAt}\n${eventId}`),
      ),
    )
    this.#sessions = this.#sessions.filter(({ subjectId, sessionId }) =>
      sessions.has(`${subjectId}\n${sessionId}`),
    )
    this.#events = this.#events.filter(({ subjectId, occurredAt, eventId }) =>
      events.has(`${subjectId}\n${occurredAt}\n${eventId}`),
    )
    this.#identifiers = this.#identifiers.filter((each) =>
      held
        .find(({ record }) => record.subjectId === each.subjectId)
        ?.record.identifiers.some((other) => isSameIdentifier(each, other)),
    )
    return difference(before, this.#size())
  }

  totals(): DailyTotal[] {
    return [...this.#totals]
      .filter(([, { sessions, events }]) => sessions > 0 || events.size > 0)
      .map(([day, { sessions, events }]) => ({
        day,
        sessions,
        events: Object.fromEntries(events),
        otherEvents: 0,
      }))
      .sort((a, b) => a.day - b.day)
  }

  #addEvent({ subjectId, sessionId, eventId, name, occurredAt, properties }: IncomingEvent): void {
    const isKnown = this.#events.some(
      (event) =>
        event.subjectId === subjectId && event.eventId === eventId && event.occurredAt === occurredAt,
    )
    if (isKnown) return
    this.#events.push({ subjectId, sessionId, eventId, name, occurredAt, properties })
    const { events } = this.#totalOf(occurredAt)
    events.set(name, (events.get(name) ?? 0) + 1)
    const span = { startedAt: occurredAt, endedAt: occurredAt }
    this.#say({ subjectId, sessionId, ...span, attributes: {}, attributesAt: null })
  }

  #addIdentifiers(row: IncomingRow): void {
    const { subjectId } = row
    const broughtAt = row.type === 'session' ? row.endedAt : row.occurredAt
    for (const [name, value] of Object.entries(row.identifiers ?? {})) {
      const fresh = { subjectId, name, value, broughtAt }
      const index = this.#identifiers.findIndex(
        (each) => each.subjectId === subjectId && isSameIdentifier(each, fresh),
      )
      const known = this.#identifiers[index]
      if (known === undefined) this.#identifiers.push(fresh)
      else if ((broughtAt - known.broughtAt || byCodePoints(value, known.value)) > 0)
        this.#identifiers[index] = fresh
    }
  }

  /** Adds what a row says about its session. */
  #say({ subjectId, sessionId, startedAt, endedAt, attributes, attributesAt }: ModelSession): void {
    const known = this.#sessions.find(
      (session) => session.subjectId === subjectId && session.sessionId === sessionId,
    )
    if (known === undefined) {
      this.#sessions.push({ subjectId, sessionId, startedAt, endedAt, attributes, attributesAt })
      this.#totalOf(startedAt).sessions += 1
      return
    }
    this.#totalOf(known.startedAt).sessions -= 1
    known.startedAt = Math.min(known.startedAt, startedAt)
    this.#totalOf(known.startedAt).sessions += 1
    known.endedAt = Math.max(known.endedAt, endedAt)
    const knownAt = known.attributesAt ?? Number.NEGATIVE_INFINITY
    const isGreater = JSON.stringify(attributes) > JSON.stringify(known.attributes)
    if (attributesAt !== null && (attributesAt > knownAt || (attributesAt === knownAt && isGreater))) {
      known.attributes = attributes
      known.attributesAt = attributesAt
    }
  }

  #totalOf(instant: Instant) {
    const day = dayOf(instant)
    const total = this.#totals.get(day) ?? { sessions: 0, events: new Map<string, number>() }
    this.#totals.set(day, total)
    return total
  }

  #size(): DataCounts {
    const subjects = new Set(this.#sessions.map(({ subjectId }) => subjectId)).size
    return { subjects, sessions: this.#sessions.length, events: this.#events.length }
  }
}

function difference(more: DataCounts, less: DataCounts): DataCounts {
  return {
    subjects: more.subjects - less.subjects,
    sessions: more.sessions - less.sessions,
    events: more.events - less.events,
  }
}
