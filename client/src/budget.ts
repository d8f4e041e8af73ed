/** What an answer says of the budget that runs out first. */
export interface Budget {
  limit: number
  remaining: number
  /** How long its window still lasts. */
  resetsInMs: number
}

/** No window is longer. What says otherwise is not a time, or not of this clock. */
const longestWindowMs = 86_400_000 + 60_000

/** The budget in the headers of an answer that was made at `servedAt`; `null` when they say nothing that makes sense. */
export function readBudget(headers: Headers, servedAt: number): Budget | null {
  const limit = integer(headers.get('x-ratelimit-limit'))
  const remaining = integer(headers.get('x-ratelimit-remaining'))
  const reset = integer(headers.get('x-ratelimit-reset'))
  if (limit === null || limit < 1 || remaining === null || reset === null) return null
  const resetsInMs = Math.max(0, reset * 1_000 - servedAt)
  return resetsInMs > longestWindowMs ? null : { limit, remaining, resetsInMs }
}

/** How long to wait by `Retry-After`, in seconds or as a date, or else until the budget is full again; `null` when nothing says. */
export function readRetryAfter(headers: Headers, servedAt: number): number | null {
  const text = headers.get('retry-after')?.trim() ?? ''
  const seconds = integer(text)
  if (seconds !== null) return seconds * 1_000
  const date = httpDate.test(text) ? Date.parse(text) : Number.NaN
  if (!Number.isNaN(date)) return Math.max(0, date - servedAt)
  const budget = readBudget(headers, servedAt)
  return budget?.remaining === 0 ? budget.resetsInMs : null
}

/** When an answer was made, by the clock of whoever made it: what it names is then right whatever our own clock says. */
export function servedAt(headers: Headers, timestamp: string | null, now: number): number {
  const instant = Date.parse(timestamp ?? headers.get('date') ?? '')
  return Number.isNaN(instant) ? now : instant
}

const httpDate = /^[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT$/

function integer(text: string | null): number | null {
  return text !== null && /^\d{1,12}$/.test(text.trim()) ? Number(text) : null
}
