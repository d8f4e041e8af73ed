import assert from 'node:assert/strict'
import fc from 'fast-check'
import { allScopes } from '../../../../src/domain/api-key.ts'
import { maxBodyBytes } from '../../../../src/http/request-body.ts'
import { isObject } from '../../../support/answers.ts'
import { password } from '../../../support/console.ts'
import { greenPng } from '../../../support/png.ts'
import { anyText, identifierText, notIdentifierText } from '../parsers/texts.ts'
import type { Field, Operation } from './operations.ts'
import type { Surface } from './surface.ts'

/** The IDs of data subjects of every surface. */
export const subjectIds = ['anna', 'a/b', '🦦']

/** Values of a parameter in a path or query: only valid ones, only unknown ones, or both and other texts. */
export function textValue(
  path: string,
  field: Field,
  surface: Surface,
  values: 'good' | 'missing' | 'any',
): fc.Arbitrary<string> {
  const good = field.in === 'path' ? inPath(path, field, surface, values) : inQuery(field, surface)
  if (values !== 'any') return good
  return fc.oneof(
    { arbitrary: good, weight: 12 },
    { arbitrary: fc.oneof(...almostValid(field.schema)), weight: 3 },
    { arbitrary: anyText.map((text) => text.toWellFormed()), weight: 1 },
  )
}

function inPath(path: string, { name }: Field, surface: Surface, values: 'good' | 'missing' | 'any') {
  const known = surface.inPath[`${name} of ${path}`] ?? surface.inPath[name]
  assert.ok(known, `nobody has said what a good ${name} in a path is`)
  if (values === 'any') return fc.constantFrom(...known)
  return fc.constant((values === 'good' ? known.at(0) : known.at(-1)) ?? '')
}

function inQuery({ name, schema }: Field, surface: Surface): fc.Arbitrary<string> {
  if (name === 'cursor') return fc.constantFrom(...surface.cursors)
  if (Array.isArray(schema.enum)) return fc.constantFrom(...schema.enum.map(String))
  if (name === 'reference') return fc.constant('reference')
  // An index of a ledger with few entries.
  if (name === 'from' || name === 'index') return fc.oneof(fc.nat(5), fc.maxSafeNat()).map(String)
  if (schema.type === 'integer')
    return fc.integer({ min: Number(schema.minimum), max: Number(schema.maximum ?? 9) }).map(String)
  if (schema.format === 'date-time') return instant
  return identifierText
}

const instant = fc
  .date({ min: new Date('0001-01-01'), max: new Date('9999-12-30'), noInvalidDate: true })
  .chain((date) => {
    const text = date.toISOString()
    return fc.constantFrom(text, text.replace('Z', '+01:30'), text.replace(/\.\d+Z/, 'Z'))
  })

/** Texts that almost match a schema. */
function almostValid(schema: Record<string, unknown>): fc.Arbitrary<string>[] {
  if (Array.isArray(schema.enum)) {
    const near = (word: string) => [word.toUpperCase(), `${word} `, `-${word}`, word.slice(1)]
    return [fc.constantFrom(...schema.enum.map(String).flatMap(near))]
  }
  if (schema.type === 'integer') {
    const bounds = [Number(schema.minimum) - 1, Number(schema.maximum ?? Number.MAX_SAFE_INTEGER) + 1]
    const odd = ['', '-0', '+1', '01', ' 1', '1 ', '1.0', '1e1', '0x1', '１', '٣', 'NaN', 'null', '1\u0000']
    return [fc.constantFrom(...bounds.map(String), ...odd, '9'.repeat(400)), fc.integer().map(String)]
  }
  if (schema.format === 'date-time') {
    const odd = [
      ...['2026-02-30T00:00:00Z', '2026-01-01', '2026-01-01T24:00:00Z', '2026-01-01T00:00:60Z', '0', ''],
      ...['+002026-01-01T00:00:00Z', '2026-01-01T00:00:00', '2026-01-01 00:00:00Z'],
    ]
    return [fc.constantFrom(...odd), instant.map((text) => text.toLowerCase())]
  }
  return [
    notIdentifierText.map((text) => text.toWellFormed()),
    identifierText.map((text) => Array.from(text.repeat(257)).slice(0, 257).join('')),
    identifierText,
    fc.constantFrom(' ', '\u2028', '%00'),
  ]
}

const freshEmail = fc.string({ unit: fc.constantFrom(...'abcxyz019'), minLength: 5, maxLength: 12 })

const importLine = fc.record({
  type: fc.constantFrom('session', 'event', 'subject'),
  subjectId: fc.constantFrom('newcomer', 'late 🦦'),
  sessionId: fc.constantFrom('s1', 'new'),
  name: fc.constantFrom('pageview', '\u0000'),
  occurredAt: fc.constantFrom('2026-11-01T00:00:00Z', '2999-01-01T00:00:00Z', 'nonsense'),
  startedAt: fc.constantFrom('2026-11-01T00:00:00Z', '1000-01-01T00:00:00Z', 5),
  properties: fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 2 }), { maxKeys: 3 }),
})

const svgFiles = ['<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1"/>', '<svg onload="x()">']

/** Values for fields: own, of another organisation, and unknown. */
const inBody: Record<string, fc.Arbitrary<unknown>> = {
  role: fc.constantFrom('viewer', 'desk', 'admin'),
  above: fc.constantFrom(1, 10_000, null),
  name: fc.constantFrom('{{keyName}}', 'Another name', '__proto__', '🦦'.repeat(64)),
  scopes: fc.uniqueArray(fc.constantFrom(...allScopes()), { minLength: 1 }),
  expiresAt: fc.constantFrom('2999-12-31T00:00:00Z', '2100-01-01T00:00:00+01:30', null),
  email: freshEmail.map((text) => `${text}@fresh.example`),
  password: fc.constant(password),
  currentPassword: fc.constant('a wrong password'),
  token: fc.constant('{{link}}'),
  code: fc.constantFrom('000000', '0a1b2c-3d4e5f-6g7h8j-9kmnpq'),
  passkey: fc.constant({
    id: 'AAAA',
    response: { clientDataJSON: 'e30', authenticatorData: 'AAAA', signature: 'AAAA' },
  }),
  response: fc.constant({ id: 'AAAA', response: { clientDataJSON: 'e30', attestationObject: 'AAAA' } }),
  secondFactor: fc.constant('optional'),
  organisationId: fc.constant('{{organisationId}}'),
  subjectId: fc.constantFrom(...subjectIds),
  identifier: fc.record({
    name: fc.constantFrom('email', 'userId'),
    value: fc.constantFrom('ada@example.com', '42'),
  }),
  person: fc.constantFrom(
    { identifiers: [{ name: 'email', value: 'ada@example.com' }], subjects: [] },
    { identifiers: [], subjects: [{ trackerId: '{{trackerId}}', subjectId: 'a' }] },
  ),
  address: fc.constantFrom('', 'AAAA', 'A'.repeat(64)),
  records: fc.constantFrom(
    [{ trackerId: '{{trackerId}}', subjectId: 'a/b' }],
    [
      { trackerId: '{{theirTracker}}', subjectId: 'anna' },
      { trackerId: '{{trackerId}}', subjectId: 'anna' },
    ],
  ),
  until: instant,
  memberId: fc.constantFrom('{{colleagueId}}', '{{theirMember}}', null),
  trackerId: fc.constantFrom('{{listTracker}}', '{{theirTracker}}'),
  after: fc.constant({ trackerId: '{{listTracker}}', subjectId: 'a' }),
  limit: fc.constantFrom(1, 50, 200),
  format: fc.constantFrom('lines', 'csv'),
  column: fc.constantFrom('a', 'ada@example.com'),
  by: fc.constantFrom('subjectId', 'email'),
  trackerIds: fc.constantFrom([], ['{{trackerId}}'], ['{{theirTracker}}']),
  subjects: fc.constantFrom(1, 2),
  text: fc.constantFrom('a', 'ada@example.com', 'userId=42', ...subjectIds),
  displayName: fc.constantFrom('', 'Acme & Sons', '🦦'.repeat(64)),
  contact: fc.constantFrom('', 'privacy@acme.example', 'Acme\n1 Main Street'),
  language: fc.constantFrom('en', 'de'),
  file: fc.constantFrom(...[...svgFiles, greenPng(2, 1)].map((file) => Buffer.from(file).toString('base64'))),
  index: fc.constantFrom(0, 1, 1_000_000),
  version: fc.constantFrom(0, 1, 2),
  lines: fc.array(fc.oneof(importLine, fc.jsonValue({ maxDepth: 2 })), { maxLength: 5 }),
  cursor: fc.constant('{{cursor}}'),
  kind: fc.constantFrom('access', 'erasure'),
  receivedAt: fc.constantFrom(
    '2026-01-31T23:59:59.999Z',
    '0000-12-31T00:00:00Z',
    '2024-01-30T00:00:00+01:30',
  ),
  reference: fc.constantFrom('Ticket 7', '🦦'.repeat(200)),
  requests: fc.constantFrom(0, 1),
  requestId: fc.oneof(fc.uuid(), fc.constant('{{erasure}}')),
  query: fc.constantFrom('?code=a&state=b', ''),
  domains: fc.constantFrom([], ['fresh.example'], ['not a domain']),
  domainRole: fc.constantFrom('viewer', 'desk', 'admin'),
  passwordAllowed: fc.constant(true),
  reason: fc.constantFrom('Many systems', 'Two paragraphs\r\n\n\tand 🦦'),
}

const replyName = fc.constantFrom('access.received', 'erasure.erased')

/** Values that differ for some routes. Passwords are slow to set and to verify, so few requests have one. */
const byRoute: Record<string, Record<string, fc.Arbitrary<unknown>>> = {
  '/console/api/sign-in': {
    email: fc.constant('{{email}}'),
    password: fc.constantFrom(password, 'a wrong password'),
  },
  '/console/api/keys/{keyId}/revoke': { name: fc.constant('{{keyName}}') },
  '/console/api/variable-tokens/{tokenId}/revoke': { name: fc.constant('token') },
  '/console/api/trackers/{trackerId}/variables': {
    text: fc.constantFrom('{}', '{"a": [1, "🦦"]}', '{"a": 1, "a": 2}', '{"__proto__": 1}', '{"a": 1e999}'),
  },
  '/console/api/reply-texts': {
    name: replyName,
    text: fc.constantFrom('We answer by {dueAt}.', '{{🦦}}\r\n', '{dueDate}', 'a {'),
  },
  '/console/api/reply-texts/restore': { name: replyName },
  '/console/api/trackers/{trackerId}/delete': { name: fc.constant('tracker') },
  // The subjects of a list are erased with a delay, so nothing else uses them.
  '/console/api/erasure-lists': {
    text: fc.constant('listed'),
    format: fc.constant('lines'),
    by: fc.constant('subjectId'),
    trackerIds: fc.constantFrom([], ['{{listTracker}}']),
    subjects: fc.constant(1),
  },
  '/console/api/request-groups/start': { reference: fc.constant('reference') },
  '/console/api/request-groups/cancel': {
    reference: fc.constant('reference'),
    requests: fc.integer({ min: 1, max: 4 }),
  },
  '/console/api/request-groups/approve': { reference: fc.constant('waiting'), requests: fc.constant(1) },
  '/console/api/request-groups/decline': { reference: fc.constant('waiting'), requests: fc.constant(1) },
  '/console/api/requests/{requestId}/exclude': { subjectId: fc.constant('listed') },
  '/console/api/requests/{requestId}/include': { subjectId: fc.constant('listed') },
}
const rarelyGood: Record<string, Record<string, fc.Arbitrary<unknown>>> = {
  '/console/api/invitation/accept': {
    token: fc.oneof({ arbitrary: fc.constant('nothing'), weight: 9 }, fc.constant('{{link}}')),
  },
}

/** Values of a field in a body: only valid ones, or also almost valid ones and any JSON. */
export function bodyValue({ path, fields }: Operation, { name, schema }: Field, onlyGood: boolean) {
  const good = byRoute[path]?.[name] ?? inBody[name]
  assert.ok(good, `nobody has said what a good ${name} in a body is`)
  if (onlyGood) return good
  const hasPassword = fields.some((each) => each.name === 'password')
  return fc.oneof(
    { arbitrary: rarelyGood[path]?.[name] ?? good, weight: hasPassword ? 30 : 12 },
    { arbitrary: almostValidInBody(schema), weight: 2 },
    { arbitrary: fc.oneof(fc.jsonValue({ maxDepth: 3 }), fc.constantFrom(...oddValues)), weight: 1 },
  )
}

const oddValues: unknown[] = [
  ...[null, true, 0, -1, 1e308, '', [], {}, [[]], ['x']],
  ...[{ length: 5 }, { toString: 'x' }, { name: 'E-mail', value: '' }],
]

/** Values that are slightly too short or too long, or have characters that must not be stored. */
function almostValidInBody(schema: unknown): fc.Arbitrary<unknown> {
  const { maxLength, maxItems } = isObject(schema) ? schema : {}
  if (typeof maxItems === 'number') {
    const tooMany = Array(maxItems + 1).fill('analytics:view')
    return fc.constantFrom([], ['nothing:x'], tooMany, ['analytics:view', 1])
  }
  // A body that is too long for its route is refused before its fields are validated.
  const long = typeof maxLength === 'number' && maxLength < maxBodyBytes ? maxLength : 100
  const lengths = ['x'.repeat(long), 'x'.repeat(long + 1), '🦦'.repeat(long)]
  return fc.constantFrom('', ...lengths, '\u0000', 'a\u0000b', '\ud800', '\n')
}

/** Names that are not fields, or not fields of this route. */
export const strayField = fc.oneof(
  fc.constantFrom('__proto__', 'constructor', 'toString', 'organisationId', 'isAdmin', 'Name', ' name', ''),
  anyText,
)
