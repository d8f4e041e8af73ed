import { hash } from 'node:crypto'
import { identifierRule, isIdentifier } from './identifier.ts'
import { type Instant, instantRule, parseInstant } from './instant.ts'
import type { TombstoneKey } from './keyring.ts'
import type { Attributes } from './session.ts'
import {
  identifierNameRule,
  identifierValueRule,
  isIdentifierName,
  isIdentifierValue,
  maxIdentifiersPerLine,
} from './subject-identifier.ts'

/** What a row says its subject is known by: values by name. */
export type IncomingIdentifiers = Record<string, string>

/** A session as it was collected. */
export interface IncomingSession {
  type: 'session'
  trackerId: string
  subjectId: string
  sessionId: string
  startedAt: Instant
  endedAt: Instant
  attributes: Attributes
  identifiers?: IncomingIdentifiers
}

/** An event as it was collected. */
export interface IncomingEvent {
  type: 'event'
  trackerId: string
  subjectId: string
  sessionId: string
  eventId: string
  name: string
  occurredAt: Instant
  properties: Attributes
  identifiers?: IncomingIdentifiers
}

export type IncomingRow = IncomingSession | IncomingEvent

/** What a batch added; rows that were there already add nothing. */
export interface IngestCounts {
  subjects: number
  sessions: number
  events: number
}

export interface IngestResult extends IngestCounts {
  /** How many rows were left out of each tracker that is not there, as one deleted a moment ago. */
  refused?: { trackerId: string; rows: number }[]
  /** How many rows were left out because they happened before their subject was erased. */
  ofErased?: number
}

/** Why a line is not stored: it cannot be read or names no tracker, has aged out, or is of somebody who was erased since. */
export const refusalReasons = ['bad', 'of_erased', 'too_old'] as const

/** How many lines were refused, for each reason. */
export type RefusedLines = Readonly<Record<(typeof refusalReasons)[number], number>>

export interface IngestStore {
  /**
   * Stores a batch in one transaction, in whatever order its rows come. An event of an unknown session opens it. A session's span is
   * the union of all that was said of it, its attributes are those of the row with the latest end (of equal ends, the greater JSON
   * text). Storing a row twice changes nothing the second time; of two events with one id and instant the first stays. What
   * rows say a subject is known by is added to what it is known by, also by rows that were there before. Rows of a tracker that is not there are left out, and told; so are rows of a subject with a tombstone, made with any of these keys, that
   * happened (a session: that began) no later than it says. Beside an erasure of the subject, whichever comes first, none is left.
   * Rejects, with nothing stored, when the store belongs to a secret that none of the keys comes from.
   */
  ingest(batch: readonly IncomingRow[], keys: readonly TombstoneKey[]): Promise<IngestResult>
  /** Adds to what `refusedLines` tells, in a transaction of its own. */
  countRefused(lines: RefusedLines): Promise<void>
  /** How many lines have been counted as refused since the store was made, by whatever process. */
  refusedLines(): Promise<RefusedLines>
}

/** How deep attributes and properties may be nested. */
const maxDepth = 100

/** What a line of an import cannot be, said in words. */
export class BadLine extends Error {
  override name = 'BadLine'
}

/**
 * Reads one line of NDJSON as a session or an event; `null` for the record in an export, which follows from those. Throws `BadLine`
 * with the reason when it is none of them, or tells of an instant after `latest`.
 */
export function parseImportLine(
  line: string,
  defaultTrackerId?: string,
  latest = Number.POSITIVE_INFINITY,
): IncomingRow | null {
  const fields = parseObject(line)
  // null counts as left out, here and in every other field that may be.
  const { type } = fields
  if (type !== 'session' && type !== 'event' && type !== 'subject')
    throw new BadLine('type must be "session" or "event"')
  const trackerId = identifier('trackerId', fields.trackerId ?? defaultTrackerId)
  const subjectId = identifier('subjectId', fields.subjectId)
  if (type === 'subject') return null
  const sessionId = identifier('sessionId', fields.sessionId)
  if (type === 'session') {
    const startedAt = instant('startedAt', fields.startedAt, latest)
    const endedAt = instant('endedAt', fields.endedAt ?? fields.startedAt, latest)
    if (endedAt < startedAt) throw new BadLine('endedAt lies before startedAt')
    const attributes = object('attributes', fields.attributes ?? {})
    const session: IncomingSession = { type, trackerId, subjectId, sessionId, startedAt, endedAt, attributes }
    return withIdentifiers(session, fields.identifiers)
  }
  const name = identifier('name', fields.name)
  const occurredAt = instant('occurredAt', fields.occurredAt, latest)
  const properties = object('properties', fields.properties ?? {})
  const eventId =
    (fields.eventId ?? null) === null
      ? deriveEventId({ trackerId, subjectId, sessionId, name, occurredAt, properties })
      : identifier('eventId', fields.eventId)
  const event: IncomingEvent = {
    type,
    trackerId,
    subjectId,
    sessionId,
    eventId,
    name,
    occurredAt,
    properties,
  }
  return withIdentifiers(event, fields.identifiers)
}

/** What a line is wrong about is never quoted: it may be somebody's address. */
function withIdentifiers<Row extends IncomingRow>(row: Row, value: unknown): Row {
  if ((value ?? null) === null) return row
  if (!isObject(value) || Array.isArray(value)) throw new BadLine('identifiers must be an object')
  const identifiers: IncomingIdentifiers = {}
  let count = 0
  for (const name in value) {
    const text = value[name]
    if (text === null) continue
    if (!isIdentifierName(name)) throw new BadLine(`the names in identifiers must be ${identifierNameRule}`)
    if (!isIdentifierValue(text))
      throw new BadLine(`the values in identifiers must be texts of ${identifierValueRule}`)
    if (++count > maxIdentifiersPerLine)
      throw new BadLine(`a line has at most ${maxIdentifiersPerLine} identifiers`)
    identifiers[name] = text
  }
  return count === 0 ? row : { ...row, identifiers }
}

/** The id of an event that came without one: the same for the same content, in whatever order its fields stand. */
function deriveEventId(content: Record<string, unknown>): string {
  return hash('sha256', canonicalJson(content), 'base64url').slice(0, 22)
}

function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`
  if (!isObject(value)) return JSON.stringify(value)
  const fields = Object.keys(value).sort()
  return `{${fields.map((name) => `${JSON.stringify(name)}:${canonicalJson(value[name])}`).join(',')}}`
}

function parseObject(line: string): Record<string, unknown> {
  let value: unknown
  try {
    value = JSON.parse(line)
  } catch {
    throw new BadLine('not JSON')
  }
  if (!isObject(value) || Array.isArray(value)) throw new BadLine('not a JSON object')
  return value
}

function identifier(field: string, value: unknown): string {
  if (value === undefined) throw new BadLine(`${field} is missing`)
  if (!isIdentifier(value)) throw new BadLine(`${field} must be ${identifierRule}`)
  return value
}

function instant(field: string, value: unknown, latest: Instant): Instant {
  if (value === undefined) throw new BadLine(`${field} is missing`)
  const parsed = typeof value === 'string' ? parseInstant(value) : null
  if (parsed === null) throw new BadLine(`${field} must be ${instantRule}`)
  if (parsed > latest) throw new BadLine(`${field} is more than a day in the future`)
  return parsed
}

function object(field: string, value: unknown): Attributes {
  if (!isObject(value) || Array.isArray(value)) throw new BadLine(`${field} must be an object`)
  if (isDeeperThan(maxDepth, value)) throw new BadLine(`${field} is nested deeper than ${maxDepth} levels`)
  return value
}

/** Never goes further down than it may, so what is too deep for recursion does no harm. */
function isDeeperThan(levels: number, value: unknown): boolean {
  if (!isObject(value)) return false
  const inner = Array.isArray(value) ? value : Object.values(value)
  if (levels === 0) return inner.length > 0
  for (const each of inner) if (isDeeperThan(levels - 1, each)) return true
  return false
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}
