import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { Problems } from '../../src/domain/errors.ts'
import {
  checkVariables,
  compareVariables,
  formatVariables,
  maxDocumentBytes,
  maxValueBytes,
  maxValueDepth,
  maxVariables,
  parseVariables,
  readVariables,
  type Variables,
  variableNamePattern,
  variableSet,
} from '../../src/domain/variable.ts'

function variablesOf(values: Record<string, unknown>): Variables {
  return new Map(Object.entries(values))
}

function problemsOf(variables: Variables): Record<string, string> {
  const problems = new Problems()
  checkVariables(variables, problems)
  return Object.fromEntries(problems.list().map(({ field, message }) => [field, message]))
}

function nested(levels: number): unknown {
  return levels === 0 ? 1 : [nested(levels - 1)]
}

/** `count` variables whose document has exactly `bytes` bytes. */
function ofSize(count: number, bytes: number): Variables {
  const each = Math.floor(bytes / count)
  const variables = new Map(
    Array.from({ length: count }, (_, number) => [`v${number}`, 'x'.repeat(each - 20)]),
  )
  const missing = bytes - Buffer.byteLength(formatVariables(variables))
  return variables.set('v0', 'x'.repeat(each - 20 + missing))
}

test('variables at their limits are valid', () => {
  const named = ['a', 'Z', 'a.b-c_D9', 'n'.repeat(64), 'constructor', 'toString']
  assert.deepEqual(problemsOf(new Map(named.map((name) => [name, null]))), {})
  const depth = {
    array: nested(maxValueDepth),
    objects: JSON.parse(`${'{"a":'.repeat(32)}1${'}'.repeat(32)}`),
  }
  assert.deepEqual(problemsOf(variablesOf(depth)), {})
  assert.deepEqual(problemsOf(variablesOf({ a: 'x'.repeat(maxValueBytes - 2) })), {})
  const most = Array.from({ length: maxVariables }, (_, number) => [`v${number}`, number] as const)
  assert.deepEqual(problemsOf(new Map(most)), {})
  assert.deepEqual(problemsOf(ofSize(17, maxDocumentBytes - 1)), {})
})

const badNames = ['', '1a', '_a', 'a b', 'ä', 'a\n', '__proto__']
const tooMany = Array.from({ length: maxVariables + 1 }, (_, number) => [`v${number}`, number] as const)

const invalid: [what: string, variables: Variables, field: string, reason: RegExp][] = [
  ['a long name', new Map([['n'.repeat(65), 1]]), `${'n'.repeat(64)}…`, /not a valid name/],
  ['a deep value', variablesOf({ a: nested(maxValueDepth + 1) }), 'a', /more than 32 levels/],
  ['a large value', variablesOf({ a: 'x'.repeat(maxValueBytes - 1) }), 'a', /65537 bytes/],
  ['a value that is large in UTF-8', variablesOf({ a: 'ä'.repeat(maxValueBytes / 2) }), 'a', /65538 bytes/],
  ['a set of 1,001 variables', new Map(tooMany), 'variables', /at most 1000 variables, not 1001/],
  ['a set over 1 MiB', ofSize(17, maxDocumentBytes + 1), 'variables', /1 MiB together/],
]

test('an invalid name is a problem of that name', () => {
  for (const name of badNames) {
    assert.deepEqual(Object.keys(problemsOf(new Map([[name, 1]]))), [name])
  }
})

for (const [what, variables, field, reason] of invalid) {
  test(`${what} is a problem of ${JSON.stringify(field.slice(0, 20))}`, () => {
    const problems = problemsOf(variables)
    assert.deepEqual(Object.keys(problems), [field])
    assert.match(problems[field] ?? '', reason)
  })
}

test('a comparison lists added, changed and removed names, whatever the order of members', () => {
  const before = variablesOf({ z: 1, same: { a: 1, b: [{ c: 1, d: 2 }] }, gone: null, changed: [1, 2] })
  const after = variablesOf({ same: { b: [{ d: 2, c: 1 }], a: 1 }, changed: [2, 1], z: 1, Added: false })
  assert.deepEqual(compareVariables(before, after), [
    { kind: 'added', name: 'Added', after: false },
    { kind: 'changed', name: 'changed', before: [1, 2], after: [2, 1] },
    { kind: 'removed', name: 'gone', before: null },
  ])
})

test('the document of a set is ordered by name, and its digest identifies version and document', () => {
  const set = variableSet(3, variablesOf({ b: { z: 1, a: 2 }, B: 'ä', a: [1, null] }))
  assert.equal(set.document, '{"B":"ä","a":[1,null],"b":{"z":1,"a":2}}')
  assert.deepEqual(set, variableSet(3, readVariables(set.document)))
  const digests = [set, variableSet(4, readVariables(set.document)), variableSet(3, new Map())]
  assert.equal(new Set(digests.map(({ digest }) => digest)).size, digests.length)
})

const names = fc.stringMatching(variableNamePattern)
const values = fc.jsonValue({ maxDepth: 4, noUnicodeString: false })

test('every document can be written, compact or indented, and read again', () => {
  fc.assert(
    fc.property(fc.dictionary(names, values), fc.constantFrom(undefined, 2), (object, space) => {
      const variables = new Map(Object.entries(object).filter(([, value]) => !hasLargeInteger(value)))
      const problems = new Problems()
      const parsed = parseVariables(formatVariables(variables, space), problems)
      assert.deepEqual(problems.list(), [])
      assert.deepEqual(compareVariables(variables, parsed ?? new Map()), [])
      assert.equal(formatVariables(parsed ?? new Map()), formatVariables(variables))
    }),
  )
})

test('a change from one set to another, applied to it, gives the other', () => {
  fc.assert(
    fc.property(fc.dictionary(names, values), fc.dictionary(names, values), (from, to) => {
      const [before, after] = [variablesOf(from), variablesOf(to)]
      const result = new Map(before)
      for (const change of compareVariables(before, after)) {
        if (change.kind === 'removed') result.delete(change.name)
        else result.set(change.name, change.after)
      }
      assert.deepEqual(compareVariables(result, after), [])
      assert.equal(result.size, after.size)
    }),
  )
})

/** Integers that JSON writes with all digits although they are not exact. */
function hasLargeInteger(value: unknown): boolean {
  return /(?<![\d.e+-])-?\d{16,}(?![\d.e])/.test(JSON.stringify(value))
}
