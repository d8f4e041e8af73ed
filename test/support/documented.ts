import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'

type Json = Record<string, unknown>

/** A response as a client receives it. */
export interface Answer {
  status: number
  headers: Headers
  /** The parsed body, or the bytes of a file; `null` if there is none. */
  body: unknown
}

const documents = { api: read('v1.json'), variables: read('variables.json') }
type Service = keyof typeof documents

function read(name: string): Json {
  return JSON.parse(readFileSync(new URL(`../../openapi/${name}`, import.meta.url), 'utf8'))
}

// Every test process compiles the schemas, and uses each only a few times: compiling is made fast instead of
// validation. The OpenAPI linter validates the schemas themselves.
const quickToMake = { validateSchema: false, code: { optimize: false }, inlineRefs: false }
const ajv = new Ajv2020({ strict: false, allErrors: true, ...quickToMake })
addFormats.default(ajv)
for (const [$id, document] of Object.entries(documents)) ajv.addSchema({ $id, ...strict(document) })

/** Fails if the status, the headers or the body of an answer differ from the OpenAPI document. */
export function assertDocumented(method: string, path: string, answer: Answer): void {
  const operation = findOperation(method === 'HEAD' ? 'GET' : method, path)
  const what = `${method} answered ${answer.status}`
  if (!operation) {
    assertFailure(answer, `${what} on a path outside the document`)
    return
  }
  const response = lookUp(operation.value, ['responses', String(answer.status)])
  assert.ok(isJson(response), `${what}, which ${operation.pointer} does not document`)
  const { service } = operation
  const resolved = resolve(service, response, `${operation.pointer}/responses/${answer.status}`)
  assertHeaders(resolved.value, answer, what)
  const type = answer.headers.get('content-type') ?? ''
  if (method === 'HEAD' || answer.status === 304) assert.equal(answer.body, null)
  else if (!type.startsWith('application/json'))
    assert.ok(isJson(lookUp(resolved.value, ['content', type])), `${what} with the type ${type}`)
  else assertValid(`${service}#${resolved.pointer}/content/application~1json/schema`, answer.body, what)
}

function assertFailure(answer: Answer, what: string): void {
  assert.ok(answer.status >= 400, what)
  assert.ok(answer.headers.get('x-request-id'), `${what} without X-Request-Id`)
  if (answer.body !== null) assertValid('api#/components/schemas/Failure', answer.body, what)
}

function assertHeaders(response: Json, answer: Answer, what: string): void {
  const documented = Object.keys(isJson(response.headers) ? response.headers : {}).map((name) =>
    name.toLowerCase(),
  )
  const ofHttp = [
    ...'content-type content-length transfer-encoding date connection keep-alive'.split(' '),
    ...'cache-control x-content-type-options content-security-policy content-encoding vary'.split(' '),
    ...'access-control-allow-origin access-control-expose-headers referrer-policy'.split(' '),
  ]
  for (const [name] of answer.headers) {
    assert.ok(
      documented.includes(name) || ofHttp.includes(name),
      `${what} with the undocumented header ${name}`,
    )
  }
  assert.ok(answer.headers.get('x-request-id'), `${what} without X-Request-Id`)
  if (documented.includes('retry-after'))
    assert.ok(answer.headers.get('retry-after'), `${what} without Retry-After`)
  if (documented.includes('www-authenticate'))
    assert.ok(answer.headers.get('www-authenticate'), `${what} without WWW-Authenticate`)
  const isDocument = answer.headers.get('etag')?.startsWith('W/')
  assert.equal(answer.headers.get('cache-control'), isDocument ? 'no-cache' : 'no-store')
  assert.equal(answer.headers.get('x-content-type-options'), 'nosniff')
}

function assertValid(pointer: string, body: unknown, what: string): void {
  const validate = ajv.getSchema(pointer)
  assert.ok(validate, `no schema at ${pointer}`)
  assert.ok(validate(body), `${what}, and its body is not as documented: ${ajv.errorsText(validate.errors)}`)
}

const templates = (['api', 'variables'] as const).flatMap((service) =>
  Object.entries({ ...(isJson(documents[service].paths) && documents[service].paths) }).map(
    ([template, item]) => ({
      service,
      template,
      item,
      pattern: new RegExp(`^${template.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[^/]*')}$`),
    }),
  ),
)

function findOperation(
  method: string,
  path: string,
): { service: Service; value: Json; pointer: string } | null {
  const plain = path.replace(/\?.*$/, '')
  for (const { service, template, item, pattern } of templates) {
    const operation = lookUp(item, [method.toLowerCase()])
    if (pattern.test(plain) && isJson(operation)) {
      return {
        service,
        value: operation,
        pointer: `/paths/${template.replaceAll('/', '~1')}/${method.toLowerCase()}`,
      }
    }
  }
  return null
}

function resolve(service: Service, value: Json, pointer: string): { value: Json; pointer: string } {
  if (typeof value.$ref !== 'string') return { value, pointer }
  const target = value.$ref.slice(1)
  const found = lookUp(documents[service], target.split('/').slice(1))
  assert.ok(isJson(found), `${value.$ref} leads nowhere`)
  return { value: found, pointer: target }
}

function lookUp(value: unknown, names: readonly string[]): unknown {
  return names.reduce<unknown>((inner, name) => (isJson(inner) ? inner[name] : undefined), value)
}

/** The schema with every object closed to fields that it does not name, except free-form objects. */
function strict(value: Json): Json {
  const closed = Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, strictValue(inner)]))
  const isObjectSchema =
    value.type === 'object' && isJson(value.properties) && !('additionalProperties' in value)
  return isObjectSchema ? { ...closed, additionalProperties: false } : closed
}

function strictValue(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(strictValue)
  return isJson(value) ? strict(value) : value
}

function isJson(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
