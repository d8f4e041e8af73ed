import { hash } from 'node:crypto'
import { identifierRule, isIdentifier } from './identifier.ts'
import { type Instant, instantRule, parseInstant } from './instant.ts'
import { findLostNumber } from './json.ts'
import type { TombstoneKey } from './keyring.ts'
import type { Attributes } from './session.ts'
import {
  identifierNameRule,
  identifierValueRule,
  isIdentifierName,
  isIdentifierValue,
  maxIdentifiersPerLine,
} from './subject-identifier.ts'

export type IncomingIdentifiers = Record<string, string>

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

/** Rows that are stored together. */
export type IncomingBatch = readonly IncomingRow[]

/** Rows encoded for the store. While they wait, they cost memory but no garbage collection. */
export interface PackedBatch {
  pieces: ArrayBuffer[]
  /** The number of rows. */
  rows: number
}

/** Rows of a tracker that does not exist, for example because it was just deleted; or those of a `reason`. */
export interface RefusedRows {
  trackerId: string
  rows: number
  /** They would give their subjects more identifiers than one may have. */
  reason?: 'identifiers'
}

/** What a batch added. Rows that were stored before do not count. */
export interface IngestCounts {
  subjects: number
  sessions: number
  events: number
}

export interface IngestResult extends IngestCounts {
  refused?: RefusedRows[]
  /** Rows that occurred before their subject was erased. */
  ofErased?: number
  /** Rows whose session or event was already stored as it is. */
  unchanged?: number
}

/** Why a line was refused: invalid or without a tracker, of an erased subject, or older than the window. */
export const refusalReasons = ['bad', 'of_erased', 'too_old'] as const

export type RefusedLines = Readonly<Record<(typeof refusalReasons)[number], number>>

/** Other work holds rows that a batch changes, such as an erasure of its subject. It may be stored later. */
export class BatchBlocked extends Error {
  override name = 'BatchBlocked'

  constructor(options?: ErrorOptions) {
    super('Other work holds rows that the batch changes.', options)
  }
}

export interface IngestStore {
  /**
   * Stores rows in one transaction. Order and repetition do not matter: spans and identifiers are merged, and
   * the latest attributes win. Leaves out rows of missing trackers and rows that a tombstone refuses. Rejects
   * if the store belongs to a secret outside `keys`.
   */
  ingest(batch: IncomingBatch, keys: readonly TombstoneKey[]): Promise<IngestResult>
  /** Encodes at least one row, as a piece of a batch. */
  pack(rows: IncomingBatch): ArrayBuffer
  /**
   * Stores several batches in one transaction, one after the other, and returns a result for each. Rejects
   * with `BatchBlocked` if other work holds rows of one of them for longer than the others should wait.
   */
  ingestAll(batches: readonly PackedBatch[], keys: readonly TombstoneKey[]): Promise<IngestResult[]>
  countRefused(lines: RefusedLines): Promise<void>
  /** The refused lines of all processes since the store was created. */
  refusedLines(): Promise<RefusedLines>
}

const maxDepth = 100

/** An invalid import line. The message is the reason. */
export class InvalidLine extends Error {
  override name = 'InvalidLine'
}

/**
 * Parses one line of NDJSON; `null` for the subject record of an export, which the other lines imply. Throws
 * `InvalidLine` if the line is invalid or contains an instant after `latest`.
 */
export function parseImportLine(
  line: string,
  defaultTrackerId?: string,
  latest = Number.POSITIVE_INFINITY,
): IncomingRow | null {
  const fields = parseObject(line)
  // In optional fields, null is the same as absent.
  const { type } = fields
  if (type !== 'session' && type !== 'event' && type !== 'subject')
    throw new InvalidLine('type must be "session" or "event"')
  const trackerId = identifier('trackerId', fields.trackerId ?? defaultTrackerId)
  const subjectId = identifier('subjectId', fields.subjectId)
  if (type === 'subject') return null
  const sessionId = identifier('sessionId', fields.sessionId)
  if (type === 'session') {
    const startedAt = instant('startedAt', fields.startedAt, latest)
    const endedAt = instant('endedAt', fields.endedAt ?? fields.startedAt, latest)
    if (endedAt < startedAt) throw new InvalidLine('endedAt lies before startedAt')
    const attributes = object('attributes', fields.attributes ?? {}, line)
    const session: IncomingSession = { type, trackerId, subjectId, sessionId, startedAt, endedAt, attributes }
    return withIdentifiers(session, fields.identifiers)
  }
  const name = identifier('name', fields.name)
  const occurredAt = instant('occurredAt', fields.occurredAt, latest)
  const properties = object('properties', fields.properties ?? {}, line)
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

/** Errors do not quote values, which may be personal data. */
function withIdentifiers<Row extends IncomingRow>(row: Row, value: unknown): Row {
  if ((value ?? null) === null) return row
  if (!isObject(value) || Array.isArray(value)) throw new InvalidLine('identifiers must be an object')
  const identifiers: IncomingIdentifiers = {}
  let count = 0
  for (const name in value) {
    const text = value[name]
    if (text === null) continue
    if (!isIdentifierName(name))
      throw new InvalidLine(`the names in identifiers must be ${identifierNameRule}`)
    if (!isIdentifierValue(text))
      throw new InvalidLine(`the values in identifiers must be texts of ${identifierValueRule}`)
    if (++count > maxIdentifiersPerLine)
      throw new InvalidLine(`a line has at most ${maxIdentifiersPerLine} identifiers`)
    identifiers[name] = text
  }
  return count === 0 ? row : { ...row, identifiers }
}

/** Derives the ID of an event without one from its content, independent of the order of fields. */
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
    throw new InvalidLine('not JSON')
  }
  if (!isObject(value) || Array.isArray(value)) throw new InvalidLine('not a JSON object')
  return value
}

function identifier(field: string, value: unknown): string {
  if (value === undefined) throw new InvalidLine(`${field} is missing`)
  if (!isIdentifier(value)) throw new InvalidLine(`${field} must be ${identifierRule}`)
  return value
}

function instant(field: string, value: unknown, latest: Instant): Instant {
  if (value === undefined) throw new InvalidLine(`${field} is missing`)
  const parsed = parseInstant(value)
  if (parsed === null) throw new InvalidLine(`${field} must be ${instantRule}`)
  if (parsed > latest) throw new InvalidLine(`${field} is more than a day in the future`)
  return parsed
}

function object(field: string, value: unknown, line: string): Attributes {
  if (!isObject(value) || Array.isArray(value)) throw new InvalidLine(`${field} must be an object`)
  if (isDeeperThan(maxDepth, value))
    throw new InvalidLine(`${field} is nested deeper than ${maxDepth} levels`)
  const lost = findLostNumber(line, value, field)
  if (lost !== null) throw new InvalidLine(`${field} has ${lost}`)
  return value
}

/** Stops at the limit, so that deep nesting cannot exhaust the stack. */
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
