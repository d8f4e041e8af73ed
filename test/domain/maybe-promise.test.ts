import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { andThen, batcher, type MaybePromise, runSteps } from '../../src/domain/maybe-promise.ts'

describe('andThen', () => {
  it('calls back synchronously with a value', () => {
    assert.equal(
      andThen(2, (number) => number * 3),
      6,
    )
  })

  it('calls back asynchronously with a promise', async () => {
    const result = andThen(Promise.resolve(2), (number) => number * 3)
    assert.ok(result instanceof Promise)
    assert.equal(await result, 6)
  })
})

describe('runSteps', () => {
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

  it('returns synchronously if no step is asynchronous', () => {
    const log: string[] = []
    assert.equal(runSteps([atOnce('a'), atOnce('b')], log), null)
    assert.deepEqual(log, ['a', 'b'])
  })

  it('awaits asynchronous steps in order', async () => {
    const log: string[] = []
    const result = runSteps([atOnce('a'), later('b'), atOnce('c'), later('d'), atOnce('e')], log)
    assert.ok(result instanceof Promise)
    assert.deepEqual(log, ['a'])
    assert.equal(await result, null)
    assert.deepEqual(log, ['a', 'b', 'c', 'd', 'e'])
  })

  it('returns the first result of a step, synchronously if no step was asynchronous', () => {
    const log: string[] = []
    assert.equal(runSteps([atOnce('a'), () => 'a wall', atOnce('b')], log), 'a wall')
    assert.deepEqual(log, ['a'])
  })

  it('returns the result of an asynchronous step, or of one after it', async () => {
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

  it('throws synchronously if no step was asynchronous, and skips later steps', () => {
    const log: string[] = []
    const failing = () => {
      throw new Error('no way')
    }
    assert.throws(() => runSteps([atOnce('a'), failing, atOnce('b')], log), /no way/)
    assert.deepEqual(log, ['a'])
  })

  it('rejects if a step throws later, and skips later steps', async () => {
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

describe('batcher', () => {
  function doubling(atMost: number) {
    const groups: number[][] = []
    const ask = batcher<number, number>(atMost, async (questions) => {
      groups.push([...questions])
      return questions.map((question) => question * 2)
    })
    return { ask, groups }
  }

  it('returns the result of each call, with one batch for all concurrent calls', async () => {
    const { ask, groups } = doubling(10)
    assert.deepEqual(await Promise.all([ask(3), ask(1), ask(2)]), [6, 2, 4])
    assert.deepEqual(groups, [[3, 1, 2]])
  })

  it('starts another batch in the next turn of the event loop', async () => {
    const { ask, groups } = doubling(10)
    assert.equal(await ask(1), 2)
    assert.equal(await ask(2), 4)
    assert.deepEqual(groups, [[1], [2]])
  })

  it('limits the size of a batch', async () => {
    const { ask, groups } = doubling(2)
    assert.deepEqual(await Promise.all([1, 2, 3, 4, 5].map(ask)), [2, 4, 6, 8, 10])
    assert.deepEqual(groups, [[1, 2], [3, 4], [5]])
  })

  it('rejects all calls of a batch that fails, but no later ones', async () => {
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

  it('in turn, collects calls until earlier batches have ended', async () => {
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

  it('rejects calls without a result', async () => {
    const ask = batcher<number, number>(10, async (questions) => questions.slice(1))
    const [first, second] = await Promise.allSettled([ask(1), ask(2)])
    assert.equal(first?.status, 'fulfilled')
    assert.equal(second?.status, 'rejected')
  })
})
