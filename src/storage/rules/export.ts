import type { GiveWay } from '../../domain/semaphore.ts'
import type { SubjectRecord } from '../../domain/subject.ts'
import type { ExportedEvent, ExportedSession, TakePart } from '../../domain/subject-export.ts'

/**
 * How long an export may keep a snapshot open. Erased rows stay in SQLite's log, and in PostgreSQL's tables,
 * while a snapshot can still see them.
 */
export const maxSnapshotMs = 500

/** The position of a row in an export. */
export type Position = readonly [at: number, id: string]

export const beforeAll: Position = [Number.MIN_SAFE_INTEGER, '']

/** The start of an export, read in one snapshot. */
export interface ExportStart {
  record: SubjectRecord
  /** The newest event; `null` without events. */
  lastEvent: Position | null
  /** The row of the subject when the export started; see `ExportSnapshot.stamp`. */
  stamp: string
}

/** Some rows of a list; none if all that were read have expired. */
export interface Slice<Row> {
  rows: Row[]
  /** The position of the last row that was read. */
  last: Position
}

/** What an engine reads of a subject in one snapshot. Lists end early when the snapshot ends. */
export interface ExportSnapshot {
  isOpen(): boolean
  /** `null` if the tracker is not visible or the subject holds no data. */
  start(): Promise<ExportStart | null>
  /** The subject's own row, which changes with its sessions and events; `null` if the row is gone. */
  stamp(): Promise<string | null>
  hasEvent(position: Position): Promise<boolean>
  sessions(after: Position): AsyncIterable<Slice<ExportedSession>>
  /** Up to and including `last`. */
  events(after: Position, last: Position): AsyncIterable<Slice<ExportedEvent>>
}

/** Runs reads in a new snapshot, which ends with them, or earlier after `maxSnapshotMs`. */
type InSnapshot = (read: (snapshot: ExportSnapshot) => Promise<boolean>) => Promise<boolean>

/**
 * Exports a subject in as many snapshots as needed, limited to what the first one showed. Throws if the
 * subject has changed in a way that makes this impossible.
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

  /** Reads until the snapshot ends. `true` if nothing is left. */
  async function readOn(snapshot: ExportSnapshot): Promise<boolean> {
    if (start === null) {
      start = await snapshot.start()
      if (start === null) return true
      sessionsLeft = start.record.counts.sessions
      await take({ kind: 'record', record: start.record })
    } else await requireUnchanged(snapshot, start, sessionsLeft)
    for await (const { rows, last } of sessionsLeft > 0 ? snapshot.sessions(lastSession) : []) {
      lastSession = last
      sessionsLeft -= rows.length
      if (rows.length > 0) await take({ kind: 'sessions', rows })
    }
    if (sessionsLeft > 0 && !snapshot.isOpen()) return false
    if (start.lastEvent === null) return true
    for await (const { rows, last } of snapshot.events(lastEvent, start.lastEvent)) {
      lastEvent = last
      await take({ kind: 'events', rows })
    }
    return snapshot.isOpen() || isSame(lastEvent, start.lastEvent)
  }

  while (!(await inSnapshot(readOn))) await giveWay()
  return start !== null
}

function isSame([at, id]: Position, [otherAt, otherId]: Position): boolean {
  return at === otherAt && id === otherId
}

/**
 * Sessions can change, so while some are left the subject must be unchanged. Events never change and newer
 * ones come after the last, so it is enough that the last one was not erased.
 */
async function requireUnchanged(snapshot: ExportSnapshot, start: ExportStart, sessionsLeft: number) {
  const isUnchanged =
    sessionsLeft > 0 || start.lastEvent === null
      ? (await snapshot.stamp()) === start.stamp
      : await snapshot.hasEvent(start.lastEvent)
  if (!isUnchanged) throw new Error('A data subject has changed while it was exported.')
}
