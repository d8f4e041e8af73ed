import { scopes } from '../../../domain/api-key.ts'
import type { ApiBudgetName, Budget } from '../../../domain/budget.ts'
import { type ErrorCode, errorCodes } from '../../../domain/errors.ts'
import { Failure, success } from '../../envelope.ts'
import { pathParameters } from '../../parameters.ts'
import type { Route } from '../../request-context.ts'
import { maxBatchLines } from '../../request-lines.ts'
import { errorStatus } from '../../response.ts'
import { isOptional, list, object, type Schema } from '../../schema.ts'
import { exampleMeta } from '../examples.ts'
import { apiRoutes } from '../routes.ts'
import {
  budgetHeaders,
  type ErrorExample,
  errorExamples,
  fileHeaders,
  headers,
  publicOperations,
  requestIdParameter,
} from './operations.ts'

type Json = Record<string, unknown>

const subjectsTag = 'Data subjects'

/** What the document says about the service. */
export interface ServiceFacts {
  budgets: Record<ApiBudgetName, Budget>
  /** The address that clients use; `null` if it is not configured. */
  publicUrl: string | null
}

/** The OpenAPI 3.1 document of the management API, generated from the schemas that validate requests. */
export function openApiDocument(facts: ServiceFacts): Json {
  const { ip, key, erasure } = facts.budgets
  const apiKey = {
    type: 'http',
    scheme: 'bearer',
    description: `An API key of the form \`lethe_<id>_<secret><checksum>\`. Each operation needs one of the key's scopes: ${Object.entries(
      scopes,
    )
      .map(([scope, allows]) => `\`${scope}\` (${allows})`)
      .join(', ')}.`,
  }
  return describeService(facts, {
    title: 'Lethe management API',
    summary: 'List the data subjects of a tracker, read what is stored about one, and erase it for good.',
    description: `For servers: no CORS headers are sent, except with this document. Every response is an envelope with \`data\` or \`error\`, and \`meta\`.
Requests are counted per address (${budgetInWords(ip)}), per key (${budgetInWords(key)}) and, for erasures, again per key (${budgetInWords(erasure)}); the \`X-RateLimit-*\` headers report the budget that runs out first.`,
    securitySchemes: { apiKey },
    tags: [
      { name: subjectsTag, description: 'The visitors of a tracker.' },
      {
        name: 'Erasure ledger',
        description:
          'A record of every erasure that does not identify the data subjects. Anyone can verify that no entry was removed.',
      },
      {
        name: 'Privacy requests',
        description:
          'What people asked for, from its arrival to its answer: a copy of their data, or its erasure.',
      },
      { name: 'Ingest', description: 'Sessions and events, sent by the services that record them.' },
      { name: 'Service', description: 'Public and unmetered.' },
    ],
    operations: apiRoutes.map((route) => {
      const own = route.isErasure ? ` It has its own budget, ${budgetInWords(erasure)} per key.` : ''
      return {
        route,
        description: `${own}\n\nNeeds the scope \`${route.access}\`.`,
        others: { 'x-required-scope': route.access },
      }
    }),
    publicOperations,
    headers: { ...headers([ip, key]), ...fileHeaders },
    errors: errorExamples,
  })
}

/** What distinguishes the document of one service from that of another. */
interface ServiceDescription {
  title: string
  summary: string
  description: string
  securitySchemes: Json
  tags: Json[]
  operations: readonly DescribedRoute[]
  publicOperations: Json
  headers: Json
  errors: Readonly<Partial<Record<ErrorCode, ErrorExample>>>
}

interface DescribedRoute {
  route: Route
  /** Follows the description of the route. */
  description: string
  /** Response headers besides the usual ones, responses besides 200 and errors, and extensions. */
  headers?: Json
  responses?: Json
  others?: Json
}

export function describeService(
  { publicUrl }: Pick<ServiceFacts, 'publicUrl'>,
  { title, summary, description, securitySchemes, tags, headers, errors, ...service }: ServiceDescription,
): Json {
  const security = Object.keys(securitySchemes).map((name) => ({ [name]: [] }))
  const paths: Record<string, Json> = {}
  for (const described of service.operations) {
    const { path, method } = described.route
    paths[path] = { ...paths[path], [method.toLowerCase()]: operation(described, security, errors) }
  }
  Object.assign(paths, service.publicOperations)
  const { document, schemas } = hoistComponents({ paths, responses: errorResponses(errors) })
  return {
    openapi: '3.1.0',
    info: {
      ...{ title, version: '1.0.0', summary, description },
      contact: { name: 'The operator of this service', ...(publicUrl && { url: `${publicUrl}/docs` }) },
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: serversAt(publicUrl ?? defaultAddress),
    security,
    tags,
    paths: document.paths,
    components: {
      securitySchemes,
      parameters: { 'X-Request-Id': requestIdParameter },
      headers,
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

function operation(
  { route, description: more, headers = {}, responses = {}, others = {} }: DescribedRoute,
  security: Json[],
  errors: ServiceDescription['errors'],
): Json {
  const { documentation, response, fileType } = route
  if (!documentation || !response) throw new Error(`${route.method} ${route.path} is not documented.`)
  const { operationId, tag = subjectsTag, summary, description, example } = documentation
  return {
    operationId,
    tags: [tag],
    summary,
    description: `${description}${more}`,
    security,
    ...others,
    parameters: parameters(route),
    ...(Object.keys(route.body).length > 0 && { requestBody: requestBody(route) }),
    ...(route.line && { requestBody: batchBody(route.line, route) }),
    responses: {
      200: {
        description: 'Success.',
        headers: {
          ...headerRefs(['X-Request-Id', ...budgetHeaders, ...Object.keys(fileType ? fileHeaders : {})]),
          ...headers,
        },
        content: fileType
          ? { [fileType]: { schema: response } }
          : {
              'application/json': {
                schema: success(response),
                example: { data: example, meta: exampleMeta },
              },
            },
      },
      ...responses,
      ...Object.fromEntries(
        errorCodes
          .filter((code) => code in errors)
          .map((code) => [errorStatus[code], { $ref: `#/components/responses/${code}` }]),
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

function batchBody(line: Schema, { documentation }: Route): Json {
  const schema = object(
    { lines: list(line, { maxItems: maxBatchLines, description: 'The sessions and events, in any order.' }) },
    { title: 'IngestBatchBody', description: 'The lines of a batch.', additionalProperties: false },
  )
  const example = documentation?.exampleBody
  const lines = example && 'lines' in example && Array.isArray(example.lines) ? example.lines : []
  return {
    required: true,
    description: `At most ${maxBatchLines.toLocaleString('en')} lines and 4 MiB, plain or compressed with gzip or zstd.`,
    content: {
      'application/x-ndjson': {
        schema: { type: 'string', description: 'One line of JSON for each session and event.' },
        example: lines.map((each) => `${JSON.stringify(each)}\n`).join(''),
      },
      'application/json': { schema, example },
    },
  }
}

function parameters(route: Route): Json[] {
  const inPath = Object.entries(pathParameters)
    .filter(([name]) => route.path.includes(`{${name}}`))
    .map(([name, schema]) => parameter(route, name, 'path', schema))
  // A credential in the query is described as such.
  const inQuery = Object.entries(route.access === 'variable-token' ? {} : route.query).map(([name, schema]) =>
    parameter(route, name, 'query', schema),
  )
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

function errorResponses(errors: ServiceDescription['errors']): Json {
  return Object.fromEntries(
    Object.entries(errors).map(([code, { description, error, extraHeaders }]) => [
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
    ]),
  )
}

export function headerRefs(names: readonly string[]): Json {
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
