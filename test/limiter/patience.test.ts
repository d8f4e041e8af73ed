import assert from 'node:assert/strict'
import { stat } from 'node:fs'
import { describe, it } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { promisify } from 'node:util'
import { NoAnswer } from '../../src/limiter/no-answer.ts'
import { Patience } from '../../src/limiter/patience.ts'

const never = new Promise<string>(() => {})

describe('patience', () => {
  it('hands on what is answered, and what goes wrong', async () => {
    const patience = new Patience()
    assert.equal(await patience.wait(Promise.resolve('yes'), { patienceMs: 40 }), 'yes')
    await assert.rejects(patience.wait(Promise.reject(new Error('no')), { patienceMs: 40 }), {
      message: 'no',
    })
  })

  it('ends when nobody is answered', async () => {
    const startedAt = performance.now()
    await assert.rejects(new Patience().wait(never, { patienceMs: 40 }), NoAnswer)
    assert.ok(performance.now() - startedAt >= 35)
  })

  it('is one for all that somebody asks for', async () => {
    const patience = new Patience()
    const asker = { patienceMs: 500 }
    await assert.rejects(patience.wait(never, asker), NoAnswer)
    assert.ok(asker.patienceMs <= 0)
    const startedAt = performance.now()
    await assert.rejects(patience.wait(never, asker), NoAnswer)
    assert.ok(performance.now() - startedAt < 450)
  })

  it('is not tried while others are answered', async () => {
    const patience = new Patience()
    const asker = { patienceMs: 40 }
    patience.wait(never, asker).catch(() => {})
    const end = performance.now() + 150
    while (performance.now() < end) {
      await patience.wait(Promise.resolve(), { patienceMs: 40 })
      await setImmediate()
    }
    assert.ok(asker.patienceMs > 20, `${asker.patienceMs} ms are left`)
  })

  it('is hardly tried while this process is busy with something else', async () => {
    const asker = { patienceMs: 40 }
    new Patience().wait(never, asker).catch(() => {})
    for (let i = 0; i < 3; i++) {
      const end = performance.now() + 50
      while (performance.now() < end);
      await setImmediate()
    }
    // Two ticks more may have come before and after.
    assert.ok(asker.patienceMs >= 40 - 5 * 5, `${asker.patienceMs} ms are left`)
  })

  it('reads an answer that came while this process was busy, before it ends', async () => {
    const asker = { patienceMs: 5 }
    const answer = new Patience().wait(promisify(stat)(import.meta.filename), asker)
    const end = performance.now() + 50
    while (performance.now() < end);
    assert.ok((await answer).isFile())
  })
})
