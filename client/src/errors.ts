import type { Failure, FieldProblem } from './api.ts'

/** The codes of the service, which are all it ever answers with. */
export type ErrorCode = Failure['error']['code']

/** What every error of this client has. Its message never holds a key or the id of a data subject. */
export abstract class ClientError extends Error {
  /** What to quote to whoever runs the service; `null` when no answer came and the caller chose none. */
  readonly requestId: string | null
  /** How long the service asks to wait before the next attempt, where it does. */
  readonly retryAfterMs: number | null
  /** Whether the request may have been carried out all the same. */
  abstract readonly isOutcomeUnknown: boolean
  /** Whether sending the same request again may help. */
  abstract readonly isWorthRepeating: boolean

  constructor(
    message: string,
    requestId: string | null,
    { cause, retryAfterMs = null }: { cause?: unknown; retryAfterMs?: number | null } = {},
  ) {
    super(message, cause === undefined ? {} : { cause })
    this.name = new.target.name
    this.requestId = requestId
    this.retryAfterMs = retryAfterMs
  }
}

/** The service refused the request or failed at it, and said so. */
export class ApiError extends ClientError {
  readonly code: ErrorCode
  readonly status: number
  /** What is wrong with each field; empty unless the code is `validation_error`. */
  readonly details: readonly FieldProblem[]
  readonly isOutcomeUnknown: boolean
  readonly isWorthRepeating: boolean

  constructor(status: number, { error, meta }: Failure, retryAfterMs: number | null = null) {
    super(error.message, meta.requestId, { retryAfterMs })
    this.code = error.code
    this.status = status
    this.details = error.details ?? []
    this.isOutcomeUnknown = error.code === 'internal_error'
    this.isWorthRepeating = error.code === 'internal_error' || error.code === 'rate_limited'
  }
}

/** No whole answer came: refused, reset, broken off. */
export class ConnectionError extends ClientError {
  /** What the runtime says of it: a code such as `ECONNREFUSED` where it has one. */
  readonly reason: string
  readonly isOutcomeUnknown = true
  readonly isWorthRepeating = true

  constructor(reason: string, requestId: string | null, cause?: unknown) {
    super(`No whole answer came: ${reason}.`, requestId, { cause })
    this.reason = reason
  }
}

/** No whole answer came in time. */
export class TimeoutError extends ClientError {
  readonly isOutcomeUnknown = true
  readonly isWorthRepeating = true
}

const statusesOfProxiesInTrouble = [429, 500, 502, 503, 504]

/** Something answered, but not as Lethe does: a proxy, a redirect, another service at this address. */
export class UnexpectedAnswerError extends ClientError {
  readonly status: number
  readonly isOutcomeUnknown: boolean
  readonly isWorthRepeating: boolean

  constructor(status: number, message: string, requestId: string | null, retryAfterMs: number | null = null) {
    super(message, requestId, { retryAfterMs })
    this.status = status
    this.isOutcomeUnknown = status !== 429
    this.isWorthRepeating = statusesOfProxiesInTrouble.includes(status)
  }
}

/** A journal that cannot be used: of another batch, damaged, or written by a newer version. */
export class JournalError extends Error {
  override name = 'JournalError'
}
