import type { Failure, FieldProblem } from './api.ts'

/** All error codes of the service. */
export type ErrorCode = Failure['error']['code']

/** The base of all errors of this client. Messages never contain a key or the ID of a data subject. */
export abstract class ClientError extends Error {
  /** The ID to report to the operator; `null` without a response, unless the caller chose one. */
  readonly requestId: string | null
  /** How long to wait before the next attempt, if the service says so. */
  readonly retryAfterMs: number | null
  /** Whether the request may have been carried out nevertheless. */
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

/** An error response of the service. */
export class ApiError extends ClientError {
  readonly code: ErrorCode
  readonly status: number
  /** The invalid fields; empty unless the code is `validation_error`. */
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

/** There was no complete response: the connection was refused, reset or closed early. */
export class ConnectionError extends ClientError {
  /** The runtime's error code, such as `ECONNREFUSED`, or a description. */
  readonly reason: string
  readonly isOutcomeUnknown = true
  readonly isWorthRepeating = true

  constructor(reason: string, requestId: string | null, cause?: unknown) {
    super(`No complete response was received: ${reason}.`, requestId, { cause })
    this.reason = reason
  }
}

/** There was no complete response in time. */
export class TimeoutError extends ClientError {
  readonly isOutcomeUnknown = true
  readonly isWorthRepeating = true
}

const temporaryStatuses = [429, 500, 502, 503, 504]

/** A response that is not from Lethe: from a proxy, a redirect, or another service at this address. */
export class UnexpectedAnswerError extends ClientError {
  readonly status: number
  readonly isOutcomeUnknown: boolean
  readonly isWorthRepeating: boolean

  constructor(status: number, message: string, requestId: string | null, retryAfterMs: number | null = null) {
    super(message, requestId, { retryAfterMs })
    this.status = status
    this.isOutcomeUnknown = status !== 429
    this.isWorthRepeating = temporaryStatuses.includes(status)
  }
}
