import type { BudgetState } from '../domain/budget.ts'
import { LetheError } from '../domain/errors.ts'
import type { Instant } from '../domain/instant.ts'
import { metaOf } from './envelope.ts'
import { errorStatus } from './error-status.ts'
import { setRetryAfter } from './headers.ts'
import type { ApiRoute } from './route.ts'
import type { FailureBody } from './schemas/envelope.ts'

/** What a failed request is answered with, whoever writes the answer. */
export interface FailureAnswer {
  status: number
  headers: Record<string, string | number>
  body: FailureBody
}

export interface FailureContext {
  requestId: string
  now: Instant
  budget: BudgetState | null
  /** Whether the client sent a credential at all. */
  hasCredential: boolean
  route: ApiRoute | null
}

/** Turns whatever was thrown into the envelope. What is no `LetheError` says nothing of its cause. */
export function answerFailure(error: unknown, context: FailureContext): FailureAnswer {
  const known = error instanceof LetheError ? error : null
  const code = known?.code ?? 'internal_error'
  const message =
    known?.message ?? 'Something went wrong on our side. Try again; if it stays, tell us the request id.'
  const headers: FailureAnswer['headers'] = {}
  const carrier = { header: (name: string, value: string | number) => (headers[name] = value) }
  if (code === 'unauthorized') {
    headers['WWW-Authenticate'] =
      `Bearer realm="lethe"${context.hasCredential ? ', error="invalid_token"' : ''}`
  }
  if (code === 'forbidden') {
    headers['WWW-Authenticate'] = `Bearer error="insufficient_scope", scope="${context.route?.scope}"`
  }
  if (code === 'rate_limited' && context.budget) setRetryAfter(carrier, context.budget, context.now)
  return {
    status: errorStatus[code],
    headers,
    body: {
      error: { code, message, ...(known && known.details.length > 0 && { details: known.details }) },
      meta: metaOf(context.requestId, context.now),
    },
  }
}
