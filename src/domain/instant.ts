import type { Problems } from './errors.ts'

/** Milliseconds since 1970-01-01T00:00:00Z. */
export type Instant = number

/** The current time, injected so that tests can control it. */
export type Clock = () => Instant

export const dayMs = 86_400_000

/** In UTC. */
export function startOfDay(instant: Instant): Instant {
  return Math.floor(instant / dayMs) * dayMs
}

export const instantRule = 'an ISO 8601 instant with a time zone, such as 2026-01-31T12:00:00Z'

const isoInstant = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/

/** Years have four digits. */
export const earliestInstant: Instant = Date.parse('0000-01-01T00:00:00.000Z')
export const latestInstant: Instant = Date.parse('9999-12-31T23:59:59.999Z')

// `Date.UTC` reads the years 0 to 99 as 1900 to 1999, so dates are computed one calendar cycle later.
const cycleYears = 400
const cycleMs = 146_097 * dayMs

/**
 * Parses an ISO 8601 instant with seconds and `Z` or an offset; `null` for anything else, including invalid
 * dates. Truncates to milliseconds. Uses arithmetic because an import parses millions.
 */
export function parseInstant(text: unknown): Instant | null {
  if (typeof text !== 'string' || !isoInstant.test(text)) return null
  const year = pair(text, 0) * 100 + pair(text, 2)
  const month = pair(text, 5)
  const day = pair(text, 8)
  const hour = pair(text, 11)
  const minute = pair(text, 14)
  const second = pair(text, 17)
  if (day < 1 || day > daysOf(year, month) || hour > 23 || minute > 59 || second > 59) return null
  const ms = milliseconds(text)
  const time = Date.UTC(year + cycleYears, month - 1, day, hour, minute, second, ms) - cycleMs
  if (text.endsWith('Z')) return time
  const zone = text.length - '+00:00'.length
  const offsetHour = pair(text, zone + 1)
  const offsetMinute = pair(text, zone + 4)
  if (offsetHour > 23 || offsetMinute > 59) return null
  const offset = (offsetHour * 60 + offsetMinute) * 60_000
  const instant = text.charAt(zone) === '-' ? time + offset : time - offset
  return instant < earliestInstant || instant > latestInstant ? null : instant
}

function digit(text: string, at: number): number {
  return text.charCodeAt(at) - 48
}

function pair(text: string, at: number): number {
  return digit(text, at) * 10 + digit(text, at + 1)
}

/** The first three digits of the fraction, which starts after the seconds. */
function milliseconds(text: string): number {
  if (text.charAt(19) !== '.') return 0
  let ms = 0
  for (let at = 20, unit = 100; unit >= 1; at++, unit /= 10) {
    const value = digit(text, at)
    if (value < 0 || value > 9) break
    ms += value * unit
  }
  return ms
}

const monthDays = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]

/** 0 for an invalid month. */
function daysOf(year: number, month: number): number {
  const isLeapYear = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0)
  return month === 2 && isLeapYear ? 29 : (monthDays[month - 1] ?? 0)
}

/** The same day and time, this many months later; the last day of that month if it has no such day. */
export function addMonths(instant: Instant, months: number): Instant {
  const date = new Date(instant)
  const day = date.getUTCDate()
  date.setUTCDate(1)
  date.setUTCMonth(date.getUTCMonth() + months)
  date.setUTCDate(Math.min(day, daysOf(date.getUTCFullYear(), date.getUTCMonth() + 1)))
  return date.getTime()
}

/** ISO 8601 in UTC with milliseconds. Faster than `Date`, since a page contains hundreds of instants. */
export function formatInstant(instant: Instant): string {
  const day = Math.floor(instant / dayMs)
  const ms = instant - day * dayMs
  const hour = pairs[Math.floor(ms / 3_600_000)]
  const minute = pairs[Math.floor(ms / 60_000) % 60]
  const second = pairs[Math.floor(ms / 1_000) % 60]
  return `${formatDay(day)}T${hour}:${minute}:${second}.${String(ms % 1_000).padStart(3, '0')}Z`
}

export function formatInstantOrNull(instant: Instant | null): string | null {
  return instant === null ? null : formatInstant(instant)
}

const pairs = Array.from({ length: 60 }, (_, number) => String(number).padStart(2, '0'))
const knownDays = new Map<number, string>()

function formatDay(day: number): string {
  const known = knownDays.get(day)
  if (known !== undefined) return known
  if (knownDays.size > 4_000) knownDays.clear()
  const text = new Date(day * dayMs).toISOString().slice(0, 10)
  knownDays.set(day, text)
  return text
}

/** Parses a request's field; `null` if absent or invalid, in which case a problem is added. */
export function readInstant(field: string, text: string | undefined, problems: Problems): Instant | null {
  if (text === undefined) return null
  const instant = parseInstant(text)
  if (instant === null) problems.add(field, `${field} must be ${instantRule}`)
  return instant
}
