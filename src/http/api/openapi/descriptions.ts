import type { ErrorCode, FieldProblem } from '../../../domain/errors.ts'
import { exampleMeta } from '../schemas/examples.ts'
import type { HeaderName } from './headers.ts'

export const requestIdParameter = {
  name: 'X-Request-Id',
  in: 'header',
  required: false,
  description: "An id of the client's choice for this request, used as it stands.",
  schema: { type: 'string', maxLength: 200, pattern: '^[\\x20-\\x7e]*$' },
  example: exampleMeta.requestId,
}

interface ErrorExample {
  description: string
  error: { message: string; details?: FieldProblem[] }
  extraHeaders: readonly HeaderName[]
}

/** What each error means and looks like. */
export const errorExamples: Record<ErrorCode, ErrorExample> = {
  invalid_request: {
    description:
      'The request could not be processed as sent: broken encoding, a method the path does not take, a body that is too large.',
    error: { message: 'The percent-encoding of the path is broken.' },
    extraHeaders: ['Allow'],
  },
  unauthorized: {
    description: 'The API key is missing, malformed, revoked or expired.',
    error: { message: 'This is not a valid API key.' },
    extraHeaders: ['WWW-Authenticate'],
  },
  forbidden: {
    description: 'The key is valid but lacks the scope, which the message names.',
    error: { message: 'This API key lacks the scope analytics:delete-data, which this request needs.' },
    extraHeaders: ['WWW-Authenticate'],
  },
  not_found: {
    description:
      "The resource does not exist, or the key's organisation cannot see it. The two look the same.",
    error: { message: 'This data subject does not exist, or your organisation cannot see it.' },
    extraHeaders: [],
  },
  validation_error: {
    description: 'A parameter failed validation; `details` has one entry for each field.',
    error: {
      message: 'Check limit: see details.',
      details: [{ field: 'limit', message: 'limit must be a whole number from 1 to 200' }],
    },
    extraHeaders: [],
  },
  rate_limited: {
    description: 'A budget is used up. The headers describe the one that refused.',
    error: { message: 'This API key has used up its requests. Try again in 42 seconds.' },
    extraHeaders: ['Retry-After'],
  },
  internal_error: {
    description: 'Something failed on the server. Try again; if it stays, quote the request id.',
    error: { message: 'Something went wrong on our side. Try again; if it stays, tell us the request id.' },
    extraHeaders: [],
  },
}
