import { exampleMeta } from './descriptions.ts'

const requestIdHeader = { 'X-Request-Id': { $ref: '#/components/headers/X-Request-Id' } }

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
          headers: requestIdHeader,
          content: { 'application/json': { schema: { type: 'object' } } },
        },
        400: { $ref: '#/components/responses/invalid_request' },
      },
    },
  },
  ...probe('/healthz', 'checkHealth', 'Tell whether the process lives', 'ok'),
  ...probe('/readyz', 'checkReadiness', 'Tell whether the store answers', 'ready'),
}

function probe(path: string, operationId: string, summary: string, status: string) {
  const schema = {
    type: 'object',
    required: ['data', 'meta'],
    properties: {
      data: {
        type: 'object',
        required: ['status'],
        properties: { status: { type: 'string', const: status } },
      },
      meta: { $ref: '#/components/schemas/Meta' },
    },
  }
  return {
    [path]: {
      get: {
        operationId,
        tags: ['Service'],
        summary,
        description: 'Public and unmetered.',
        security: [],
        responses: {
          200: {
            description: 'It does.',
            headers: requestIdHeader,
            content: { 'application/json': { schema, example: { data: { status }, meta: exampleMeta } } },
          },
          400: { $ref: '#/components/responses/invalid_request' },
          500: { $ref: '#/components/responses/internal_error' },
        },
      },
    },
  }
}
