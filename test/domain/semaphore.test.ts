import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { FairQueue } from '../../src/domain/semaphore.ts'

const bounds = { permits: 2, maxWaitingEach: 100, waitTimeoutMs: 60_000 }

/** Jobs that run until they are told to end, in the order in which they start. */
function jobsIn(t: TestContext, queue: FairQueue) {
  const started: { name: string; end(): void }[] = []
  let isOver = false
  t.after(() => {
    isOver = true
    for (const { end } of started) end()
  })
  return {
    started: () => started.map(({ name }) => name),
    add(organisationId: string, name: string, signal?: AbortSignal): Promise<void> {
      const job = () => new Promise<void>((end) => (isOver ? end() : started.push({ name, end })))
      return queue.run(organisationId, job, signal)
    },
    async end(name: string) {
      started.find((job) => job.name === name)?.end()
      await nextTurn()
    },
  }
}

describe('a fair queue', () => {
  it('runs one job of each organisation at a time', async (t) => {
    const jobs = jobsIn(t, new FairQueue(bounds))
    for (const name of ['a1', 'a2', 'a3']) jobs.add('a', name)
    jobs.add('b', 'b1')
    await nextTurn()
    assert.deepEqual(jobs.started(), ['a1', 'b1'])
    await jobs.end('a1')
    assert.deepEqual(jobs.started(), ['a1', 'b1', 'a2'])
  })

  it('serves organisations in turn, however many jobs one of them has', async (t) => {
    const jobs = jobsIn(t, new FairQueue({ ...bounds, permits: 1 }))
    for (let i = 1; i <= 60; i += 1) jobs.add('a', `a${i}`)
    for (const other of ['b', 'c']) for (const i of [1, 2]) jobs.add(other, `${other}${i}`)
    await nextTurn()
    for (let i = 0; i < 6; i += 1) await jobs.end(jobs.started()[i] ?? '')
    assert.deepEqual(jobs.started(), ['a1', 'b1', 'c1', 'a2', 'b2', 'c2', 'a3'])
  })

  it('lets a job that gives way continue after the others', async () => {
    const queue = new FairQueue({ ...bounds, permits: 1 })
    const steps: string[] = []
    const job = (name: string) =>
      queue.run(name, async (giveWay) => {
        for (const step of [1, 2, 3]) {
          steps.push(name + step)
          await nextTurn()
          await giveWay()
        }
      })
    await Promise.all([job('a'), job('b'), job('c')])
    assert.deepEqual(steps, ['a1', 'b1', 'c1', 'a2', 'b2', 'c2', 'a3', 'b3', 'c3'])
  })

  it('rejects jobs beyond the limit of an organisation, without affecting others', async (t) => {
    const jobs = jobsIn(t, new FairQueue({ ...bounds, permits: 1, maxWaitingEach: 1 }))
    jobs.add('a', 'a1')
    jobs.add('a', 'a2')
    await assert.rejects(jobs.add('a', 'a3'), /overloaded/)
    jobs.add('b', 'b1')
    await jobs.end('a1')
    assert.deepEqual(jobs.started(), ['a1', 'b1'])
  })

  it('rejects a job that has waited too long', async (t) => {
    const jobs = jobsIn(t, new FairQueue({ ...bounds, waitTimeoutMs: 1 }))
    jobs.add('a', 'a1')
    await assert.rejects(jobs.add('a', 'a2'), /overloaded/)
    await jobs.end('a1')
    jobs.add('a', 'a3')
    await nextTurn()
    assert.deepEqual(jobs.started(), ['a1', 'a3'])
  })

  it('drops a waiting job whose signal is aborted', async (t) => {
    const jobs = jobsIn(t, new FairQueue(bounds))
    const stop = new AbortController()
    jobs.add('a', 'a1')
    const dropped = jobs.add('a', 'a2', stop.signal)
    jobs.add('a', 'a3')
    stop.abort(new Error('gone'))
    await assert.rejects(dropped, /gone/)
    await assert.rejects(jobs.add('b', 'b1', stop.signal), /gone/)
    await jobs.end('a1')
    assert.deepEqual(jobs.started(), ['a1', 'a3'])
  })

  it('starts the next job if one fails', async () => {
    const queue = new FairQueue({ ...bounds, permits: 1 })
    const failed = queue.run('a', () => Promise.reject(new Error('no good')))
    const next = queue.run('a', async () => 'done')
    await assert.rejects(failed, /no good/)
    assert.equal(await next, 'done')
  })
})
