import type { BudgetState } from '../domain/budget.ts'
import { LetheError } from '../domain/errors.ts'
import type { Instant } from '../domain/instant.ts'
import { metaOf } from './envelope.ts'
import { errorStatus } from './error-status.ts'
import { commonHeaders, type HeaderList, retryAfter } from './headers.ts'
import type { FailureBody } from './schemas/envelope.ts'

/** What a failed request is answered with, whoever writes the answer. */
export interface FailureAnswer {
  status: number
  headers: HeaderList
  body: FailureBody
}

export interface FailureContext {
  requestId: string
  now: Instant
  budget: BudgetState | null
  /** Whether the client sent a credential at all. */
  hasCredential: boolean
  /** Whether it is at the console, where no key would help. */
  isConsole?: boolean
  /** The scope that the request's route needs. */
  scope?: string | undefined
  /** The methods that the request's path takes, where its method is the failure. */
  allow?: string | null
}

/** Turns whatever was thrown into the envelope. What is no `LetheError` says nothing of its cause. */
export function answerFailure(error: unknown, context: FailureContext): FailureAnswer {
  const known = error instanceof LetheError ? error : null
  const code = known?.code ?? 'internal_error'
  const message =
    known?.message ?? 'Something went wrong on our side. Try again; if it stays, tell us the request id.'
  const { requestId, budget, now, hasCredential, isConsole, scope, allow } = context
  const headers = commonHeaders(requestId, budget)
  if (code === 'unauthorized' && !isConsole) {
    headers.push('WWW-Authenticate', `Bearer realm="lethe"${hasCredential ? ', error="invalid_token"' : ''}`)
  }
  if (code === 'forbidden' && !isConsole) {
    headers.push('WWW-Authenticate', `Bearer error="insufficient_scope", scope="${scope}"`)
  }
  const wait = known?.retryAfterSeconds ?? (budget && retryAfter(budget))
  if (code === 'rate_limited' && wait !== null) headers.push('Retry-After', wait)
  if (allow) headers.push('Allow', allow)
  return {
    status: errorStatus[code],
    headers,
    body: {
      error: { code, message, ...(known && known.details.length > 0 && { details: known.details }) },
      meta: metaOf(requestId, now),
    },
  }
}
