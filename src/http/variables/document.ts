import { budgetInWords, describeService, headerRefs, type ServiceFacts } from '../api/openapi/document.ts'
import { budgetHeaders, documentOperation, errorExamples, headers } from '../api/openapi/operations.ts'
import { readVariablesRoute } from './variables.ts'

const title = 'Lethe Variables API'
const tag = 'Variables'

/** The OpenAPI 3.1 document of the Variables API. */
export function variablesDocument(facts: ServiceFacts): Record<string, unknown> {
  const { ip, variables } = facts.budgets
  const { invalid_request, unauthorized, validation_error, rate_limited, internal_error } = errorExamples
  const own = headerRefs(['ETag', 'Access-Control-Allow-Origin'])
  return describeService(facts, {
    title,
    summary: 'Read the remote config of a tracker.',
    description: `For servers and browsers: pages of any origin may call it. Every response is an envelope with \`data\` or \`error\`, and \`meta\`.
Requests are counted per address (${budgetInWords(ip)}) and per token (${budgetInWords(variables)}).`,
    securitySchemes: {
      variableToken: {
        type: 'apiKey',
        in: 'query',
        name: 'token',
        description:
          'A variable token of the form `lethevar_<id>_<secret><checksum>`. It reads the variables of one tracker, and nothing else.',
      },
    },
    tags: [{ name: tag, description: 'Remote config: JSON values by name, for each tracker.' }],
    operations: [
      {
        route: readVariablesRoute(),
        description: '\n\nNeeds a variable token.',
        headers: own,
        responses: {
          304: {
            description: 'The variables have not changed since the response whose `ETag` was sent.',
            headers: { ...headerRefs(['X-Request-Id', ...budgetHeaders]), ...own },
          },
        },
      },
    ],
    publicOperations: {
      '/v1/variables/openapi.json': documentOperation(
        ...(['readVariablesDocument', tag, title, 'Read the document of the Variables API'] as const),
      ),
    },
    headers: {
      ...headers([ip, variables]),
      ETag: {
        description: 'Changes with the response. Send it in `If-None-Match` to avoid downloading it again.',
        required: true,
        schema: { type: 'string', maxLength: 100, pattern: '^(W/)?"[0-9a-f]+"$' },
        example: '"6f8b2c1e5a0d4a579b7e0c2f6d1f7a34"',
      },
    },
    errors: {
      invalid_request,
      unauthorized: {
        ...unauthorized,
        description: 'The variable token is missing, malformed, replaced or revoked.',
        error: { message: 'This is not a valid variable token.' },
      },
      validation_error: {
        ...validation_error,
        error: {
          message: 'Check token: see details.',
          details: [{ field: 'token', message: 'token must be given once' }],
        },
      },
      rate_limited: {
        ...rate_limited,
        error: { message: 'This variable token has used up its requests. Try again in 42 seconds.' },
      },
      internal_error,
    },
  })
}
