/** The only codes that a client sees. `http/response.ts` maps them to HTTP statuses. */
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

export interface FieldProblem {
  field: string
  message: string
}

/** An expected failure, whose message may be shown to the caller. Any other error is a bug or a fault. */
export class LetheError extends Error {
  readonly code: ErrorCode
  readonly details: readonly FieldProblem[]
  /** Set if the failure is temporary and no budget determines the wait. */
  readonly retryAfterSeconds: number | null

  constructor(
    code: ErrorCode,
    message: string,
    details: readonly FieldProblem[] = [],
    options: ErrorOptions & { retryAfterSeconds?: number } = {},
  ) {
    // Nobody needs the stack of an expected failure, and capturing it costs as much as the rest of a refusal.
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

/** A `validation_error` of one field. */
export function invalidField(field: string, message: string): LetheError {
  return new LetheError('validation_error', `Check ${field}: see details.`, [{ field, message }])
}

/** A full queue. It is a fault rather than a refusal, because the caller exceeded no budget. */
export function tooBusy(): Error {
  return new Error('The store is overloaded.')
}

export const maxProblems = 100

/** Collects the problems of a request so that the caller sees all: one per field, the first one found. */
export class Problems {
  readonly #byField = new Map<string, string>()

  add(field: string, message: string): void {
    if (!this.#byField.has(field)) this.#byField.set(field, message)
  }

  has(...fields: readonly string[]): boolean {
    return fields.some((field) => this.#byField.has(field))
  }

  /** At most `maxProblems` entries; the last one then says how many are missing. */
  list(): FieldProblem[] {
    const listed = Array.from(this.#byField, ([field, message]) => ({ field, message })).slice(
      0,
      this.#listed,
    )
    const more = this.#byField.size - listed.length
    return more === 0
      ? listed
      : [...listed, { field: 'details', message: `${more} more problems are not listed` }]
  }

  get #listed(): number {
    return this.#byField.size > maxProblems ? maxProblems - 1 : this.#byField.size
  }

  /** Throws a `validation_error` that names every field with a problem. */
  throwIfAny(): void {
    if (this.#byField.size === 0) return
    const fields = [...this.#byField.keys()].slice(0, this.#listed).join(', ')
    const more = this.#byField.size - this.#listed
    const others = more === 0 ? '' : ` and ${more} more`
    throw new LetheError('validation_error', `Check ${fields}${others}: see details.`, this.list())
  }
}

/** The name with the smallest edit distance; the first one on a tie. */
export function nearest(text: string, names: readonly string[]): string | null {
  let best: { name: string; distance: number } | null = null
  for (const name of names) {
    const distance = editDistance(text, name)
    if (best === null || distance < best.distance) best = { name, distance }
  }
  return best?.name ?? null
}

/** Counts insertions, deletions, substitutions and swaps of neighbours. */
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
