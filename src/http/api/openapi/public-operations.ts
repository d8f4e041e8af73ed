import { exampleMeta } from '../schemas/examples.ts'

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
