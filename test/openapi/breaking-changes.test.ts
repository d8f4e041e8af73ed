import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { breakingChanges, type OpenApiDocument } from '../../scripts/openapi/breaking-changes.ts'

type Json = Record<string, unknown>
type Case = [name: string, mutate: (document: Json) => void, expected: RegExp | 'compatible']

const LIST = '/v1/boxes/{boxId}/letters'
const STATUS = '/v1/status'

const promised: OpenApiDocument = {
  openapi: '3.1.0',
  info: { title: 'Letters', version: '1.0.0' },
  servers: [{ url: 'https://letters.example/base/' }],
  paths: {
    [LIST]: {
      parameters: [{ name: 'boxId', in: 'path', required: true, schema: { type: 'string', maxLength: 256 } }],
      get: {
        operationId: 'listLetters',
        security: [{ apiKey: ['letters:view'] }],
        'x-required-scope': 'letters:view',
        parameters: [
          { $ref: '#/components/parameters/Limit' },
          { name: 'X-Request-Id', in: 'header', schema: { type: 'string', pattern: '^[!-~]+$' } },
          {
            name: 'sort',
            in: 'query',
            schema: { anyOf: [{ type: 'string', const: 'sentAt' }, { const: '-sentAt' }], default: 'sentAt' },
          },
          { name: 'after', in: 'query', schema: { type: ['string', 'null'], minLength: 2 } },
        ],
        responses: {
          200: {
            description: 'A page.',
            headers: { 'X-Request-Id': { required: true, schema: { type: 'string' } } },
            content: { 'application/json': { schema: { $ref: '#/components/schemas/Page' } } },
          },
          404: { description: 'No such box.' },
        },
      },
    },
    [STATUS]: { get: { operationId: 'readStatus', responses: { 204: { description: 'Fine.' } } } },
  },
  components: {
    securitySchemes: { apiKey: { type: 'http', scheme: 'bearer', bearerFormat: 'opaque' } },
    parameters: {
      Limit: {
        name: 'limit',
        in: 'query',
        schema: { type: 'integer', minimum: 1, maximum: 200, default: 50 },
      },
    },
    schemas: {
      Page: {
        type: 'object',
        required: ['letters', 'nextCursor'],
        properties: {
          letters: { type: 'array', items: { $ref: '#/components/schemas/Letter' } },
          nextCursor: { anyOf: [{ type: 'string' }, { type: 'null' }] },
        },
      },
      Letter: {
        type: 'object',
        required: ['id', 'sentAt', 'kind'],
        properties: {
          id: { type: 'string', minLength: 1 },
          sentAt: { type: 'string', format: 'date-time' },
          kind: { anyOf: [{ const: 'card' }, { const: 'parcel' }] },
          weight: { type: 'integer' },
          note: { type: 'string' },
          labels: { type: 'object', patternProperties: { '^.*$': { type: 'string' } } },
          answers: { type: 'array', items: { $ref: '#/components/schemas/Letter', description: 'Replies.' } },
        },
      },
    },
  },
}

const get = (document: Json) => at(document, 'paths', LIST, 'get')
const status = (document: Json) => at(document, 'paths', STATUS, 'get')
const ok = (document: Json) => at(get(document), 'responses', 200)
const scheme = (document: Json) => at(document, 'components', 'securitySchemes', 'apiKey')
const schema = (document: Json, name: string) => at(document, 'components', 'schemas', name)
const letter = (document: Json) => at(schema(document, 'Letter'), 'properties')
const limit = (document: Json) => at(document, 'components', 'parameters', 'Limit', 'schema')
const boxId = (document: Json) => at(document, 'paths', LIST, 'parameters', 0, 'schema')
const requestId = (document: Json) => at(parameter(document, 'X-Request-Id'), 'schema')
const sort = (document: Json) => at(parameter(document, 'sort'), 'schema')
const after = (document: Json) => at(parameter(document, 'after'), 'schema')

const operations: Case[] = [
  [
    'an operation that is gone breaks',
    (d) => delete at(d, 'paths', LIST).get,
    /^GET \/v1\/boxes\S+ is gone\.$/,
  ],
  ['a path that is gone breaks', (d) => delete at(d, 'paths')[STATUS], /^GET \/v1\/status is gone\.$/],
  ['a new path does not', (d) => set(at(d, 'paths'), '/v1/new', { get: { responses: {} } }), 'compatible'],
  ['a new method does not', (d) => set(at(d, 'paths', LIST), 'delete', { responses: {} }), 'compatible'],
  [
    'another operationId breaks',
    (d) => set(get(d), 'operationId', 'letters'),
    /operationId went from "listLetters" to "letters"/,
  ],
  ['a new operation summary does not', (d) => set(get(d), 'summary', 'Lists letters'), 'compatible'],
  [
    'another server path breaks',
    (d) => set(d, 'servers', [{ url: 'https://letters.example/v2' }]),
    /server path \/base is gone, it is now \/v2/,
  ],
  ['no server path breaks', (d) => delete d.servers, /server path \/base is gone, it is now \//],
  [
    'a server found from the document breaks one with a path',
    (d) => set(d, 'servers', [{ url: '../..' }]),
    /server path \/base is gone, it is now \//,
  ],
  ['another host does not', (d) => set(d, 'servers', [{ url: '//other.example/base' }]), 'compatible'],
]

const access: Case[] = [
  [
    'another scope breaks',
    (d) => scope(d, 'letters:read'),
    /needed apiKey with letters:view and now needs apiKey with letters:read/,
  ],
  [
    'a further scope breaks',
    (d) => set(get(d), 'x-required-scope', ['letters:view', 'boxes:view']),
    /now needs .*boxes:view/,
  ],
  ['a scope stated in one place only does not', (d) => delete get(d)['x-required-scope'], 'compatible'],
  [
    'a second way in does not',
    (d) => set(get(d), 'security', [{ cookie: [] }, { apiKey: ['letters:view'] }]),
    'compatible',
  ],
  [
    'a key for a public operation breaks',
    (d) => set(status(d), 'security', [{ apiKey: [] }]),
    /was public and now needs apiKey/,
  ],
  [
    'a key for the whole document breaks its public operations',
    (d) => set(d, 'security', [{ apiKey: [] }]),
    /^GET \/v1\/status was public/,
  ],
  ['an operation made public does not', (d) => openToAll(d), 'compatible'],
  [
    'another authentication scheme breaks',
    (d) => set(scheme(d), 'scheme', 'basic'),
    /scheme apiKey: scheme went from "bearer" to "basic"/,
  ],
  [
    'another authentication type breaks',
    (d) => set(scheme(d), 'type', 'oauth2'),
    /type went from "http" to "oauth2"/,
  ],
  [
    'a security scheme that is gone breaks',
    (d) => delete at(d, 'components', 'securitySchemes').apiKey,
    /scheme apiKey is gone/,
  ],
  ['another hint at the key format does not', (d) => set(scheme(d), 'bearerFormat', 'lethe'), 'compatible'],
]

const parameters: Case[] = [
  [
    'a parameter that is gone breaks',
    (d) => set(get(d), 'parameters', list(get(d).parameters).slice(0, 3)),
    /query parameter after is gone/,
  ],
  ['a new optional parameter does not', (d) => add(d, { name: 'q', in: 'query' }), 'compatible'],
  [
    'a new required parameter breaks',
    (d) => add(d, { name: 'q', in: 'query', required: true }),
    /query parameter q is new and required/,
  ],
  [
    'a parameter that becomes required breaks',
    (d) => set(parameter(d, 'sort'), 'required', true),
    /parameter sort is now required/,
  ],
  [
    'a path parameter restated by the operation does not',
    (d) => add(d, { ...at(d, 'paths', LIST, 'parameters', 0) }),
    'compatible',
  ],
  [
    'a parameter that moves breaks',
    (d) => set(parameter(d, 'after'), 'in', 'header'),
    /query parameter after is gone/,
  ],
  [
    'another case of a header parameter does not',
    (d) => set(parameter(d, 'X-Request-Id'), 'name', 'x-request-id'),
    'compatible',
  ],
  [
    'another way to write a parameter breaks',
    (d) => set(parameter(d, 'after'), 'style', 'spaceDelimited'),
    /style went from unset/,
  ],
  [
    'another type breaks',
    (d) => set(limit(d), 'type', 'boolean'),
    /limit no longer accepts integer, only boolean/,
  ],
  ['a wider type does not', (d) => set(limit(d), 'type', ['number', 'string']), 'compatible'],
  [
    'a type that loses null breaks',
    (d) => set(after(d), 'type', 'string'),
    /after no longer accepts null, only string/,
  ],
  ['any value at all does not', (d) => set(parameter(d, 'after'), 'schema', {}), 'compatible'],
  [
    'a removed enum value breaks',
    (d) => set(sort(d), 'anyOf', [{ const: 'sentAt' }]),
    /sort no longer accepts "-sentAt", only "sentAt"/,
  ],
  [
    'another const breaks',
    (d) => set(sort(d), 'anyOf', [{ const: 'sentAt' }, { const: '-sent' }]),
    /no longer accepts "-sentAt"/,
  ],
  ['a new enum value does not', (d) => sortEnum(d, ['-sentAt', 'sentAt', 'id']), 'compatible'],
  [
    'an enum that opens up does not',
    (d) => set(parameter(d, 'sort'), 'schema', { type: 'string', default: 'sentAt' }),
    'compatible',
  ],
  [
    'an enum that opens up too little breaks',
    (d) => set(parameter(d, 'sort'), 'schema', { type: 'string', maxLength: 6, default: 'sentAt' }),
    /sort: maxLength went from 7 to 6/,
  ],
  ['a raised minimum breaks', (d) => set(limit(d), 'minimum', 2), /limit: minimum went from 1 to 2/],
  ['a lowered minimum does not', (d) => set(limit(d), 'minimum', 0), 'compatible'],
  ['a lowered maximum breaks', (d) => set(limit(d), 'maximum', 100), /limit: maximum went from 200 to 100/],
  ['a maximum lifted does not', (d) => delete limit(d).maximum, 'compatible'],
  ['a raised minLength breaks', (d) => set(after(d), 'minLength', 3), /after: minLength went from 2 to 3/],
  ['a lowered minLength does not', (d) => set(after(d), 'minLength', 1), 'compatible'],
  [
    'a lowered maxLength breaks',
    (d) => set(boxId(d), 'maxLength', 64),
    /path parameter boxId: maxLength went from 256 to 64/,
  ],
  ['a raised maxLength does not', (d) => set(boxId(d), 'maxLength', 512), 'compatible'],
  ['a new pattern breaks', (d) => set(boxId(d), 'pattern', '^b'), /boxId: pattern went from unset to "\^b"/],
  [
    'another pattern breaks',
    (d) => set(requestId(d), 'pattern', '^[a-z]+$'),
    /x-request-id: pattern went from/,
  ],
  [
    'the width of an integer that holds all of them does not',
    (d) => set(limit(d), 'format', 'int32'),
    'compatible',
  ],
  [
    'a width of which that is not known breaks',
    (d) => set(limit(d), 'format', 'int8'),
    /limit: format went from unset to "int8"/,
  ],
  ['a pattern lifted does not', (d) => delete requestId(d).pattern, 'compatible'],
  ['a new format breaks', (d) => set(boxId(d), 'format', 'uuid'), /boxId: format went from unset to "uuid"/],
  ['another default breaks', (d) => set(limit(d), 'default', 20), /limit: default went from 50 to 20/],
  [
    'a default that is gone breaks',
    (d) => delete sort(d).default,
    /sort: default went from "sentAt" to unset/,
  ],
  ['a default stated for the first time does not', (d) => set(after(d), 'default', null), 'compatible'],
  [
    'a required body breaks',
    (d) => set(get(d), 'requestBody', { required: true, content: {} }),
    /the request body is now required/,
  ],
  ['an optional body does not', (d) => set(get(d), 'requestBody', { content: {} }), 'compatible'],
]

const responses: Case[] = [
  [
    'a success status that is gone breaks',
    (d) => delete at(status(d), 'responses')[204],
    /response 204 is gone/,
  ],
  ['an error status that is gone breaks', (d) => delete at(get(d), 'responses')[404], /response 404 is gone/],
  [
    'a new error status does not',
    (d) => set(at(get(d), 'responses'), '429', { description: 'Slow down.' }),
    'compatible',
  ],
  [
    'a media type that is gone breaks',
    (d) => set(ok(d), 'content', { 'text/csv': {} }),
    /response 200, application\/json is gone/,
  ],
  ['a new media type does not', (d) => set(at(ok(d), 'content'), 'text/csv', {}), 'compatible'],
  ['a header that is gone breaks', (d) => delete ok(d).headers, /response 200, header x-request-id is gone/],
  [
    'a header that becomes optional breaks',
    (d) => delete at(ok(d), 'headers', 'X-Request-Id').required,
    /header x-request-id is no longer always there/,
  ],
  [
    'a header that may be something else breaks',
    (d) => set(at(ok(d), 'headers', 'X-Request-Id'), 'schema', { type: 'integer' }),
    /header x-request-id may now be integer/,
  ],
  [
    'another case of a header does not',
    (d) => set(ok(d), 'headers', { 'x-request-id': { required: true, schema: { type: 'string' } } }),
    'compatible',
  ],
  ['a new header does not', (d) => set(at(ok(d), 'headers'), 'ETag', {}), 'compatible'],
  ['a property that is gone breaks', (d) => delete letter(d).weight, /json \$\.letters\[\]\.weight is gone/],
  ['a required property that is gone breaks once', (d) => delete letter(d).id, /\$\.letters\[\]\.id is gone/],
  [
    'a schema that gets a name does not',
    (d) => {
      set(at(d, 'components', 'schemas'), 'Labels', letter(d).labels)
      set(letter(d), 'labels', { $ref: '#/components/schemas/Labels' })
    },
    'compatible',
  ],
  ['a new property does not', (d) => set(letter(d), 'stamp', { type: 'string' }), 'compatible'],
  [
    'a property that becomes optional breaks',
    (d) => set(schema(d, 'Letter'), 'required', ['id', 'kind']),
    /\.sentAt is no longer always there/,
  ],
  [
    'a property that becomes required does not',
    (d) => list(schema(d, 'Letter').required).push('weight'),
    'compatible',
  ],
  [
    'another type breaks',
    (d) => set(letter(d), 'note', { type: 'boolean' }),
    /\.note may now be boolean, where string was promised/,
  ],
  [
    'a type widened to a number breaks',
    (d) => set(letter(d), 'weight', { type: 'number' }),
    /\.weight may now be number, where integer was promised/,
  ],
  [
    'a type that gains null breaks',
    (d) => set(letter(d), 'note', { type: ['string', 'null'] }),
    /\.note may now be null/,
  ],
  [
    'a union that gains a member breaks',
    (d) => list(at(schema(d, 'Page'), 'properties', 'nextCursor').anyOf).push({ type: 'integer' }),
    /\.nextCursor may now be integer, where string or null was promised/,
  ],
  [
    'null written as a type list does not',
    (d) => set(at(schema(d, 'Page'), 'properties'), 'nextCursor', { type: ['null', 'string'] }),
    'compatible',
  ],
  [
    'a type that loses null does not',
    (d) => set(at(schema(d, 'Page'), 'properties'), 'nextCursor', { type: 'string' }),
    'compatible',
  ],
  [
    'a schema that is gone breaks',
    (d) => set(at(ok(d), 'content'), 'application/json', {}),
    /\$ may now be any value, where object was promised/,
  ],
  [
    'a new enum value breaks',
    (d) => list(at(letter(d), 'kind').anyOf).push({ const: 'fax' }),
    /\.kind may now be "fax", where "card" or "parcel" was promised/,
  ],
  [
    'an enum that opens up breaks',
    (d) => set(letter(d), 'kind', { type: 'string' }),
    /\.kind may now be string/,
  ],
  [
    'a removed enum value does not',
    (d) => set(letter(d), 'kind', { type: 'string', enum: ['card'] }),
    'compatible',
  ],
  [
    'a lowered minLength breaks',
    (d) => set(at(letter(d), 'id'), 'minLength', 0),
    /\.id: minLength went from 1 to 0/,
  ],
  ['a new maxLength does not', (d) => set(at(letter(d), 'id'), 'maxLength', 9), 'compatible'],
  [
    'a format that is gone breaks',
    (d) => delete at(letter(d), 'sentAt').format,
    /\.sentAt: format went from "date-time" to unset/,
  ],
  ['a new format does not', (d) => set(at(letter(d), 'id'), 'format', 'uuid'), 'compatible'],
  [
    'other items break',
    (d) => set(at(schema(d, 'Page'), 'properties', 'letters'), 'items', { type: 'string' }),
    /\.letters\[\] may now be string, where object was promised/,
  ],
  [
    'a closed map breaks',
    (d) => set(letter(d), 'labels', { type: 'object', additionalProperties: false }),
    /\.labels no longer has room for other properties/,
  ],
  [
    'a map with other values breaks',
    (d) => set(letter(d), 'labels', { type: 'object', additionalProperties: true }),
    /\.labels\.\* may now be any value/,
  ],
  [
    'a map written the other way does not',
    (d) => set(letter(d), 'labels', { type: 'object', additionalProperties: { type: 'string' } }),
    'compatible',
  ],
  [
    'items that are unsaid break',
    (d) => delete at(letter(d), 'answers').items,
    /\.answers\[\] may now be any value/,
  ],
  [
    'a closed list of properties does not',
    (d) => set(schema(d, 'Letter'), 'additionalProperties', false),
    'compatible',
  ],
  [
    'an intersection with the same properties does not',
    (d) => splitLetter(d, ['id', 'sentAt']),
    'compatible',
  ],
  [
    'an intersection with fewer required properties breaks',
    (d) => splitLetter(d, ['id']),
    /\.sentAt is no longer always there/,
  ],
]

for (const [group, cases] of Object.entries({ operations, access, parameters, responses })) {
  describe(`breaking changes of ${group}`, () => {
    for (const [name, mutate, expected] of cases) test(name, () => check(promised, mutate, expected))
  })
}

describe('breaking changes of a request body', () => {
  const body = {
    type: 'object',
    required: ['to'],
    properties: { to: { type: 'string' }, cc: { type: 'string' } },
  }
  const content = { 'application/json': { schema: body } }
  const withBody = mutated(promised, (d) => set(get(d), 'requestBody', { required: true, content }))
  const sent = (d: Json) => at(get(d), 'requestBody', 'content', 'application/json', 'schema')
  const cases: Case[] = [
    ['a body that is gone breaks', (d) => delete get(d).requestBody, /the request body is gone/],
    ['a body that becomes optional does not', (d) => delete at(get(d), 'requestBody').required, 'compatible'],
    [
      'a media type that is gone breaks',
      (d) => set(at(get(d), 'requestBody'), 'content', {}),
      /application\/json is gone/,
    ],
    [
      'a property that becomes required breaks',
      (d) => list(sent(d).required).push('cc'),
      /\$\.cc is now required/,
    ],
    ['a new required property breaks', (d) => list(sent(d).required).push('bcc'), /\$\.bcc is now required/],
    ['a property that becomes optional does not', (d) => delete sent(d).required, 'compatible'],
    [
      'a property that takes null too does not',
      (d) => set(at(sent(d), 'properties', 'to'), 'type', ['string', 'null']),
      'compatible',
    ],
    [
      'no room for other properties breaks',
      (d) => set(sent(d), 'additionalProperties', false),
      /no longer has room/,
    ],
  ]
  for (const [name, mutate, expected] of cases) test(name, () => check(withBody, mutate, expected))
})

describe('breaking changes of values and keywords', () => {
  const limited = (was: Json) =>
    mutated(promised, (d) => set(at(d, 'components', 'parameters', 'Limit'), 'schema', was))
  const accepts = (was: Json, now: Json) => breakingChanges(limited(was), limited(now)).length === 0
  const rows: [was: Json, now: Json][] = [
    [{ type: ['string', 'null'], enum: ['a', null] }, { anyOf: [{ type: 'null' }, { const: 'a' }] }],
    [{ enum: [null] }, { type: 'null' }],
    [{ type: 'string', enum: ['a', null] }, { type: 'string' }],
    [{ enum: [1, 2] }, { type: 'integer', maximum: 2 }],
    [{ const: ['a'] }, { type: 'array' }],
    [
      { type: 'object', additionalProperties: false },
      { type: 'object', additionalProperties: { type: 'null' } },
    ],
    [{ allOf: [{ type: 'number' }], type: 'integer' }, { type: 'integer' }],
    [{ type: 'string' }, { oneOf: [{ type: 'string', maxLength: 3 }, { type: 'string' }] }],
  ]
  for (const [was, now] of rows) {
    test(`${JSON.stringify(was)} widens to ${JSON.stringify(now)}`, () => assert.ok(accepts(was, now)))
  }

  const narrowed: [was: Json, now: Json][] = [
    [{ enum: ['a', null] }, { type: 'string' }],
    [{ enum: [1, 2, 3] }, { type: 'integer', maximum: 2 }],
    [{ type: 'object' }, { type: 'object', additionalProperties: false }],
    [{ type: 'array' }, { type: 'array', items: { type: 'string' } }],
    [
      { type: 'array', items: {} },
      { type: 'array', items: false },
    ],
  ]
  for (const [was, now] of narrowed) {
    test(`${JSON.stringify(was)} does not fit ${JSON.stringify(now)}`, () => assert.ok(!accepts(was, now)))
  }

  test('include every bound and every keyword', () => {
    for (const name of ['minimum', 'exclusiveMinimum', 'minLength', 'minItems', 'minProperties']) {
      assert.deepEqual(
        [accepts({ [name]: 3 }, { [name]: 4 }), accepts({ [name]: 4 }, { [name]: 3 })],
        [false, true],
        name,
      )
    }
    for (const name of ['maximum', 'exclusiveMaximum', 'maxLength', 'maxItems', 'maxProperties']) {
      assert.deepEqual(
        [accepts({ [name]: 3 }, { [name]: 4 }), accepts({ [name]: 4 }, { [name]: 3 })],
        [true, false],
        name,
      )
    }
    for (const name of ['pattern', 'format', 'multipleOf', 'uniqueItems', 'prefixItems', 'contains', 'not']) {
      assert.deepEqual(
        [accepts({ [name]: 3 }, {}), accepts({ [name]: 4 }, { [name]: 3 })],
        [true, false],
        name,
      )
    }
  })

  test('include every method', () => {
    for (const method of ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace']) {
      const base = mutated(promised, (d) => set(at(d, 'paths'), '/v1/one', { [method]: { responses: {} } }))
      check(base, (d) => delete at(d, 'paths')['/v1/one'], new RegExp(`^${method} /v1/one is gone`, 'i'))
    }
  })
})

test('a response whose properties were closed may have more', () => {
  const closed = mutated(promised, (d) => set(schema(d, 'Letter'), 'additionalProperties', false))
  check(closed, (d) => set(schema(d, 'Letter'), 'additionalProperties', true), 'compatible')
  check(closed, (d) => delete schema(d, 'Letter').additionalProperties, 'compatible')
})

test('a response object without named properties is a map, and may not be closed', () => {
  const free = mutated(promised, (d) => set(letter(d), 'labels', { type: 'object' }))
  check(free, (d) => set(at(letter(d), 'labels'), 'additionalProperties', false), /labels no longer has room/)
})

test('a key that is sent elsewhere is a breaking change', () => {
  const inHeader = { type: 'apiKey', in: 'header', name: 'X-Key' }
  const keyed = mutated(promised, (d) => set(at(d, 'components', 'securitySchemes'), 'apiKey', inHeader))
  check(keyed, (d) => set(scheme(d), 'in', 'query'), /apiKey: in went from "header" to "query"/)
  check(keyed, (d) => set(scheme(d), 'name', 'X-Token'), /apiKey: name went from "X-Key" to "X-Token"/)
})

describe('references', () => {
  test('a schema that only refers to itself terminates', () => {
    const loops = {
      A: { $ref: '#/components/schemas/A' },
      B: { anyOf: [{ $ref: '#/components/schemas/B' }] },
    }
    const looping = mutated(promised, (d) => {
      Object.assign(at(d, 'components', 'schemas'), loops)
      set(letter(d), 'note', loops.A)
      set(letter(d), 'more', loops.B)
    })
    check(looping, (d) => set(schema(d, 'B'), 'description', 'Still going round.'), 'compatible')
    check(promised, (d) => Object.assign(d, structuredClone(looping)), /\.note may now be any value/)
  })

  test('a change deep inside a recursive schema is reported once', () => {
    check(
      promised,
      (d) => set(letter(d), 'answers', { type: 'array', items: { type: 'null' } }),
      /answers\[\] may now be null/,
    )
  })

  test('keywords beside a reference count', () => {
    const beside = { $ref: '#/components/schemas/Size', default: 10 }
    const sized = mutated(promised, (d) => {
      set(at(d, 'components', 'schemas'), 'Size', { type: 'integer', maximum: 99, default: 5 })
      set(parameter(d, 'after'), 'schema', beside)
    })
    check(
      sized,
      (d) => set(parameter(d, 'after'), 'schema', { type: 'integer', maximum: 99, default: 10 }),
      'compatible',
    )
    check(sized, (d) => set(after(d), 'default', 20), /after: default went from 10 to 20/)
    check(sized, (d) => set(schema(d, 'Size'), 'maximum', 9), /after: maximum went from 99 to 9/)
  })

  test('a reference to a missing schema or to another document is an error', () => {
    for (const $ref of ['#/components/schemas/Missing', 'other.json#/Letter']) {
      const dangling = mutated(promised, (d) => set(letter(d), 'note', { $ref }))
      assert.throws(() => breakingChanges(promised, dangling), /leads to nothing in the document/)
    }
  })
})

test('a document is compatible with itself, and is not modified by the comparison', () => {
  const before = structuredClone(promised)
  assert.deepEqual(breakingChanges(promised, promised), [])
  assert.deepEqual(promised, before)
})

test('several changes are reported in one sentence each', () => {
  const current = mutated(promised, (d) => {
    set(limit(d), 'maximum', 100)
    set(limit(d), 'default', 20)
    delete letter(d).note
  })
  assert.equal(breakingChanges(promised, current).length, 3)
})

function check(
  base: OpenApiDocument,
  mutate: (document: Json) => void,
  expected: RegExp | 'compatible',
): void {
  const changes = breakingChanges(base, mutated(base, mutate))
  if (expected === 'compatible') {
    assert.deepEqual(changes, [])
  } else {
    assert.equal(changes.length, 1, changes.join('\n'))
    assert.match(changes.join(), expected)
  }
}

function mutated(base: OpenApiDocument, mutate: (document: Json) => void): Json {
  const document = structuredClone(base)
  mutate(document)
  return document
}

function at(start: unknown, ...keys: (string | number)[]): Json {
  const found = keys.reduce<unknown>((node, key) => Object(node)[key], start)
  assert.ok(isObject(found), `nothing at ${keys.join(' ')}`)
  return found
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null
}

function list(value: unknown): unknown[] {
  assert.ok(Array.isArray(value))
  return value
}

function set(target: Json, name: string, value: unknown): void {
  target[name] = value
}

function parameter(document: Json, name: string): Json {
  return at(list(get(document).parameters).find((one) => at(one).name === name))
}

function add(document: Json, one: Json): void {
  list(get(document).parameters).push(one)
}

function scope(document: Json, name: string): void {
  Object.assign(get(document), { security: [{ apiKey: [name] }], 'x-required-scope': name })
}

function openToAll(document: Json): void {
  set(get(document), 'security', [])
  delete get(document)['x-required-scope']
}

function sortEnum(document: Json, values: string[]): void {
  set(parameter(document, 'sort'), 'schema', { type: 'string', enum: values, default: 'sentAt' })
}

function splitLetter(document: Json, required: string[]): void {
  const { kind, ...rest } = letter(document)
  set(at(document, 'components', 'schemas'), 'Letter', {
    allOf: [
      { type: 'object', required, properties: rest },
      { type: 'object', required: ['kind'], properties: { kind } },
    ],
  })
}
