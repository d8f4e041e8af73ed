import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { andThen, type MaybePromise, runSteps } from '../../src/domain/maybe-promise.ts'

describe('going on with a value', () => {
  it('happens immediately when it is here', () => {
    assert.equal(
      andThen(2, (number) => number * 3),
      6,
    )
  })

  it('happens when it comes, else', async () => {
    const result = andThen(Promise.resolve(2), (number) => number * 3)
    assert.ok(result instanceof Promise)
    assert.equal(await result, 6)
  })
})

describe('walking through steps', () => {
  type Step = (log: string[]) => MaybePromise<string | null>
  const atOnce =
    (name: string): Step =>
    (log) => {
      log.push(name)
      return null
    }
  const later =
    (name: string): Step =>
    async (log) => {
      await Promise.resolve()
      log.push(name)
      return null
    }

  it('ends immediately when nothing has to be waited for', () => {
    const log: string[] = []
    assert.equal(runSteps([atOnce('a'), atOnce('b')], log), null)
    assert.deepEqual(log, ['a', 'b'])
  })

  it('waits where something has to be waited for, as often as it has to, and keeps the order', async () => {
    const log: string[] = []
    const result = runSteps([atOnce('a'), later('b'), atOnce('c'), later('d'), atOnce('e')], log)
    assert.ok(result instanceof Promise)
    assert.deepEqual(log, ['a'])
    assert.equal(await result, null)
    assert.deepEqual(log, ['a', 'b', 'c', 'd', 'e'])
  })

  it('ends at an obstacle, which it hands back immediately when nothing was waited for', () => {
    const log: string[] = []
    assert.equal(runSteps([atOnce('a'), () => 'a wall', atOnce('b')], log), 'a wall')
    assert.deepEqual(log, ['a'])
  })

  it('ends at an obstacle that is found later, or behind a step that was waited for', async () => {
    for (const steps of [
      [atOnce('a'), async () => 'a wall', atOnce('b')],
      [later('a'), () => 'a wall', atOnce('b')],
    ]) {
      const log: string[] = []
      const result = runSteps(steps, log)
      assert.ok(result instanceof Promise)
      assert.equal(await result, 'a wall')
      assert.deepEqual(log, ['a'])
    }
  })

  it('throws immediately what a step throws before anything was waited for, and takes no step after it', () => {
    const log: string[] = []
    const failing = () => {
      throw new Error('no way')
    }
    assert.throws(() => runSteps([atOnce('a'), failing, atOnce('b')], log), /no way/)
    assert.deepEqual(log, ['a'])
  })

  it('rejects with what a step throws later, and takes no step after it', async () => {
    for (const failing of [
      () => Promise.reject(new Error('gone')),
      () => {
        throw new Error('gone')
      },
    ]) {
      const log: string[] = []
      const result = runSteps([later('a'), failing, atOnce('b')], log)
      assert.ok(result instanceof Promise)
      await assert.rejects(result, /gone/)
      assert.deepEqual(log, ['a'])
    }
  })
})
