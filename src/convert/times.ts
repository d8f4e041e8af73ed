import { earliestInstant, type Instant, latestInstant, parseInstant } from '../domain/instant.ts'
import { UnusableRecord } from './format.ts'

const time = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d)(:\d\d)?([.,]\d{1,9})?)?\s?(Z|UTC|[+-]\d\d(?::?\d\d)?)?$/

/**
 * Parses a time as exports write it: ISO 8601, or with a space between date and time. A time without a zone
 * is UTC, a date alone is its first instant. Throws `UnusableRecord` for anything else.
 */
export function readTime(value: unknown, field: string): Instant {
  if (value === undefined || value === null || value === '') throw new UnusableRecord(`${field} is missing`)
  const match = typeof value === 'string' ? time.exec(value.trim()) : null
  if (match === null) throw notATime(field)
  const [, day = '', minutes = '00:00', seconds = ':00', fraction = '', zone = 'Z'] = match
  const instant = parseInstant(`${day}T${minutes}${seconds}${fraction.replace(',', '.')}${isoZone(zone)}`)
  if (instant === null) throw notATime(field)
  return instant
}

/** Parses a Unix time: a number, or a text with one, in units of `unitMs`. */
export function readUnixTime(value: unknown, field: string, unitMs: number): Instant {
  if (value === undefined || value === null || value === '') throw new UnusableRecord(`${field} is missing`)
  const number = typeof value === 'string' && /^-?\d{1,20}(?:\.\d+)?$/.test(value) ? Number(value) : value
  if (typeof number !== 'number' || !Number.isFinite(number)) throw notATime(field)
  const instant = Math.floor(number * unitMs)
  if (instant < earliestInstant || instant > latestInstant) throw notATime(field)
  return instant
}

function isoZone(zone: string): string {
  if (zone === 'Z' || zone === 'UTC') return 'Z'
  const digits = zone.slice(1).replace(':', '').padEnd(4, '0')
  return `${zone[0]}${digits.slice(0, 2)}:${digits.slice(2)}`
}

function notATime(field: string): UnusableRecord {
  return new UnusableRecord(`${field} is not a time`)
}
