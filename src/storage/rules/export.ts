import type { GiveWay } from '../../domain/semaphore.ts'
import type { SubjectRecord } from '../../domain/subject.ts'
import type { ExportedEvent, ExportedSession, TakePart } from '../../domain/subject-export.ts'

/**
 * How long an export keeps a snapshot. What is erased stays in SQLite's log, and on PostgreSQL in the table, while somebody could still
 * see it.
 */
export const maxSnapshotMs = 500

/** Where a row is in the order of an export. */
export type Position = readonly [at: number, id: string]

export const beforeAll: Position = [Number.MIN_SAFE_INTEGER, '']

/** What an export begins with, all of it from one snapshot. */
export interface ExportStart {
  record: SubjectRecord
  /** The newest event; `null` without events. */
  lastEvent: Position | null
  /** As of `stamp`. */
  stamp: string
}

/** What an engine reads of a subject in one snapshot. Lists end early when the snapshot does. */
export interface ExportSnapshot {
  isOpen(): boolean
  /** `null` when the tracker is not visible or the subject holds no data. */
  start(): Promise<ExportStart | null>
  /** What the subject's own row holds, which changes with its sessions and events; `null` when the row is gone. */
  stamp(): Promise<string | null>
  hasEvent(position: Position): Promise<boolean>
  sessions(after: Position): AsyncIterable<ExportedSession[]>
  /** Up to and including `last`. */
  events(after: Position, last: Position): AsyncIterable<ExportedEvent[]>
}

/** Runs reads in a new snapshot, which ends with them or before, after `maxSnapshotMs` at the latest. */
export type InSnapshot = (read: (snapshot: ExportSnapshot) => Promise<boolean>) => Promise<boolean>

/**
 * Exports a subject in as many snapshots as it takes, and only what the first of them shows. Throws when that cannot be told any more,
 * because the subject has changed in a way that matters to what is left.
 */
export async function exportInSnapshots(
  inSnapshot: InSnapshot,
  take: TakePart,
  giveWay: GiveWay,
): Promise<boolean> {
  let start: ExportStart | null = null
  let lastSession = beforeAll
  let lastEvent = beforeAll
  let sessionsLeft = 0

  /** Reads on until the snapshot ends. `true` when nothing is left. */
  async function readOn(snapshot: ExportSnapshot): Promise<boolean> {
    if (start === null) {
      start = await snapshot.start()
      if (start === null) return true
      sessionsLeft = start.record.counts.sessions
      await take({ kind: 'record', record: start.record })
    } else await requireUnchanged(snapshot, start, sessionsLeft)
    for await (const rows of sessionsLeft > 0 ? snapshot.sessions(lastSession) : []) {
      lastSession = positionAfter(lastSession, rows, ({ startedAt, sessionId }) => [startedAt, sessionId])
      sessionsLeft -= rows.length
      await take({ kind: 'sessions', rows })
    }
    if (sessionsLeft > 0 && !snapshot.isOpen()) return false
    if (start.lastEvent === null) return true
    for await (const rows of snapshot.events(lastEvent, start.lastEvent)) {
      lastEvent = positionAfter(lastEvent, rows, ({ occurredAt, eventId }) => [occurredAt, eventId])
      await take({ kind: 'events', rows })
    }
    return snapshot.isOpen() || isSame(lastEvent, start.lastEvent)
  }

  while (!(await inSnapshot(readOn))) await giveWay()
  return start !== null
}

function positionAfter<Row>(
  before: Position,
  rows: readonly Row[],
  positionOf: (row: Row) => Position,
): Position {
  const last = rows.at(-1)
  return last === undefined ? before : positionOf(last)
}

function isSame([at, id]: Position, [otherAt, otherId]: Position): boolean {
  return at === otherAt && id === otherId
}

/**
 * Sessions change, so while some are left the subject must be as it was. Events never do, and later ones come behind the last: then it
 * is enough that nobody has erased that one. Whether all are there, their number tells in the end.
 */
async function requireUnchanged(snapshot: ExportSnapshot, start: ExportStart, sessionsLeft: number) {
  const isUnchanged =
    sessionsLeft > 0 || start.lastEvent === null
      ? (await snapshot.stamp()) === start.stamp
      : await snapshot.hasEvent(start.lastEvent)
  if (!isUnchanged) throw new Error('A data subject has changed while it was exported.')
}
