import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { type Eventually, type Steps, then, wait, walk } from '../../src/domain/eventually.ts'

describe('going on with a value', () => {
  it('happens at once when it is here', () => {
    assert.equal(
      then(2, (number) => number * 3),
      6,
    )
  })

  it('happens when it comes, else', async () => {
    const result = then(Promise.resolve(2), (number) => number * 3)
    assert.ok(result instanceof Promise)
    assert.equal(await result, 6)
  })
})

describe('walking through steps', () => {
  function* steps(values: readonly Eventually<number>[], log: string[]): Steps<number> {
    let sum = 0
    try {
      for (const value of values) sum += yield* wait(value)
      return sum
    } finally {
      log.push('left')
    }
  }

  it('ends at once when nothing has to be waited for', () => {
    const log: string[] = []
    assert.equal(walk(steps([1, 2, 3], log)), 6)
    assert.deepEqual(log, ['left'])
  })

  it('waits where something has to be waited for, as often as it has to', async () => {
    const log: string[] = []
    const result = walk(steps([1, Promise.resolve(2), 3, Promise.resolve(4)], log))
    assert.ok(result instanceof Promise)
    assert.deepEqual(log, [])
    assert.equal(await result, 10)
    assert.deepEqual(log, ['left'])
  })

  it('throws at once what a step throws before anything was waited for', () => {
    function* failing(): Steps<void> {
      yield* wait(1)
      throw new Error('no way')
    }
    assert.throws(() => walk(failing()), /no way/)
  })

  it('hands a rejection to the step that waits, which may catch it', async () => {
    function* forgiving(): Steps<string> {
      try {
        return yield* wait<string>(Promise.reject(new Error('gone')))
      } catch (error) {
        return `caught ${error instanceof Error ? error.message : ''}`
      }
    }
    assert.equal(await walk(forgiving()), 'caught gone')
  })

  it('rejects with what no step catches, having left the steps properly', async () => {
    const log: string[] = []
    const result = walk(steps([1, Promise.reject(new Error('gone')), 3], log))
    assert.ok(result instanceof Promise)
    await assert.rejects(result, /gone/)
    assert.deepEqual(log, ['left'])
  })
})
