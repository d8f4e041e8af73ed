import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Budget } from '../../src/domain/budget.ts'
import { MemoryLimiter } from '../../src/limiter/memory-limiter.ts'
import { heapUsed } from '../support/collect-garbage.ts'
import { limiterContract, stillClock, takeMany } from './contract.ts'

const perMinute: Budget = { name: 'ip', limit: 60, windowMs: 60_000 }

limiterContract('the limiter in memory', () => {
  const clock = stillClock()
  return { limiter: new MemoryLimiter(clock.now), pass: clock.pass }
})

describe('the limiter in memory', () => {
  it('is always reachable', () => {
    assert.equal(new MemoryLimiter(stillClock().now).isReachable(), true)
  })
})

describe('the memory of the limiter in memory is limited', () => {
  it('with 50,000 addresses at the same time', () => {
    const limiter = new MemoryLimiter(stillClock().now, 1_000)
    const before = heapUsed()
    for (let i = 0; i < 50_000; i++) limiter.take(perMinute, `address-${i}`)
    const grown = heapUsed() - before
    assert.ok(grown < 3_000_000, `${grown} bytes more`)
    // Also keeps the limiter from being collected before the measurement.
    assert.equal(limiter.take(perMinute, 'address-49999').remaining, 58)
  })

  it('with 50,000 addresses over hours, each removed after its window', () => {
    const clock = stillClock()
    const limiter = new MemoryLimiter(clock.now)
    const before = heapUsed()
    for (let i = 0; i < 50_000; i++) {
      limiter.take(perMinute, `address-${i}`)
      clock.pass(60)
    }
    const grown = heapUsed() - before
    assert.ok(grown < 3_000_000, `${grown} bytes more`)
    assert.equal(limiter.take(perMinute, 'address-49999').remaining, 58)
  })
})

describe('the limiter in memory with too many bucket keys', () => {
  it('drops the window that ends first', () => {
    const clock = stillClock()
    const limiter = new MemoryLimiter(clock.now, 3)
    for (const bucketKey of ['a', 'b', 'c', 'd']) {
      limiter.take(perMinute, bucketKey)
      clock.pass(1)
    }
    for (const bucketKey of ['b', 'c', 'd'])
      assert.equal(limiter.take(perMinute, bucketKey).remaining, 58, bucketKey)
    assert.equal(limiter.take(perMinute, 'a').remaining, 59)
  })

  it('keeps no more than its limit, and always the latest', () => {
    const limiter = new MemoryLimiter(stillClock().now, 1)
    assert.equal(limiter.take(perMinute, 'a').remaining, 59)
    assert.equal(limiter.take(perMinute, 'a').remaining, 58)
    assert.equal(limiter.take(perMinute, 'b').remaining, 59)
    assert.equal(limiter.take(perMinute, 'a').remaining, 59)
  })

  it('drops no window of another budget', () => {
    const limiter = new MemoryLimiter(stillClock().now, 2)
    const perKey: Budget = { name: 'key', limit: 120, windowMs: 60_000 }
    limiter.take(perKey, 'key')
    for (let i = 0; i < 100; i++) limiter.take(perMinute, `address-${i}`)
    assert.equal(limiter.take(perKey, 'key').remaining, 118)
  })
})

describe('the limiter in memory after its clock is set back', () => {
  it('starts a new window instead of extending it', async () => {
    const clock = stillClock()
    const limiter = new MemoryLimiter(clock.now)
    await takeMany(limiter, perMinute, 'a', 100)
    clock.pass(-3_600_000)
    const state = limiter.take(perMinute, 'a')
    assert.equal(state.granted, true)
    assert.equal(state.resetsAt, clock.now() + 60_000)
  })

  it('refuses nobody for longer than a window', async () => {
    const clock = stillClock()
    const limiter = new MemoryLimiter(clock.now)
    for (const step of [0, -10, -59_999, -60_000, -86_400_000, 5, 30_000]) {
      clock.pass(step)
      for (const { resetsAt } of await takeMany(limiter, perMinute, 'a', 70)) {
        assert.ok(resetsAt > clock.now() && resetsAt <= clock.now() + 60_000)
      }
    }
  })

  it('still counts each bucket key separately, and drops ended windows', () => {
    const clock = stillClock()
    const limiter = new MemoryLimiter(clock.now, 2)
    limiter.take(perMinute, 'before')
    clock.pass(-30_000)
    limiter.take(perMinute, 'after')
    limiter.take(perMinute, 'after')
    clock.pass(60_000)
    assert.equal(limiter.take(perMinute, 'after').remaining, 59)
  })
})
