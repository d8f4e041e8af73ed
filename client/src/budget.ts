/** The state of a budget in a response. */
export interface Budget {
  /** `ip`, `key`, `erasure` or `variables`. */
  name: string
  limit: number
  windowMs: number
  remaining: number
  /** The time until its window resets. */
  resetsInMs: number
}

/** The budgets in the headers `RateLimit-Policy` and `RateLimit`; none if they are missing or invalid. */
export function readBudgets(headers: Headers): Budget[] {
  const states = new Map(readItems(headers.get('ratelimit')))
  return readItems(headers.get('ratelimit-policy')).flatMap(
    ([name, { q: limit = 0, w: windowSeconds = 0 }]) => {
      const { r: remaining, t: resetsInSeconds } = states.get(name) ?? {}
      if (limit < 1 || windowSeconds < 1 || remaining === undefined || resetsInSeconds === undefined)
        return []
      if (resetsInSeconds > windowSeconds + 1) return []
      return { name, limit, windowMs: windowSeconds * 1_000, remaining, resetsInMs: resetsInSeconds * 1_000 }
    },
  )
}

/** The time until all exhausted budgets reset; 0 if none is exhausted. */
export function exhaustedForMs(budgets: readonly Budget[]): number {
  return Math.max(
    0,
    ...budgets.filter(({ remaining }) => remaining === 0).map(({ resetsInMs }) => resetsInMs),
  )
}

/** Parses a list such as `"key";q=120;w=60, "erasure";q=60;w=3600` into names and integer parameters. */
function readItems(text: string | null): [name: string, parameters: Record<string, number>][] {
  return Array.from((text ?? '').matchAll(/"([^"\\]*)"([^",]*)/g), ([, name = '', rest = '']) => [
    name,
    Object.fromEntries(
      Array.from(rest.matchAll(/;\s*([a-z]+)=(\d{1,12})(?![\d.])/g), ([, parameter = '', value]) => [
        parameter,
        Number(value),
      ]),
    ),
  ])
}

/**
 * The wait from `Retry-After`, a number or a date, or else until exhausted budgets reset; `null` if unknown.
 */
export function readRetryAfter(headers: Headers, servedAt: number): number | null {
  const text = headers.get('retry-after')?.trim() ?? ''
  const seconds = integer(text)
  if (seconds !== null) return seconds * 1_000
  const date = httpDate.test(text) ? Date.parse(text) : Number.NaN
  if (!Number.isNaN(date)) return Math.max(0, date - servedAt)
  return exhaustedForMs(readBudgets(headers)) || null
}

/** The time of a response by the clock of its sender, so that a wrong local clock does not matter. */
export function servedAt(headers: Headers, timestamp: string | null, now: number): number {
  const instant = Date.parse(timestamp ?? headers.get('date') ?? '')
  return Number.isNaN(instant) ? now : instant
}

const httpDate = /^[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT$/

function integer(text: string | null): number | null {
  return text !== null && /^\d{1,12}$/.test(text.trim()) ? Number(text) : null
}
