import { dayMs, type Instant } from '../../domain/instant.ts'
import type { SubjectRef } from '../../domain/person.ts'
import type { SubjectRecord } from '../../domain/subject.ts'
import type { ExportedEvent, ExportedSession, ExportPart } from '../../domain/subject-export.ts'

/** What the index shows at most of all records together, and of one of them. */
const maxEvents = { total: 2_000, ofRecord: 200 }
const maxSessions = { total: 500, ofRecord: 50 }
/** Records beyond these are listed without their own section, and beyond the second number only counted. */
export const maxRecords = { shown: 50, listed: 1_000 }
/** Longer JSON is not shown, but only in the record's file. */
const maxShownJson = 2_000
/** How many event names of a record are counted each by itself. */
const maxNames = 1_000

export interface MonthCounts {
  sessions: number
  events: number
}

/** One record, as listed: without its data, because a person can have many. */
export interface RecordEntry {
  number: number
  file: string
  subject: SubjectRef
}

/** One record, as shown in its own section. Collected in constant memory, whatever its size. */
export interface RecordFacts extends RecordEntry {
  record: SubjectRecord
  /** On how many days there are events, or sessions if there are no events. */
  days: number
  /** The most frequent names first. */
  eventNames: readonly { name: string; events: number }[]
  /** The events of names that are not counted by themselves. */
  otherEvents: number
  /** The newest first. JSON that is too long to be shown is empty. */
  sessions: readonly ExportedSession[]
  events: readonly ExportedEvent[]
}

/** What all records have in common. */
export class PersonFacts {
  readonly totals = { records: 0, sessions: 0, events: 0 }
  /** By the number of the month since the year 0, in the order of arrival. */
  readonly months = new Map<number, MonthCounts>()
  readonly listed: RecordEntry[] = []
  readonly shown: RecordFacts[] = []
  firstSeenAt: Instant = Number.POSITIVE_INFINITY
  lastSeenAt: Instant = Number.NEGATIVE_INFINITY
  #collector: RecordCollector | null = null
  #eventsLeft = maxEvents.total
  #sessionsLeft = maxSessions.total

  /** Begins the next record. */
  begin(subject: SubjectRef, record: SubjectRecord, file: string): void {
    const { totals } = this
    totals.records += 1
    totals.sessions += record.counts.sessions
    totals.events += record.counts.events
    this.firstSeenAt = Math.min(this.firstSeenAt, record.firstSeenAt)
    this.lastSeenAt = Math.max(this.lastSeenAt, record.lastSeenAt)
    const entry = { number: totals.records, file, subject }
    const isShown = entry.number <= maxRecords.shown
    if (entry.number <= maxRecords.listed) this.listed.push(entry)
    this.#collector = new RecordCollector({ ...entry, record }, this.months, {
      events: isShown ? Math.min(maxEvents.ofRecord, this.#eventsLeft) : 0,
      sessions: isShown ? Math.min(maxSessions.ofRecord, this.#sessionsLeft) : 0,
    })
  }

  /** Adds rows of the current record, oldest first. */
  add(part: ExportPart): void {
    if (part.kind === 'sessions') this.#collector?.addSessions(part.rows)
    if (part.kind === 'events') this.#collector?.addEvents(part.rows)
  }

  /** Ends the current record. */
  end(): void {
    if (this.#collector === null) return
    const facts = this.#collector.facts()
    this.#collector = null
    if (facts.number > maxRecords.shown) return
    this.#eventsLeft -= facts.events.length
    this.#sessionsLeft -= facts.sessions.length
    this.shown.push(facts)
  }
}

class RecordCollector {
  readonly #entry: RecordEntry & { record: SubjectRecord }
  readonly #months: Map<number, MonthCounts>
  readonly #sessions: Newest<ExportedSession>
  readonly #events: Newest<ExportedEvent>
  readonly #names = new Map<string, number>()
  #otherEvents = 0
  #hasEvents = false
  #days = 0
  #lastDay = Number.NaN
  #month: MonthCounts = { sessions: 0, events: 0 }

  constructor(
    entry: RecordEntry & { record: SubjectRecord },
    months: Map<number, MonthCounts>,
    max: { events: number; sessions: number },
  ) {
    this.#entry = entry
    this.#months = months
    this.#sessions = new Newest(max.sessions)
    this.#events = new Newest(max.events)
  }

  addSessions(rows: readonly ExportedSession[]): void {
    for (const row of rows) {
      this.#enterDay(row.startedAt)
      this.#month.sessions += 1
      this.#sessions.add(row.attributes.length <= maxShownJson ? row : { ...row, attributes: '' })
    }
  }

  addEvents(rows: readonly ExportedEvent[]): void {
    if (!this.#hasEvents) {
      this.#hasEvents = true
      this.#days = 0
      this.#lastDay = Number.NaN
    }
    for (const row of rows) {
      this.#enterDay(row.occurredAt)
      this.#month.events += 1
      this.#countName(row.name)
      this.#events.add(row.properties.length <= maxShownJson ? row : { ...row, properties: '' })
    }
  }

  facts(): RecordFacts {
    const eventNames = Array.from(this.#names, ([name, events]) => ({ name, events }))
    return {
      ...this.#entry,
      days: this.#days,
      eventNames: eventNames.sort((a, b) => b.events - a.events),
      otherEvents: this.#otherEvents,
      sessions: this.#sessions.list(),
      events: this.#events.list(),
    }
  }

  #countName(name: string): void {
    const known = this.#names.get(name)
    if (known !== undefined) this.#names.set(name, known + 1)
    else if (this.#names.size < maxNames) this.#names.set(name, 1)
    else this.#otherEvents += 1
  }

  /** Looks up the month only when the day changes, which is rare. */
  #enterDay(at: Instant): void {
    const day = Math.floor(at / dayMs)
    if (day === this.#lastDay) return
    this.#lastDay = day
    this.#days += 1
    const date = new Date(at)
    const month = date.getUTCFullYear() * 12 + date.getUTCMonth()
    this.#month = this.#months.get(month) ?? { sessions: 0, events: 0 }
    this.#months.set(month, this.#month)
  }
}

/** Keeps the last rows of a list of any length. */
class Newest<Row> {
  readonly #max: number
  readonly #rows: Row[] = []
  #next = 0

  constructor(max: number) {
    this.#max = max
  }

  add(row: Row): void {
    if (this.#max === 0) return
    this.#rows[this.#next] = row
    this.#next = (this.#next + 1) % this.#max
  }

  /** The newest first. */
  list(): Row[] {
    return [...this.#rows.slice(this.#next), ...this.#rows.slice(0, this.#next)].reverse()
  }
}
