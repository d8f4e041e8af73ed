import type { ApiBudgetName, Budget } from '../../../domain/budget.ts'
import { exampleMeta } from '../schemas/examples.ts'

export const budgetHeaders = [
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
  'RateLimit-Policy',
  'RateLimit',
] as const

const largest = Number.MAX_SAFE_INTEGER

/** Every header an answer may carry beyond HTTP's own, with the budgets of the service in the examples. */
export function headers({ ip, key }: Record<ApiBudgetName, Budget>) {
  const seconds = ({ windowMs }: Budget) => windowMs / 1_000
  const policy = [ip, key].map((each) => `"${each.name}";q=${each.limit};w=${seconds(each)}`).join(', ')
  const left = [ip, key].map((each) => `"${each.name}";r=${each.limit - 1};t=${seconds(each)}`).join(', ')
  return {
    'X-Request-Id': {
      description: "The request's id: the client's own, or a UUID made for it. The same as `meta.requestId`.",
      required: true,
      schema: { type: 'string', maxLength: 200, pattern: '^[\\x20-\\x7e]+$' },
      example: exampleMeta.requestId,
    },
    'X-RateLimit-Limit': {
      description: 'How many requests the budget that runs out first allows in its window.',
      schema: { type: 'integer', format: 'int64', minimum: 1, maximum: largest },
      example: ip.limit,
    },
    'X-RateLimit-Remaining': {
      description:
        'How many of them are left. A client that stops at 0 and waits for the reset never sees a 429.',
      schema: { type: 'integer', format: 'int64', minimum: 0, maximum: largest },
      example: ip.limit - 1,
    },
    'X-RateLimit-Reset': {
      description: 'When the window resets, as a Unix timestamp in seconds.',
      schema: { type: 'integer', format: 'int64', minimum: 0, maximum: largest },
      example: Date.parse(exampleMeta.timestamp) / 1_000 + seconds(ip),
    },
    'RateLimit-Policy': {
      description:
        'Every budget that this request was counted in, as the IETF draft has it: `ip`, `key` and, on an erasure, `erasure`, with its requests (`q`) in so many seconds (`w`).',
      schema: { type: 'string', maxLength: 1_000, pattern: '^"ip";q=' },
      example: policy,
    },
    RateLimit: {
      description: 'What is left of each (`r`), and the seconds until it is full again (`t`).',
      schema: { type: 'string', maxLength: 1_000, pattern: '^"ip";r=' },
      example: left,
    },
    ETag: {
      description: 'Changes with the document. Sent back in `If-None-Match`, it spares the body.',
      required: true,
      schema: { type: 'string', maxLength: 100, pattern: '^W/"[0-9a-f]+"$' },
      example: 'W/"6f8b2c1e5a0d4a579b7e0c2f6d1f7a34"',
    },
    'Access-Control-Allow-Origin': {
      description: 'Pages of any site may read the document, such as tools that show it.',
      required: true,
      schema: { type: 'string', const: '*' },
      example: '*',
    },
    'Retry-After': {
      description: 'How many seconds to wait before the next try.',
      required: true,
      schema: { type: 'integer', format: 'int64', minimum: 1, maximum: largest },
      example: 12,
    },
    'WWW-Authenticate': {
      description: 'Which credential is wanted, and what is wrong with the one that was sent.',
      required: true,
      schema: { type: 'string', maxLength: 1_000, pattern: '^Bearer ' },
      example: 'Bearer realm="lethe", error="invalid_token"',
    },
    Allow: {
      description: 'The methods that the path takes, where the method was what was wrong.',
      schema: { type: 'string', maxLength: 100, pattern: '^[A-Z]+(, [A-Z]+)*$' },
      example: 'GET, HEAD',
    },
  } as const
}

export type HeaderName = keyof ReturnType<typeof headers>
