const full = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' })
const exact = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' })
const dayOnly = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium' })
const calendarDay = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeZone: 'UTC' })
const relative = new Intl.RelativeTimeFormat(undefined, { numeric: 'auto' })

const timeOnly = new Intl.DateTimeFormat(undefined, { timeStyle: 'medium' })

const formats = { full, exact, day: dayOnly }

/** An instant in the reader's locale and time zone, with UTC on hover. */
export function When({
  at,
  as = 'full',
  none = 'never',
}: {
  at: string | null
  as?: keyof typeof formats
  none?: string
}) {
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

/** How long ago an instant was, with UTC on hover. */
export function Ago({ at, none = 'never' }: { at: string | null; none?: string }) {
  if (at === null) return <span class="muted">{none}</span>
  return (
    <time datetime={at} title={utc(at)}>
      {ago(new Date(at).getTime() - Date.now())}
    </time>
  )
}

function utc(at: string): string {
  return `${at.slice(0, 10)} ${at.slice(11, 19)} UTC`
}

const units = [
  ['year', 31_557_600_000],
  ['month', 2_629_800_000],
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
] as const

function ago(ms: number): string {
  for (const [unit, length] of units) {
    if (Math.abs(ms) >= length) return relative.format(Math.trunc(ms / length), unit)
  }
  return 'just now'
}

/** A calendar day, independent of the reader's time zone. */
export function formatDay(day: string): string {
  return calendarDay.format(new Date(`${day}T00:00:00Z`))
}

const numbers = new Intl.NumberFormat()

export function formatNumber(number: number): string {
  return numbers.format(number)
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
