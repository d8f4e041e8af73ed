import assert from 'node:assert/strict'
import { test } from 'node:test'
import { errorCodes } from '../../src/domain/errors.ts'
import { Failure } from '../../src/http/envelope.ts'
import { errorStatus } from '../../src/http/response.ts'
import { validator } from '../../src/http/schema.ts'
import { blocks, code, read, sections, tableRows } from './markdown.ts'

const page = read('docs/reference/errors.md')

test('the errors page lists exactly the codes, with their statuses', () => {
  const documented = tableRows(page).map(([name, status]) => [code(name), Number(status)])
  assert.deepEqual(
    documented,
    errorCodes.map((name) => [name, errorStatus[name]]),
  )
})

test('the errors page has exactly one section for each code', () => {
  assert.deepEqual(
    sections(page).map(({ heading }) => heading),
    [...errorCodes],
  )
})

for (const { heading, body } of sections(page)) {
  test(`the section on ${heading} shows an example and says what to do`, () => {
    const examples = blocks(body, 'json')
    assert.equal(examples.length, 1)
    const example: unknown = JSON.parse(examples[0] ?? '')
    const isFailure = validator(Failure)
    assert.ok(isFailure(example), 'the example does not match the schema of a failure')
    assert.equal(example.error.code, heading)
    assert.equal(example.error.details !== undefined, heading === 'validation_error')
    assert.match(body, /\*\*What to do:\*\* \S/)
  })
}
