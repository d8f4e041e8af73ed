import { scopes } from '../../../domain/api-key.ts'
import type { ApiBudgetName, Budget } from '../../../domain/budget.ts'
import { errorCodes } from '../../../domain/errors.ts'
import { Failure, success } from '../../envelope.ts'
import { pathParameters } from '../../parameters.ts'
import type { Route } from '../../request-context.ts'
import { errorStatus } from '../../response.ts'
import { isOptional, object, type Schema } from '../../schema.ts'
import { exampleMeta } from '../examples.ts'
import { apiRoutes } from '../routes.ts'
import { budgetHeaders, errorExamples, headers, publicOperations, requestIdParameter } from './operations.ts'

type Json = Record<string, unknown>

const subjectsTag = 'Data subjects'

/** What the document says about the service. */
export interface ServiceFacts {
  budgets: Record<ApiBudgetName, Budget>
  /** The address that clients use; `null` if it is not configured. */
  publicUrl: string | null
}

/** The OpenAPI 3.1 document of `/v1`, generated from the schemas that validate requests. */
export function openApiDocument({ budgets, publicUrl }: ServiceFacts): Json {
  const { ip, key, erasure } = budgets
  const paths: Record<string, Json> = {}
  for (const route of apiRoutes) {
    paths[route.path] = { ...paths[route.path], [route.method.toLowerCase()]: operation(route, erasure) }
  }
  Object.assign(paths, publicOperations)
  const { document, schemas } = hoistComponents({ paths, responses: errorResponses() })
  return {
    openapi: '3.1.0',
    info: {
      title: 'Lethe management API',
      version: '1.0.0',
      summary: 'List the data subjects of a tracker, read what is stored about one, and erase it for good.',
      description: `For servers: no CORS headers are sent, except with this document. Every response is an envelope with \`data\` or \`error\`, and \`meta\`.
Requests are counted per address (${budgetInWords(ip)}), per key (${budgetInWords(key)}) and, for erasures, again per key (${budgetInWords(erasure)}); the \`X-RateLimit-*\` headers report the budget that runs out first.`,
      contact: { name: 'The operator of this service', ...(publicUrl && { url: `${publicUrl}/docs` }) },
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: serversAt(publicUrl ?? defaultAddress),
    security: [{ apiKey: [] }],
    tags: [
      { name: subjectsTag, description: 'The visitors of a tracker.' },
      {
        name: 'Erasure ledger',
        description:
          'A record of every erasure that does not identify the data subjects. Anyone can verify that no entry was removed.',
      },
      { name: 'Service', description: 'Public and unmetered.' },
    ],
    paths: document.paths,
    components: {
      securitySchemes: {
        apiKey: {
          type: 'http',
          scheme: 'bearer',
          description: `An API key of the form \`lethe_<id>_<secret><checksum>\`. Each operation needs one of the key's scopes: ${Object.entries(
            scopes,
          )
            .map(([scope, allows]) => `\`${scope}\` (${allows})`)
            .join(', ')}.`,
        },
      },
      parameters: { 'X-Request-Id': requestIdParameter },
      headers: headers(budgets),
      responses: document.responses,
      schemas,
    },
  }
}

/** The default address of a service. */
const defaultAddress = 'http://127.0.0.1:8080'

/** Always an absolute address, because most tools cannot handle a relative one. */
export function serversAt(url: string): Json[] {
  return [{ url, description: 'This service.' }]
}

function operation(route: Route, erasure: Budget): Json {
  const { access: scope, documentation, response } = route
  if (!documentation || !response) throw new Error(`${route.method} ${route.path} is not documented.`)
  const { operationId, tag = subjectsTag, summary, description, example } = documentation
  const own = route.isErasure ? ` It has its own budget, ${budgetInWords(erasure)} per key.` : ''
  return {
    operationId,
    tags: [tag],
    summary,
    description: `${description}${own}\n\nNeeds the scope \`${scope}\`.`,
    security: [{ apiKey: [] }],
    'x-required-scope': scope,
    parameters: parameters(route),
    ...(route.bodyBounds && { requestBody: requestBody(route) }),
    responses: {
      200: {
        description: 'Success.',
        headers: { ...headerRefs(['X-Request-Id', ...budgetHeaders]) },
        content: {
          'application/json': {
            schema: success(response),
            example: { data: example, meta: exampleMeta },
          },
        },
      },
      ...Object.fromEntries(
        errorCodes.map((code) => [errorStatus[code], { $ref: `#/components/responses/${code}` }]),
      ),
    },
  }
}

function requestBody({ body, documentation }: Route): Json {
  const name = documentation?.operationId ?? ''
  const schema = object(body, {
    title: `${name.charAt(0).toUpperCase()}${name.slice(1)}Body`,
    description: `The body of \`${name}\`.`,
    additionalProperties: false,
  })
  return {
    required: true,
    content: { 'application/json': { schema, example: documentation?.exampleBody } },
  }
}

function parameters(route: Route): Json[] {
  const inPath = Object.entries(pathParameters)
    .filter(([name]) => route.path.includes(`{${name}}`))
    .map(([name, schema]) => parameter(route, name, 'path', schema))
  const inQuery = Object.entries(route.query).map(([name, schema]) => parameter(route, name, 'query', schema))
  return [...inPath, ...inQuery, { $ref: '#/components/parameters/X-Request-Id' }]
}

/** The example of a parameter is for use with the other examples; an example in its schema, without them. */
function parameter(
  { documentation }: Route,
  name: string,
  place: 'path' | 'query',
  { description, ...schema }: Schema,
): Json {
  const example = documentation?.exampleParameters[name]
  const alone = documentation?.exampleAlone?.[name]
  return {
    ...{ name, in: place, required: !isOptional(schema), description },
    schema: alone === undefined ? schema : { ...schema, examples: [alone] },
    ...(example !== undefined && { example }),
  }
}

function errorResponses(): Json {
  return Object.fromEntries(
    errorCodes.map((code) => {
      const { description, error, extraHeaders } = errorExamples[code]
      return [
        code,
        {
          description,
          headers: headerRefs(['X-Request-Id', ...budgetHeaders, ...extraHeaders]),
          content: {
            'application/json': {
              schema: Failure,
              example: { error: { code, ...error }, meta: exampleMeta },
            },
          },
        },
      ]
    }),
  )
}

function headerRefs(names: readonly string[]): Json {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]))
}

/** Moves every schema with a title to the components, so that generated clients get named types. */
export function hoistComponents<Document extends Json>(
  document: Document,
): { document: Json; schemas: Json } {
  const schemas: Json = {}
  function walk(value: unknown): unknown {
    if (Array.isArray(value)) return value.map(walk)
    if (!isObject(value)) return value
    const walked = Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, walk(inner)]))
    if (typeof value.title !== 'string' || value.type !== 'object') return walked
    schemas[value.title] = walked
    return { $ref: `#/components/schemas/${value.title}` }
  }
  const walked = walk(document)
  return { document: isObject(walked) ? walked : {}, schemas }
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null
}

const windows = new Map([
  [1_000, 'a second'],
  [60_000, 'a minute'],
  [3_600_000, 'an hour'],
  [86_400_000, 'a day'],
])

/** Such as "60 a minute". */
export function budgetInWords({ limit, windowMs }: Budget): string {
  return `${limit.toLocaleString('en')} ${windows.get(windowMs) ?? `in ${windowMs / 1_000} s`}`
}
