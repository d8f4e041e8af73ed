import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { andThen, batcher, type MaybePromise, runSteps } from '../../src/domain/maybe-promise.ts'

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

describe('asking together', () => {
  function doubling(atMost: number) {
    const groups: number[][] = []
    const ask = batcher<number, number>(atMost, async (questions) => {
      groups.push([...questions])
      return questions.map((question) => question * 2)
    })
    return { ask, groups }
  }

  it('answers each with its own answer, and goes out once for all of a moment', async () => {
    const { ask, groups } = doubling(10)
    assert.deepEqual(await Promise.all([ask(3), ask(1), ask(2)]), [6, 2, 4])
    assert.deepEqual(groups, [[3, 1, 2]])
  })

  it('begins again with the next turn of the event loop', async () => {
    const { ask, groups } = doubling(10)
    assert.equal(await ask(1), 2)
    assert.equal(await ask(2), 4)
    assert.deepEqual(groups, [[1], [2]])
  })

  it('asks for no more in a batch than it was told', async () => {
    const { ask, groups } = doubling(2)
    assert.deepEqual(await Promise.all([1, 2, 3, 4, 5].map(ask)), [2, 4, 6, 8, 10])
    assert.deepEqual(groups, [[1, 2], [3, 4], [5]])
  })

  it('fails for everybody when it fails, and is good for the next', async () => {
    let isBroken = true
    const ask = batcher<number, number>(10, async (questions) => {
      if (isBroken) throw new Error('away')
      return questions
    })
    const failed = await Promise.allSettled([ask(1), ask(2)])
    assert.deepEqual(
      failed.map(({ status }) => status),
      ['rejected', 'rejected'],
    )
    isBroken = false
    assert.equal(await ask(3), 3)
  })

  it('in turn, lets them gather until those before are answered or have failed', async () => {
    const groups: number[][] = []
    const answers = [
      Promise.withResolvers<void>(),
      Promise.withResolvers<void>(),
      Promise.withResolvers<void>(),
    ]
    const ask = batcher<number, number>(
      2,
      async (questions) => {
        await answers[groups.push([...questions]) - 1]?.promise
        return questions
      },
      { inTurn: true },
    )
    const first = ask(1)
    await Promise.resolve()
    const later = [ask(2), ask(3), ask(4)]
    await setImmediate()
    assert.deepEqual(groups, [[1]])
    answers[0]?.resolve()
    assert.equal(await first, 1)
    await setImmediate()
    assert.deepEqual(groups, [[1], [2, 3]])
    answers[1]?.reject(new Error('away'))
    await assert.rejects(Promise.all(later.slice(0, 2)), /away/)
    answers[2]?.resolve()
    assert.equal(await later[2], 4)
    assert.deepEqual(groups, [[1], [2, 3], [4]])
  })

  it('fails for callers that get no answer', async () => {
    const ask = batcher<number, number>(10, async (questions) => questions.slice(1))
    const [first, second] = await Promise.allSettled([ask(1), ask(2)])
    assert.equal(first?.status, 'fulfilled')
    assert.equal(second?.status, 'rejected')
  })
})
