import type { ApiBudgetName, Budget } from '../../../domain/budget.ts'
import type { ErrorCode, FieldProblem } from '../../../domain/errors.ts'
import { exampleMeta } from '../examples.ts'

const requestIdHeader = { 'X-Request-Id': { $ref: '#/components/headers/X-Request-Id' } }

const documentHeaders = {
  ...requestIdHeader,
  ETag: { $ref: '#/components/headers/ETag' },
  'Access-Control-Allow-Origin': { $ref: '#/components/headers/Access-Control-Allow-Origin' },
}

/** The operations that need no key and carry no rate-limit headers. */
export const publicOperations = {
  '/v1/analytics/openapi.json': {
    get: {
      operationId: 'readOpenApiDocument',
      tags: ['Service'],
      summary: 'Read this document',
      description:
        'Public and unmetered: it needs no key, counts against no budget and carries no rate-limit headers.',
      security: [],
      responses: {
        200: {
          description: 'The OpenAPI 3.1 document of the API, itself not in the envelope.',
          headers: documentHeaders,
          content: {
            'application/json': {
              schema: {
                title: 'OpenApiDocument',
                type: 'object',
                properties: {},
                additionalProperties: true,
              },
              example: { openapi: '3.1.0', info: { title: 'Lethe management API', version: '1.0.0' } },
            },
          },
        },
        304: { description: 'It is still the one that `If-None-Match` names.', headers: documentHeaders },
        400: { $ref: '#/components/responses/invalid_request' },
        500: { $ref: '#/components/responses/internal_error' },
      },
    },
  },
  '/healthz': {
    get: probe({
      operationId: 'checkHealth',
      envelope: 'HealthEnvelope',
      summary: 'Tell whether the process lives',
      description: 'Public and unmetered.',
      properties: { status: { type: 'string', const: 'ok' } },
      example: { status: 'ok' },
    }),
  },
  '/readyz': {
    get: probe({
      operationId: 'checkReadiness',
      envelope: 'ReadinessEnvelope',
      summary: 'Tell whether the store answers',
      description:
        'Public and unmetered. A store that does not answer within two seconds is a 500 whose message names it. Without its limiter the service is ready all the same: each process counts for itself until it is back.',
      properties: {
        status: { type: 'string', const: 'ready' },
        parts: {
          type: 'object',
          required: ['store', 'limiter'],
          properties: {
            store: { type: 'string', const: 'ok' },
            limiter: { type: 'string', enum: ['ok', 'unreachable'] },
          },
        },
      },
      example: { status: 'ready', parts: { store: 'ok', limiter: 'ok' } },
    }),
  },
}

interface Probe {
  operationId: string
  /** The name of its answer's schema. */
  envelope: string
  summary: string
  description: string
  /** The fields of its `data`, all of them always there. */
  properties: Record<string, unknown>
  example: Record<string, unknown>
}

function probe({ operationId, envelope, summary, description, properties, example }: Probe) {
  const schema = {
    title: envelope,
    type: 'object',
    required: ['data', 'meta'],
    properties: {
      data: { type: 'object', required: Object.keys(properties), properties },
      meta: { $ref: '#/components/schemas/Meta' },
    },
  }
  return {
    operationId,
    tags: ['Service'],
    summary,
    description,
    security: [],
    responses: {
      200: {
        description: 'It does.',
        headers: requestIdHeader,
        content: { 'application/json': { schema, example: { data: example, meta: exampleMeta } } },
      },
      400: { $ref: '#/components/responses/invalid_request' },
      500: { $ref: '#/components/responses/internal_error' },
    },
  }
}

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

type HeaderName = keyof ReturnType<typeof headers>

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
    description: 'Something failed on the server. Try again. If it keeps happening, report the request ID.',
    error: {
      message: 'Something went wrong on our side. Try again. If it keeps happening, report this request ID.',
    },
    extraHeaders: [],
  },
}
