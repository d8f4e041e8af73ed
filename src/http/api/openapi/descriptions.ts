import type { ErrorCode, FieldProblem } from '../../../domain/errors.ts'

export const exampleMeta = {
  requestId: '6f8b2c1e-5a0d-4a57-9b7e-0c2f6d1f7a34',
  timestamp: '2026-11-15T09:30:00.000Z',
}

export const requestIdParameter = {
  name: 'X-Request-Id',
  in: 'header',
  required: false,
  description: "An id of the client's choice for this request, used as it stands.",
  schema: { type: 'string', maxLength: 200, pattern: '^[\\x20-\\x7e]*$' },
}

export const budgetHeaders = [
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
  'RateLimit-Policy',
  'RateLimit',
] as const

/** Every header an answer may carry beyond HTTP's own. */
export const headers = {
  'X-Request-Id': {
    description: "The request's id: the client's own, or a UUID made for it. The same as `meta.requestId`.",
    required: true,
    schema: { type: 'string' },
  },
  'X-RateLimit-Limit': {
    description: 'How many requests the budget that runs out first allows in its window.',
    schema: { type: 'integer', minimum: 1 },
  },
  'X-RateLimit-Remaining': {
    description:
      'How many of them are left. A client that stops at 0 and waits for the reset never sees a 429.',
    schema: { type: 'integer', minimum: 0 },
  },
  'X-RateLimit-Reset': {
    description: 'When the window resets, as a Unix timestamp in seconds.',
    schema: { type: 'integer' },
  },
  'RateLimit-Policy': {
    description:
      'Every budget that this request was counted in, as the IETF draft has it: `ip`, `key` and, on an erasure, `erasure`, with its requests (`q`) in so many seconds (`w`).',
    schema: { type: 'string', examples: ['"ip";q=60;w=60, "key";q=120;w=60'] },
  },
  RateLimit: {
    description: 'What is left of each (`r`), and the seconds until it is full again (`t`).',
    schema: { type: 'string', examples: ['"ip";r=59;t=60, "key";r=119;t=60'] },
  },
  ETag: {
    description: 'Changes with the document. Sent back in `If-None-Match`, it spares the body.',
    required: true,
    schema: { type: 'string' },
  },
  'Retry-After': {
    description: 'How many seconds to wait before the next try.',
    required: true,
    schema: { type: 'integer', minimum: 1 },
  },
  'WWW-Authenticate': {
    description: 'Which credential is wanted, and what is wrong with the one that was sent.',
    required: true,
    schema: { type: 'string' },
  },
  Allow: {
    description: 'The methods that the path takes, where the method was what was wrong.',
    schema: { type: 'string' },
  },
} as const

export type HeaderName = keyof typeof headers

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
    error: { message: 'This API key has used up its requests. Wait as many seconds as Retry-After says.' },
    extraHeaders: ['Retry-After'],
  },
  internal_error: {
    description: 'Something failed on the server. Try again; if it stays, quote the request id.',
    error: { message: 'Something went wrong on our side. Try again; if it stays, tell us the request id.' },
    extraHeaders: [],
  },
}
