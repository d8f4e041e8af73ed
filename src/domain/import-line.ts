import { hash } from 'node:crypto'
import { identifierRule, isIdentifier } from './identifier.ts'
import type { IncomingRow } from './ingest.ts'
import { type Instant, instantRule, parseInstant } from './instant.ts'
import type { Attributes } from './subject.ts'

/** How deep attributes and properties may be nested. */
const maxDepth = 100

/** What a line of an import cannot be, said in words. */
export class BadLine extends Error {
  override name = 'BadLine'
}

/** Reads one line of NDJSON as a session or an event. Throws `BadLine` with the reason when it is neither. */
export function parseImportLine(line: string, defaultTrackerId?: string): IncomingRow {
  const fields = parseObject(line)
  // null counts as left out, here and in every other field that may be.
  const { type } = fields
  if (type !== 'session' && type !== 'event') throw new BadLine('type must be "session" or "event"')
  const owner = {
    trackerId: identifier('trackerId', fields.trackerId ?? defaultTrackerId),
    subjectId: identifier('subjectId', fields.subjectId),
    sessionId: identifier('sessionId', fields.sessionId),
  }
  if (type === 'session') {
    const startedAt = instant('startedAt', fields.startedAt)
    const endedAt = instant('endedAt', fields.endedAt ?? fields.startedAt)
    if (endedAt < startedAt) throw new BadLine('endedAt lies before startedAt')
    return { type, ...owner, startedAt, endedAt, attributes: object('attributes', fields.attributes ?? {}) }
  }
  const event = {
    name: identifier('name', fields.name),
    occurredAt: instant('occurredAt', fields.occurredAt),
    properties: object('properties', fields.properties ?? {}),
  }
  const eventId =
    (fields.eventId ?? null) === null
      ? deriveEventId({ ...owner, ...event })
      : identifier('eventId', fields.eventId)
  return { type, ...owner, eventId, ...event }
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

function instant(field: string, value: unknown): Instant {
  if (value === undefined) throw new BadLine(`${field} is missing`)
  const parsed = typeof value === 'string' ? parseInstant(value) : null
  if (parsed === null) throw new BadLine(`${field} must be ${instantRule}`)
  return parsed
}

function object(field: string, value: unknown): Attributes {
  if (!isObject(value) || Array.isArray(value)) throw new BadLine(`${field} must be an object`)
  if (isDeeperThan(maxDepth, value)) throw new BadLine(`${field} is nested deeper than ${maxDepth} levels`)
  return value
}

/** Looks level by level, because what is too deep is too deep for recursion as well. */
function isDeeperThan(levels: number, value: unknown): boolean {
  let level = [value]
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > levels) return true
    level = level.filter(isObject).flatMap((inner) => Object.values(inner))
  }
  return false
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}
