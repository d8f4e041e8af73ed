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
