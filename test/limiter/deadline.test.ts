import assert from 'node:assert/strict'
import { once } from 'node:events'
import { describe, it } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { MessageChannel } from 'node:worker_threads'
import { Deadline, NoAnswer } from '../../src/limiter/deadline.ts'

const never = new Promise<string>(() => {})

describe('a deadline', () => {
  it('passes on results and errors', async () => {
    const deadline = new Deadline()
    assert.equal(await deadline.wait(Promise.resolve('yes'), { waitMs: 40 }), 'yes')
    await assert.rejects(deadline.wait(Promise.reject(new Error('no')), { waitMs: 40 }), { message: 'no' })
  })

  it('ends if there is no reply', async () => {
    const startedAt = performance.now()
    await assert.rejects(new Deadline().wait(never, { waitMs: 40 }), NoAnswer)
    assert.ok(performance.now() - startedAt >= 35)
  })

  it('is shared by all waits with one budget', async () => {
    const deadline = new Deadline()
    const waitBudget = { waitMs: 500 }
    await assert.rejects(deadline.wait(never, waitBudget), NoAnswer)
    assert.ok(waitBudget.waitMs <= 0)
    // The budget is used up, unlike that of another wait that starts now.
    const ended: string[] = []
    const waits = { other: { waitMs: 500 }, same: waitBudget }
    const waiting = Object.entries(waits).map(async ([who, budget]) => {
      await assert.rejects(deadline.wait(never, budget), NoAnswer)
      ended.push(who)
    })
    await Promise.all(waiting)
    assert.deepEqual(ended, ['same', 'other'])
  })

  it('is not charged while replies arrive', async () => {
    const deadline = new Deadline()
    const waitBudget = { waitMs: 40 }
    deadline.wait(never, waitBudget).catch(() => {})
    const end = performance.now() + 150
    while (performance.now() < end) {
      await deadline.wait(Promise.resolve(), { waitMs: 40 })
      await setImmediate()
    }
    assert.ok(waitBudget.waitMs > 20, `${waitBudget.waitMs} ms are left`)
  })

  it('is barely charged while this process is busy', async () => {
    const waitBudget = { waitMs: 40 }
    new Deadline().wait(never, waitBudget).catch(() => {})
    for (let i = 0; i < 3; i++) {
      const end = performance.now() + 50
      while (performance.now() < end);
      await setImmediate()
    }
    // One more tick may come before and one after.
    assert.ok(waitBudget.waitMs >= 40 - 5 * 5, `${waitBudget.waitMs} ms are left`)
  })

  it('reads a reply that arrived while this process was busy before it ends', async (t) => {
    const { port1, port2 } = new MessageChannel()
    t.after(() => port1.close())
    const answer = new Deadline().wait(once(port1, 'message'), { waitMs: 5 })
    const end = performance.now() + 50
    while (performance.now() < end);
    port2.postMessage('here')
    assert.deepEqual(await answer, ['here'])
  })
})
