import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { withTicks } from '../../../src/operations/import.ts'

/** Items of which each comes, or fails to, when the test says so. */
function source() {
  let coming = Promise.withResolvers<IteratorResult<string>>()
  let isOver = false
  return {
    isOver: () => isOver,
    items: {
      [Symbol.asyncIterator]: () => ({
        next() {
          coming = Promise.withResolvers()
          return coming.promise
        },
        async return() {
          isOver = true
          return { done: true as const, value: undefined }
        },
      }),
    },
    coming: () => coming,
  }
}

describe('items with ticks', () => {
  it('come in their order, with a tick whenever none has come for a while', async () => {
    const { items, coming, isOver } = source()
    const ticked = withTicks<string>(items, 1)
    const next = async () => (await ticked.next()).value
    assert.deepEqual([await next(), await next()], [null, null])
    coming().resolve({ done: false, value: 'one' })
    assert.equal(await next(), 'one')
    assert.equal(await next(), null)
    coming().resolve({ done: true, value: undefined })
    assert.deepEqual(await ticked.next(), { done: true, value: undefined })
    assert.equal(isOver(), true)
  })

  it('tick on while items come, if not as fast as they are taken', async () => {
    const { items, coming } = source()
    let ticks = 0
    for await (const item of withTicks<string>(items, 1)) {
      if (item === null) ticks += 1
      if (ticks > 10) break
      setTimeout(() => coming().resolve({ done: false, value: 'another' }), 2)
    }
  })

  it('fail when their source does', async () => {
    const { items, coming } = source()
    const ticked = withTicks<string>(items, 1)
    assert.equal((await ticked.next()).value, null)
    coming().reject(new Error('it broke off'))
    await assert.rejects(async () => {
      while (!(await ticked.next()).done);
    }, /it broke off/)
  })

  it('leave nothing behind at each tick, however long none comes', async (t) => {
    const { items, coming } = source()
    const ticked = withTicks<string>(items, 0)
    const first = ticked.next()
    const waits = t.mock.method(coming().promise, 'then')
    await first
    for (let tick = 0; tick < 100; tick++) assert.equal((await ticked.next()).value, null)
    // What waits for the item has done so since before the first tick.
    assert.equal(waits.mock.callCount(), 0)
    await ticked.return(null)
  })
})
