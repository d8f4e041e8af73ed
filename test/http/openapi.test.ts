import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, describe, test } from 'node:test'
import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { readConfig, variables } from '../../src/config.ts'
import { errorCodes } from '../../src/domain/errors.ts'
import { openApiDocument } from '../../src/http/api/openapi/document.ts'
import { apiRoutes } from '../../src/http/api/routes.ts'
import { errorStatus } from '../../src/http/response.ts'
import { isObject, listIn, objectIn, textIn } from '../support/answers.ts'
import { askRaw } from '../support/raw-http.ts'
import { startShop } from '../support/shop.ts'

const text = readFileSync(new URL('../../openapi/v1.json', import.meta.url), 'utf8')
const document: unknown = JSON.parse(text)
const paths = objectIn(document, 'paths')
const components = objectIn(document, 'components')

const ajv = new Ajv2020({ strict: false, allErrors: true })
addFormats.default(ajv)
assert.ok(isObject(document))
ajv.addSchema({ $id: 'api', ...document })

/** Every media type in the document with a schema and an example, and its JSON pointer. */
function examples(value: unknown, pointer: string): { pointer: string; example: unknown }[] {
  if (Array.isArray(value)) return value.flatMap((inner, index) => examples(inner, `${pointer}/${index}`))
  if (!isObject(value)) return []
  if ('schema' in value && 'example' in value) return [{ pointer, example: value.example }]
  return Object.entries(value).flatMap(([name, inner]) =>
    examples(inner, `${pointer}/${encodeURIComponent(name.replaceAll('~', '~0').replaceAll('/', '~1'))}`),
  )
}

/** The JSON pointers of all objects in the document that meet a condition. */
function findings(value: unknown, isSo: (value: Record<string, unknown>) => boolean, pointer = ''): string[] {
  if (Array.isArray(value)) return value.flatMap((inner, i) => findings(inner, isSo, `${pointer}/${i}`))
  if (!isObject(value)) return []
  return [
    ...(isSo(value) ? [pointer] : []),
    ...Object.entries(value).flatMap(([name, inner]) => findings(inner, isSo, `${pointer}/${name}`)),
  ]
}

describe('the OpenAPI document', () => {
  test('matches the committed file, and is served as such by a service with default settings', async (t) => {
    assert.equal(text, `${JSON.stringify(openApiDocument(readConfig({})), null, 2)}\n`)
    const { LETHE_LIMIT_IP, LETHE_LIMIT_KEY, LETHE_LIMIT_ERASURE } = variables
    const env = {
      LETHE_LIMIT_IP: LETHE_LIMIT_IP.fallback,
      LETHE_LIMIT_KEY: LETHE_LIMIT_KEY.fallback,
      LETHE_LIMIT_ERASURE: LETHE_LIMIT_ERASURE.fallback,
    }
    const shop = await startShop(t, { scopes: ['analytics:view'], env })
    const answer = await shop.ask('/v1/analytics/openapi.json')
    assert.equal(answer.status, 200)
    assert.equal(answer.headers.get('content-type'), 'application/json; charset=utf-8')
    const servers = [{ url: shop.url, description: 'This service.' }]
    assert.deepEqual(answer.body, { ...document, servers })
  })

  test('states the budgets of the service that serves it and its public address', async (t) => {
    const env = {
      LETHE_LIMIT_IP: '7/second',
      LETHE_LIMIT_KEY: '1234/day',
      LETHE_LIMIT_ERASURE: '5/minute',
      LETHE_PUBLIC_URL: 'https://lethe.example',
    }
    const shop = await startShop(t, { scopes: ['analytics:view'], env })
    const { body } = await shop.ask('/v1/analytics/openapi.json')
    const info = objectIn(body, 'info')
    assert.match(
      textIn(info, 'description'),
      /address \(7 a second\), per key \(1,234 a day\).*\(5 a minute\)/,
    )
    const subject = objectIn(
      objectIn(body, 'paths'),
      '/v1/analytics/trackers/{trackerId}/subjects/{subjectId}',
    )
    assert.match(textIn(objectIn(subject, 'delete'), 'description'), /own budget, 5 a minute per key\./)
    const { RateLimit } = objectIn(objectIn(body, 'components'), 'headers')
    assert.equal(textIn(RateLimit, 'example'), '"ip";r=6;t=1, "key";r=1233;t=86400')
    assert.equal(textIn(listIn(body, 'servers')[0], 'url'), 'https://lethe.example')
    assert.equal(textIn(objectIn(info, 'contact'), 'url'), 'https://lethe.example/docs')
  })

  test('uses the address of the request as its server, or / if it is invalid', async (t) => {
    const { url } = await startShop(t, { scopes: ['analytics:view'] })
    const serverOf = async (headers: [string, string][]) => {
      const { status, body } = await askRaw(url, '/v1/analytics/openapi.json', { headers })
      return status === 200 ? textIn(listIn(body, 'servers')[0], 'url') : status
    }
    for (const [host, server] of [
      [new URL(url).host, url],
      ['LETHE.example:8443', 'http://lethe.example:8443'],
      ['lethe.example:80', 'http://lethe.example'],
      ['lethe_1:8080', 'http://lethe_1:8080'],
      ['[::1]:8080', 'http://[::1]:8080'],
      ['', '/'],
      ["a'b", '/'],
      ['lethe.example%2Fa', '/'],
      ['lethe.example:', '/'],
      ['lethe.example:99999', '/'],
      ['1.2', '/'],
      ['-', '/'],
      ['x'.repeat(254), '/'],
      ['user@lethe.example', 400],
      ['lethe.example/a', 400],
    ] as const) {
      assert.equal(await serverOf([['Host', host]]), server, host)
    }
    // A peer that is not a trusted proxy cannot forward an address.
    const forwarded: [string, string][] = [
      ['X-Forwarded-Host', 'evil.example'],
      ['X-Forwarded-Proto', 'https'],
    ]
    assert.equal(await serverOf([['Host', 'lethe.example'], ...forwarded]), 'http://lethe.example')
  })

  test('uses the address forwarded by a trusted proxy', async (t) => {
    const env = { LETHE_TRUSTED_PROXIES: '127.0.0.1' }
    const { url } = await startShop(t, { scopes: ['analytics:view'], env })
    const document = (headers: [string, string][]) => askRaw(url, '/v1/analytics/openapi.json', { headers })
    const forwarded = await document([
      ['Host', '127.0.0.1:8080'],
      ['X-Forwarded-Host', 'lethe.example:8443'],
      ['X-Forwarded-Proto', 'https'],
    ])
    assert.equal(textIn(listIn(forwarded.body, 'servers')[0], 'url'), 'https://lethe.example:8443')
    assert.equal(forwarded.headers.get('vary'), 'Accept-Encoding, X-Forwarded-Host, X-Forwarded-Proto')
    const broken = await document([
      ['X-Forwarded-Host', 'lethe.example"'],
      ['X-Forwarded-Proto', 'https'],
    ])
    assert.equal(textIn(listIn(broken.body, 'servers')[0], 'url'), '/')
    // A cache must not serve the document of one address for another.
    const other = await document([['Host', 'other.example']])
    assert.notEqual(other.headers.get('etag'), forwarded.headers.get('etag'))
    const known: [string, string] = ['If-None-Match', forwarded.headers.get('etag') ?? '']
    assert.equal((await document([['Host', 'other.example'], known])).status, 200)
  })

  test('is the same with and without compression', async (t) => {
    const { url } = await startShop(t, { scopes: ['analytics:view'] })
    const [plain, packed] = await Promise.all(
      ['identity', 'gzip'].map((coding) =>
        askRaw(url, '/v1/analytics/openapi.json', {
          headers: { Host: 'lethe.example', 'Accept-Encoding': coding },
        }),
      ),
    )
    assert.equal(packed?.headers.get('content-encoding'), 'gzip')
    assert.deepEqual(packed.body, plain?.body)
    assert.equal(packed.headers.get('etag'), plain?.headers.get('etag'))
  })

  test('has a named schema for each response and a limit for each list, except unlimited lists', () => {
    const unnamed = findings(document, (value) => {
      const { schema } = value
      return isObject(schema) && !('$ref' in schema) && schema.type === 'object'
    })
    assert.deepEqual(unnamed, [])
    const unbounded = findings(document, (value) => value.type === 'array' && !('maxItems' in value))
    assert.deepEqual(unbounded, [
      // The data of one person is complete, and the operator decides how many keys to keep.
      '/components/schemas/Subject/properties/identifiers',
      '/components/schemas/SubjectExport/properties/identifiers',
      '/components/schemas/SubjectExport/properties/sessions',
      '/components/schemas/SubjectExport/properties/events',
      '/components/schemas/Ledger/properties/verifierKeys',
      '/components/schemas/RequestCertificate/properties/entries',
    ])
    assert.deepEqual(
      findings(document, (value) => value.type === 'integer' && !('format' in value)),
      [],
    )
  })

  test('is of OpenAPI 3.1', () => {
    assert.match(textIn(document, 'openapi'), /^3\.1\./)
  })

  test('contains every operation of the service and no other', () => {
    const documented = Object.entries(paths).flatMap(([path, item]) =>
      Object.keys(isObject(item) ? item : {}).map((method) => `${method.toUpperCase()} ${path}`),
    )
    assert.deepEqual(
      documented.sort(),
      [
        ...apiRoutes.map(({ method, path }) => `${method} ${path}`),
        'GET /v1/analytics/openapi.json',
        'GET /healthz',
        'GET /readyz',
      ].sort(),
    )
  })

  for (const { method, path, access: scope, query } of apiRoutes) {
    test(`documents the scope, the parameters and every status of ${method} ${path}`, () => {
      const operation = objectIn(objectIn(paths, path), method.toLowerCase())
      assert.deepEqual(operation.security, [{ apiKey: [] }])
      assert.equal(operation['x-required-scope'], scope)
      assert.ok(textIn(operation, 'description').includes(scope))
      assert.deepEqual(
        Object.keys(objectIn(operation, 'responses')).sort(),
        ['200', ...Object.values(errorStatus).map(String)].sort(),
      )
      const parameters = Array.isArray(operation.parameters) ? operation.parameters : []
      const named = parameters.filter((parameter) => 'name' in parameter).map((one) => textIn(one, 'name'))
      const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name)
      assert.deepEqual(named, [...inPath, ...Object.keys(query)])
    })
  }

  test('has a response for each error code, under its status', () => {
    assert.deepEqual(Object.keys(objectIn(components, 'responses')).sort(), errorCodes.toSorted())
    assert.deepEqual(errorStatus, {
      invalid_request: 400,
      unauthorized: 401,
      forbidden: 403,
      not_found: 404,
      validation_error: 422,
      rate_limited: 429,
      internal_error: 500,
    })
  })

  const found = examples({ paths, components }, '')
  test('has an example for every operation and every error', () => {
    assert.ok(found.length >= apiRoutes.length + errorCodes.length)
  })
  for (const { pointer, example } of found) {
    test(`has an example that matches its schema at ${decodeURIComponent(pointer)}`, () => {
      const validate = ajv.getSchema(`api#${pointer}/schema`)
      assert.ok(validate, 'no schema')
      assert.ok(validate(example), ajv.errorsText(validate.errors))
    })
  }
})

describe('the schemas of IDs', () => {
  test('accept the same IDs as the service', () => {
    const operation = objectIn(objectIn(paths, '/v1/analytics/trackers/{trackerId}/subjects'), 'get')
    const parameters: unknown[] = Array.isArray(operation.parameters) ? operation.parameters : []
    const [trackerId] = parameters
    const validate = ajv.compile(objectIn(trackerId, 'schema'))
    for (const id of ['a', '...', 'a/b', '\u{1f600}'.repeat(256)]) assert.ok(validate(id), id)
    for (const id of ['', '.', '..', 'a\u0000', '\u0085', 'x'.repeat(257)]) assert.ok(!validate(id), id)
  })
})

after(() => ajv.removeSchema())
