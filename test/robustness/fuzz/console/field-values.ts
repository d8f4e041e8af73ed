import assert from 'node:assert/strict'
import fc from 'fast-check'
import { allScopes } from '../../../../src/domain/scope.ts'
import { maxBodyBytes } from '../../../../src/http/request-body.ts'
import type { Route } from '../../../../src/http/request-context.ts'
import { isObject } from '../../../support/answers.ts'
import { password } from '../../../support/console.ts'
import { anyText } from '../parsers/texts.ts'
import type { Parameter } from '../requests/operations.ts'
import { type Known, parameterValue } from '../requests/parameter-values.ts'
import { subjectIds } from './stage.ts'

const known: Known = { trackerIds: [], subjectIds, cursors: ['{{cursor}}', '{{activityCursor}}', 'x'] }
const freshEmail = fc.string({ unit: fc.constantFrom(...'abcxyz019'), minLength: 5, maxLength: 12 })

/** What a member would write there: what is theirs, what is another organisation's, and what is nobody's. */
const inPath: Record<string, readonly string[]> = {
  trackerId: ['{{trackerId}}', '{{trackerId}}', '{{trackerId}}', '{{theirTracker}}', 'nothing'],
  subjectId: subjectIds,
  keyId: ['{{keyId}}', '{{keyId}}', '{{theirKey}}', 'nothing'],
  batchId: ['{{batchId}}', '{{batchId}}', '{{theirBatch}}', 'nothing'],
  memberId: ['{{colleagueId}}', '{{colleagueId}}', '{{theirMember}}', '{{memberId}}', 'nothing'],
}

const inBody: Record<string, fc.Arbitrary<unknown>> = {
  name: fc.constantFrom('{{keyName}}', 'Another name', '__proto__', '🦦'.repeat(64)),
  scopes: fc.uniqueArray(fc.constantFrom(...allScopes()), { minLength: 1 }),
  expiresAt: fc.constantFrom('2999-12-31T00:00:00Z', '2100-01-01T00:00:00+01:30', null),
  email: freshEmail.map((text) => `${text}@fresh.example`),
  password: fc.constant(password),
  token: fc.constant('{{link}}'),
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
  limit: fc.constantFrom(1, 50, 200),
  format: fc.constantFrom('lines', 'csv'),
  column: fc.constantFrom('a', 'ada@example.com'),
  by: fc.constantFrom('subjectId', 'email'),
  trackerIds: fc.constantFrom([], ['{{trackerId}}'], ['{{theirTracker}}']),
  subjects: fc.constantFrom(1, 2),
  text: fc.constantFrom('a', 'ada@example.com', 'userId=42', ...subjectIds),
  index: fc.constantFrom(0, 1, 1_000_000),
  cursor: fc.constant('{{cursor}}'),
}

/** Where it takes another value than elsewhere. A password takes long to set, and as long to try where nobody has it: few do. */
const particular: Record<string, Record<string, fc.Arbitrary<unknown>>> = {
  '/console/api/sign-in': {
    email: fc.constant('{{email}}'),
    password: fc.constantFrom(password, 'a wrong password'),
  },
  '/console/api/keys/{keyId}/revoke': { name: fc.constant('{{keyName}}') },
  '/console/api/trackers/{trackerId}/delete': { name: fc.constant('tracker') },
  // What a batch does, it does at times of its own: to somebody whom nothing else looks at.
  '/console/api/batches': {
    text: fc.constant('listed'),
    format: fc.constant('lines'),
    by: fc.constant('subjectId'),
    trackerIds: fc.constantFrom([], ['{{listTracker}}']),
    subjects: fc.constant(1),
  },
  '/console/api/people/erase': {
    person: fc.constant({
      identifiers: [],
      subjects: [{ trackerId: '{{listTracker}}', subjectId: 'listed' }],
    }),
    subjects: fc.constant(1),
  },
}
const rarelyGood: Record<string, Record<string, fc.Arbitrary<unknown>>> = {
  '/console/api/invitation/accept': {
    token: fc.oneof({ arbitrary: fc.constant('nothing'), weight: 9 }, fc.constant('{{link}}')),
  },
}

/** Good values of a parameter in a path or a query alone, or with those beside them. */
export function textValue(parameter: Pick<Parameter, 'name' | 'in' | 'schema'>, onlyGood: boolean) {
  const { name } = parameter
  const values = inPath[name]
  assert.ok(parameter.in !== 'path' || values, `nobody has said what a good ${name} in a path is`)
  if (parameter.in !== 'path') return parameterValue(parameter, known)
  const good = fc.constantFrom(...(onlyGood ? (values ?? []).slice(0, 1) : (values ?? [])))
  return onlyGood
    ? good
    : fc.oneof(
        { arbitrary: good, weight: 12 },
        { arbitrary: parameterValue({ ...parameter, name: 'any' }, known), weight: 1 },
      )
}

/** Good values of a field in a body alone, or with what is nearly good and with any JSON. */
export function bodyValue({ path, body }: Route, name: string, onlyGood: boolean) {
  const good = particular[path]?.[name] ?? inBody[name]
  assert.ok(good, `nobody has said what a good ${name} in a body is`)
  if (onlyGood) return good
  return fc.oneof(
    { arbitrary: rarelyGood[path]?.[name] ?? good, weight: 'password' in body ? 30 : 12 },
    { arbitrary: nearly(body[name]), weight: 2 },
    { arbitrary: fc.oneof(fc.jsonValue({ maxDepth: 3 }), fc.constantFrom(...oddValues)), weight: 1 },
  )
}

const oddValues: unknown[] = [
  null,
  true,
  0,
  -1,
  1e308,
  [],
  {},
  [[]],
  { length: 5 },
  { toString: 'x' },
  ['x'],
  '',
]

/** Just too short, too long, or of characters that no store should meet. */
function nearly(schema: unknown): fc.Arbitrary<unknown> {
  const { maxLength, maxItems } = isObject(schema) ? schema : {}
  if (typeof maxItems === 'number') {
    return fc.constantFrom([], ['nothing:x'], Array(maxItems + 1).fill('analytics:view'), [
      'analytics:view',
      1,
    ])
  }
  // A body too long for its route is refused before its fields are looked at.
  const long = typeof maxLength === 'number' && maxLength < maxBodyBytes ? maxLength : 100
  return fc.constantFrom(
    '',
    'x'.repeat(long),
    'x'.repeat(long + 1),
    '🦦'.repeat(long),
    '\u0000',
    'a\u0000b',
    '\ud800',
    '\n',
  )
}

/** Names that are no fields, or not of this route. */
export const strayField = fc.oneof(
  fc.constantFrom('__proto__', 'constructor', 'toString', 'organisationId', 'isAdmin', 'Name', ' name', ''),
  anyText,
)
