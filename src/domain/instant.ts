import type { Problems } from './problems.ts'

/** A moment: whole milliseconds since 1970-01-01T00:00:00Z. */
export type Instant = number

/** Tells the time. Handed in wherever time matters, so that tests can hold it still. */
export type Clock = () => Instant

const isoInstant =
  /^(\d{4})-(\d{2})-(\d{2})T(\d{2}):(\d{2}):(\d{2})(?:\.(\d{1,9}))?(?:Z|([+-])(\d{2}):(\d{2}))$/

// What four digits of a year can write.
const earliest = Date.parse('0000-01-01T00:00:00.000Z')
const latest = Date.parse('9999-12-31T23:59:59.999Z')

/**
 * Reads an ISO 8601 instant: a date, a time to the second or finer, and `Z` or an offset. `null` for anything else, a date that is
 * not in the calendar included. What is finer than a millisecond is cut off.
 */
export function parseInstant(text: string): Instant | null {
  const match = isoInstant.exec(text)
  if (!match) return null
  const [
    ,
    year,
    month,
    day,
    hour,
    minute,
    second,
    fraction = '',
    sign,
    offsetHour = '0',
    offsetMinute = '0',
  ] = match
  const wallClock = `${year}-${month}-${day}T${hour}:${minute}:${second}.${fraction.slice(0, 3).padEnd(3, '0')}Z`
  const time = Date.parse(wallClock)
  // Date.parse lets 30 February roll over into March; the round trip shows it.
  if (Number.isNaN(time) || new Date(time).toISOString() !== wallClock) return null
  if (Number(offsetHour) > 23 || Number(offsetMinute) > 59) return null
  const offset = (Number(offsetHour) * 60 + Number(offsetMinute)) * 60_000
  const instant = sign === '-' ? time + offset : time - offset
  return instant < earliest || instant > latest ? null : instant
}

/** ISO 8601 in UTC with milliseconds. A page has a hundred instants, so this spares it a hundred `Date`s. */
export function formatInstant(instant: Instant): string {
  const day = Math.floor(instant / dayMs)
  const ms = instant - day * dayMs
  const hour = pairs[Math.floor(ms / 3_600_000)]
  const minute = pairs[Math.floor(ms / 60_000) % 60]
  const second = pairs[Math.floor(ms / 1_000) % 60]
  return `${formatDay(day)}T${hour}:${minute}:${second}.${String(ms % 1_000).padStart(3, '0')}Z`
}

const dayMs = 86_400_000
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

/** What an instant must look like, in words. */
export const instantRule = 'an ISO 8601 instant with a time zone, such as 2026-01-31T12:00:00Z'

/** The instant in a field of a request: `null` when there is none. What is no instant becomes a problem of the field. */
export function readInstant(field: string, text: string | undefined, problems: Problems): Instant | null {
  if (text === undefined) return null
  const instant = parseInstant(text)
  if (instant === null) problems.add(field, `${field} must be ${instantRule}`)
  return instant
}
