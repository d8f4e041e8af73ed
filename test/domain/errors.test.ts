import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { LetheError, Problems } from '../../src/domain/errors.ts'

describe('the problems of a request', () => {
  it('throw nothing if there are none', () => {
    const problems = new Problems()
    problems.throwIfAny()
    assert.deepEqual(problems.list(), [])
  })

  it('are thrown together, in the order in which they were found', () => {
    const problems = new Problems()
    problems.add('limit', 'limit must be a number')
    problems.add('cursor', 'cursor is damaged')
    assert.throws(
      () => problems.throwIfAny(),
      (error) => {
        assert.ok(error instanceof LetheError)
        assert.equal(error.code, 'validation_error')
        assert.equal(error.message, 'Check limit, cursor: see details.')
        assert.deepEqual(error.details, [
          { field: 'limit', message: 'limit must be a number' },
          { field: 'cursor', message: 'cursor is damaged' },
        ])
        return true
      },
    )
  })

  it('are listed up to 100, with the number of others', () => {
    const problems = new Problems()
    for (let i = 0; i < 100; i++) problems.add(`f${i}`, 'wrong')
    assert.equal(problems.list().at(-1)?.field, 'f99')
    problems.add('f100', 'wrong')
    assert.equal(problems.list().length, 100)
    assert.deepEqual(problems.list().slice(-2), [
      { field: 'f98', message: 'wrong' },
      { field: 'details', message: '2 more problems are not listed' },
    ])
    assert.throws(() => problems.throwIfAny(), /, f98 and 2 more: see details\.$/)
  })

  it('include each field once, with its first problem', () => {
    const problems = new Problems()
    problems.add('limit', 'first')
    problems.add('limit', 'second')
    assert.deepEqual(problems.list(), [{ field: 'limit', message: 'first' }])
    assert.equal(problems.has('limit'), true)
    assert.equal(problems.has('cursor'), false)
  })
})
