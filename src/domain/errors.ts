/** The only codes a client ever sees. Their HTTP statuses live in `http/error-status.ts`. */
export const errorCodes = [
  'invalid_request',
  'unauthorized',
  'forbidden',
  'not_found',
  'validation_error',
  'rate_limited',
  'internal_error',
] as const

export type ErrorCode = (typeof errorCodes)[number]

/** What is wrong with one field of a request. */
export interface FieldProblem {
  field: string
  message: string
}

/** A failure with a meaning: its message may be shown to whoever asked. Anything else thrown is a bug or a fault. */
export class LetheError extends Error {
  readonly code: ErrorCode
  readonly details: readonly FieldProblem[]
  /** How long to wait before another try, where that is not for a budget to say. */
  readonly retryAfterSeconds: number | null

  constructor(
    code: ErrorCode,
    message: string,
    details: readonly FieldProblem[] = [],
    options: ErrorOptions & { retryAfterSeconds?: number } = {},
  ) {
    // Nobody asks where an answer was decided, and to note it costs as much as all the rest of a refusal.
    const { stackTraceLimit } = Error
    Error.stackTraceLimit = 0
    super(message, options)
    Error.stackTraceLimit = stackTraceLimit
    this.name = 'LetheError'
    this.code = code
    this.details = details
    this.retryAfterSeconds = options.retryAfterSeconds ?? null
  }
}

export function notFound(what: string): LetheError {
  return new LetheError('not_found', `${what} does not exist, or your organisation cannot see it.`)
}

/** Too many are waiting already: whoever comes now fails immediately, and is not kept waiting for it. No budget is spent, so it is a fault. */
export function tooBusy(): Error {
  return new Error('The store has too much to do already.')
}

/** How many entries the details of an answer have at most. */
export const maxListed = 100

/** Gathers everything wrong with a request, so that a caller learns all of it together: one problem per field, the first one found. */
export class Problems {
  readonly #byField = new Map<string, string>()

  add(field: string, message: string): void {
    if (!this.#byField.has(field)) this.#byField.set(field, message)
  }

  /** Whether one of these fields has a problem. */
  has(...fields: readonly string[]): boolean {
    return fields.some((field) => this.#byField.has(field))
  }

  /** The first hundred of them at most; the last one then tells how many more there are. */
  list(): FieldProblem[] {
    const told = Array.from(this.#byField, ([field, message]) => ({ field, message })).slice(0, this.#told)
    const more = this.#byField.size - told.length
    return more === 0
      ? told
      : [...told, { field: 'details', message: `${more} more problems are not listed` }]
  }

  /** How many are told one by one. */
  get #told(): number {
    return this.#byField.size > maxListed ? maxListed - 1 : this.#byField.size
  }

  /** Throws a `validation_error` naming every field, or does nothing when there is no problem. */
  throwIfAny(): void {
    if (this.#byField.size === 0) return
    const fields = [...this.#byField.keys()].slice(0, this.#told).join(', ')
    const more = this.#byField.size - this.#told
    const others = more === 0 ? '' : ` and ${more} more`
    throw new LetheError('validation_error', `Check ${fields}${others}: see details.`, this.list())
  }
}

/** The one of `names` that takes the fewest changed, missing, added or swapped letters; the first of several. */
export function nearest(text: string, names: readonly string[]): string | null {
  let best: { name: string; distance: number } | null = null
  for (const name of names) {
    const distance = editDistance(text, name)
    if (best === null || distance < best.distance) best = { name, distance }
  }
  return best?.name ?? null
}

/** How many letters lie between two texts, two neighbours that changed places being one. */
function editDistance(a: string, b: string): number {
  let before: number[] = []
  let row = Array.from({ length: b.length + 1 }, (_, column) => column)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      const isSame = a[i - 1] === b[j - 1]
      const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      next[j] = Math.min(
        (row[j] ?? 0) + 1,
        (next[j - 1] ?? 0) + 1,
        (row[j - 1] ?? 0) + (isSame ? 0 : 1),
        isSwap ? (before[j - 2] ?? 0) + 1 : Number.POSITIVE_INFINITY,
      )
    }
    before = row
    row = next
  }
  return row[b.length] ?? 0
}
