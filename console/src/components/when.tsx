import { useEffect, useState } from 'preact/hooks'

const full = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' })
const exact = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' })
const dayOnly = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium' })
const calendarDay = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeZone: 'UTC' })
const relative = new Intl.RelativeTimeFormat(undefined, { numeric: 'always' })

const timeOnly = new Intl.DateTimeFormat(undefined, { timeStyle: 'medium' })

const shortTime = new Intl.DateTimeFormat(undefined, { timeStyle: 'short' })

const formats = { full, exact, day: dayOnly, time: shortTime }

interface WhenProps {
  /** `null` shows `none`. */
  at: string | null
  none?: string
}

/** An instant in the reader's locale and time zone, with UTC on hover. */
export function When({ at, as = 'full', none = 'never' }: WhenProps & { as?: keyof typeof formats }) {
  if (at === null) return <span class="muted">{none}</span>
  return (
    <time datetime={at} title={utc(at)}>
      {formats[as].format(new Date(at))}
    </time>
  )
}

/** The time of day of an instant, if the day is shown next to it. */
export function Time({ at }: { at: string }) {
  return (
    <time datetime={at} title={utc(at)}>
      {timeOnly.format(new Date(at))}
    </time>
  )
}

/** How far away an instant is, with the exact time on hover and on paper. Far away, it is the day. */
export function Ago({ at, none = 'never' }: WhenProps) {
  const text = useTicking(at, () => (at === null ? none : ago(new Date(at), Date.now())))
  if (at === null) return <span class="muted">{none}</span>
  const time = exact.format(new Date(at))
  return (
    <time class="ago" datetime={at} title={`${time} · ${utc(at)}`} data-exact={time}>
      <span>{text}</span>
    </time>
  )
}

/** From which day to which day, or how far away it was if that is one day. */
export function Days({ first, last }: { first: string | null; last: string | null }) {
  const days = [first, last].map((at) => at && dayOnly.format(new Date(at)))
  if (first === null || days[0] === days[1]) return <Ago at={last} />
  return (
    <>
      <When at={first} as="day" /> to <When at={last} as="day" />
    </>
  )
}

const tickMs = 10_000
const tickListeners = new Set<() => void>()
let ticking: number | undefined

/** A text about an instant that depends on the current time. One timer updates all of them. */
function useTicking(at: string | null, write: () => string): string {
  const text = write()
  const [, setText] = useState(text)
  useEffect(() => {
    // Renders only if the text is another one.
    const update = () => setText(write())
    tickListeners.add(update)
    ticking ??= setInterval(() => {
      for (const each of tickListeners) each()
    }, tickMs)
    return () => {
      tickListeners.delete(update)
      if (tickListeners.size > 0) return
      clearInterval(ticking)
      ticking = undefined
    }
  }, [at])
  return text
}

function utc(at: string): string {
  return `${at.slice(0, 10)} ${at.slice(11, 19)} UTC`
}

const units = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
] as const
/** Beyond this, the day says more than a number of months. */
const relativeMs = 30 * 86_400_000

function ago(time: Date, now: number): string {
  const ms = time.getTime() - now
  if (Math.abs(ms) >= relativeMs) return dayOnly.format(time)
  for (const [unit, length] of units) {
    if (Math.abs(ms) >= length) return relative.format(Math.trunc(ms / length), unit)
  }
  return ms > 0 ? 'in a moment' : 'just now'
}

/** A calendar day, independent of the reader's time zone. */
export function formatDay(day: string): string {
  return calendarDay.format(new Date(`${day}T00:00:00Z`))
}

/** Consecutive calendar days. */
export function formatDays(from: string, to: string): string {
  return from === to ? formatDay(from) : calendarDay.formatRange(Date.parse(from), Date.parse(to))
}

const numbers = new Intl.NumberFormat()

export function formatNumber(number: number): string {
  return numbers.format(number)
}

const shares = new Intl.NumberFormat(undefined, { style: 'percent' })

/** A part of a whole in percent. A small one is not rounded down to nothing. */
export function formatShare(share: number): string {
  return share < 0.005 ? `under ${shares.format(0.01)}` : shares.format(share)
}

const briefNumbers = new Intl.NumberFormat(undefined, { notation: 'compact', maximumFractionDigits: 2 })

/** A number in compact notation. */
export function formatCompact(number: number): string {
  return briefNumbers.format(number)
}

/** A number with its noun: 1 session, 2 sessions. */
export function counted(number: number, noun: string, plural = `${noun}s`): string {
  return `${formatNumber(number)} ${number === 1 ? noun : plural}`
}

/** A duration in one or two units. */
export function formatDuration(from: string, to: string): string {
  const seconds = Math.round((new Date(to).getTime() - new Date(from).getTime()) / 1_000)
  if (seconds < 60) return `${seconds} s`
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`
  return `${Math.floor(seconds / 3_600)} h ${Math.floor((seconds % 3_600) / 60)} min`
}
