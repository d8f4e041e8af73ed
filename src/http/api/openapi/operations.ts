import type { Budget } from '../../../domain/budget.ts'
import type { ErrorCode, FieldProblem } from '../../../domain/errors.ts'
import { exampleMeta } from '../examples.ts'

const requestIdHeader = { 'X-Request-Id': { $ref: '#/components/headers/X-Request-Id' } }

const documentHeaders = {
  ...requestIdHeader,
  ETag: { $ref: '#/components/headers/ETag' },
  'Access-Control-Allow-Origin': { $ref: '#/components/headers/Access-Control-Allow-Origin' },
}

/** The operation that reads the document of a service: public, without rate-limit headers. */
export function documentOperation(operationId: string, tag: string, title: string, summary: string) {
  return {
    get: {
      operationId,
      tags: [tag],
      summary,
      description:
        'Public and unmetered: it needs no key, counts against no budget and has no rate-limit headers.',
      security: [],
      responses: {
        200: {
          description: 'The OpenAPI 3.1 document of the API, without the envelope.',
          headers: documentHeaders,
          content: {
            'application/json': {
              schema: {
                title: 'OpenApiDocument',
                type: 'object',
                properties: {},
                additionalProperties: true,
              },
              example: { openapi: '3.1.0', info: { title, version: '1.0.0' } },
            },
          },
        },
        304: {
          description: 'The document has not changed since the one in `If-None-Match`.',
          headers: documentHeaders,
        },
        400: { $ref: '#/components/responses/invalid_request' },
        500: { $ref: '#/components/responses/internal_error' },
      },
    },
  }
}

/** The operations without a key and without rate-limit headers. */
export const publicOperations = {
  '/v1/analytics/openapi.json': documentOperation(
    ...(['readOpenApiDocument', 'Service', 'Lethe management API', 'Read this document'] as const),
  ),
  '/healthz': {
    get: probe({
      operationId: 'checkHealth',
      envelope: 'HealthEnvelope',
      summary: 'Check whether the process is alive',
      description: 'Public and unmetered.',
      properties: { status: { type: 'string', const: 'ok' } },
      example: { status: 'ok' },
    }),
  },
  '/readyz': {
    get: probe({
      operationId: 'checkReadiness',
      envelope: 'ReadinessEnvelope',
      summary: 'Check whether the store responds',
      description:
        'Public and unmetered. If the store does not respond within two seconds, the response is a 500 that says so. Without its shared limiter the service is still ready: each process counts for itself until the limiter is back.',
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
  /** The name of the response schema. */
  envelope: string
  summary: string
  description: string
  /** The fields of `data`, all required. */
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
        description: 'The check passed.',
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

/** Every response header besides those of HTTP, with the budgets of a request in the examples. */
export function headers(budgets: readonly [ip: Budget, other: Budget]) {
  const [ip] = budgets
  const seconds = ({ windowMs }: Budget) => windowMs / 1_000
  const policy = budgets.map((each) => `"${each.name}";q=${each.limit};w=${seconds(each)}`).join(', ')
  const left = budgets.map((each) => `"${each.name}";r=${each.limit - 1};t=${seconds(each)}`).join(', ')
  return {
    'X-Request-Id': {
      description:
        "The ID of the request: the client's own, or a generated UUID. The same as `meta.requestId`.",
      required: true,
      schema: { type: 'string', maxLength: 200, pattern: '^[\\x20-\\x7e]+$' },
      example: exampleMeta.requestId,
    },
    'X-RateLimit-Limit': {
      description: 'The number of requests that the budget that runs out first allows per window.',
      schema: { type: 'integer', format: 'int64', minimum: 1, maximum: largest },
      example: ip.limit,
    },
    'X-RateLimit-Remaining': {
      description:
        'The number of requests left. A client that stops at 0 and waits for the reset never receives a 429.',
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
        'Every budget that this request counted against, in the format of the IETF draft: `ip`, `key` and, for an erasure, `erasure`, with its requests (`q`) per window in seconds (`w`).',
      schema: { type: 'string', maxLength: 1_000, pattern: '^"ip";q=' },
      example: policy,
    },
    RateLimit: {
      description: 'The requests left in each budget (`r`), and the seconds until it resets (`t`).',
      schema: { type: 'string', maxLength: 1_000, pattern: '^"ip";r=' },
      example: left,
    },
    ETag: {
      description:
        'Changes with the document. Send it in `If-None-Match` to avoid downloading the document again.',
      required: true,
      schema: { type: 'string', maxLength: 100, pattern: '^W/"[0-9a-f]+"$' },
      example: 'W/"6f8b2c1e5a0d4a579b7e0c2f6d1f7a34"',
    },
    'Access-Control-Allow-Origin': {
      description: 'Lets pages of any origin, such as API tools, read the document.',
      required: true,
      schema: { type: 'string', const: '*' },
      example: '*',
    },
    'Retry-After': {
      description: 'The seconds to wait before the next attempt.',
      required: true,
      schema: { type: 'integer', format: 'int64', minimum: 1, maximum: largest },
      example: 12,
    },
    'WWW-Authenticate': {
      description: 'The required credential, and what is wrong with the one that was sent.',
      required: true,
      schema: { type: 'string', maxLength: 1_000, pattern: '^Bearer ' },
      example: 'Bearer realm="lethe", error="invalid_token"',
    },
    Allow: {
      description: 'The methods that the path supports, if the method was wrong.',
      schema: { type: 'string', maxLength: 100, pattern: '^[A-Z]+(, [A-Z]+)*$' },
      example: 'GET, HEAD',
    },
  } as const
}

type HeaderName = keyof ReturnType<typeof headers>

/** The headers of a response that is a file. */
export const fileHeaders = {
  'Content-Disposition': {
    description: 'A name for the file.',
    required: true,
    schema: { type: 'string', maxLength: 100, pattern: '^attachment; filename=' },
    example: 'attachment; filename="request-0b9d8a52-7c1e-4f3a-9a66-3d2f5e8c1b70.zip"',
  },
}

export const requestIdParameter = {
  name: 'X-Request-Id',
  in: 'header',
  required: false,
  description: 'An ID chosen by the client for this request, used as it is.',
  schema: { type: 'string', maxLength: 200, pattern: '^[\\x20-\\x7e]*$' },
  example: exampleMeta.requestId,
}

export interface ErrorExample {
  description: string
  error: { message: string; details?: FieldProblem[] }
  extraHeaders: readonly HeaderName[]
}

/** The description and an example of each error. */
export const errorExamples: Record<ErrorCode, ErrorExample> = {
  invalid_request: {
    description:
      'The request could not be processed as sent: malformed encoding, a method that the path does not support, or a body that is too large.',
    error: { message: 'The path has invalid percent-encoding.' },
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
      "The resource does not exist, or the key's organisation cannot see it. The response is the same in both cases.",
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
    description: 'A budget is used up. The headers describe that budget.',
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
