import { hash } from 'node:crypto'
import { identifierRule, isIdentifier } from './identifier.ts'
import type { IncomingEvent, IncomingIdentifiers, IncomingRow, IncomingSession } from './ingest.ts'
import { type Instant, instantRule, parseInstant } from './instant.ts'
import type { Attributes } from './subject.ts'
import {
  identifierNameRule,
  identifierValueRule,
  isIdentifierName,
  isIdentifierValue,
  maxIdentifiersPerLine,
} from './subject-identifier.ts'

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
