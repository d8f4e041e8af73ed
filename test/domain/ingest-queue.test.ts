import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { BatchBlocked, type IngestResult, type PackedBatch } from '../../src/domain/ingest.ts'
import { IngestQueue } from '../../src/domain/ingest-queue.ts'

/** A batch with this number of rows that contains only its name. */
function batch(name: string, rows = 1): PackedBatch {
  return { pieces: [new TextEncoder().encode(name).buffer], rows }
}

const maxBlockedMs = 600_000

const nameOf = ({ pieces: [piece] }: PackedBatch) => new TextDecoder().decode(piece)

/** A store that records its transactions, and completes them when told to. */
function slowStore() {
  const transactions: string[][] = []
  const blocked = new Set<string>()
  let waiting: (() => void)[] = []
  return {
    transactions,
    /** The names of batches that are blocked by other work. */
    blocked,
    /** Completes everything that is being stored. */
    async finish(): Promise<void> {
      const ending = waiting
      waiting = []
      for (const end of ending) end()
      // The results take several turns of promises.
      await new Promise(setImmediate)
    },
    async ingestAll(batches: readonly PackedBatch[]): Promise<IngestResult[]> {
      const names = batches.map(nameOf)
      transactions.push(names)
      await new Promise<void>((resolve) => waiting.push(resolve))
      if (names.includes('poison')) throw new Error('poisoned')
      if (names.some((name) => blocked.has(name))) throw new BatchBlocked()
      return batches.map(({ rows }) => ({ subjects: 1, sessions: 1, events: rows }))
    },
  }
}

describe('batches of many clients', () => {
  it('are combined while others are stored, taking one of each organisation in turn', async () => {
    const store = slowStore()
    const queue = new IngestQueue(store, [], { maxRows: 4, maxWaitingEach: 9, maxBlockedMs })
    const added = [queue.add('a', batch('a1'))]
    await store.finish()
    for (const name of ['a2', 'a3', 'a4', 'a5']) added.push(queue.add('a', batch(name)))
    added.push(queue.add('b', batch('b1')), queue.add('c', batch('c1', 4)))
    await store.finish()
    for (let turns = 0; turns < 4; turns++) await store.finish()
    assert.deepEqual(store.transactions, [['a1'], ['a2', 'b1'], ['c1'], ['a3', 'a4', 'a5']])
    const results = await Promise.all(added)
    assert.deepEqual(
      results.map(({ events }) => events),
      [1, 1, 1, 1, 1, 1, 4],
    )
  })

  it('are stored alone if they exceed the size of a transaction', async () => {
    const store = slowStore()
    const queue = new IngestQueue(store, [], { maxRows: 4, maxWaitingEach: 9, maxBlockedMs })
    const added = [batch('first'), batch('large', 9), batch('last')].map((each) => queue.add('a', each))
    for (let turns = 0; turns < 5; turns++) await store.finish()
    await Promise.all(added)
    assert.deepEqual(store.transactions, [['first'], ['large'], ['last']])
  })

  it('fail without affecting others', async () => {
    const store = slowStore()
    const queue = new IngestQueue(store, [], { maxRows: 9, maxWaitingEach: 9, maxBlockedMs })
    const good = [queue.add('a', batch('good')), queue.add('b', batch('better'))]
    const bad = assert.rejects(queue.add('c', batch('poison')), /poisoned/)
    for (let turns = 0; turns < 5; turns++) await store.finish()
    await bad
    assert.equal((await Promise.all(good)).length, 2)
    assert.deepEqual(store.transactions, [['good', 'better', 'poison'], ['good'], ['better'], ['poison']])
  })

  it('are rejected beyond the limit of their organisation, without affecting others', async () => {
    const store = slowStore()
    const queue = new IngestQueue(store, [], { maxRows: 1, maxWaitingEach: 2, maxBlockedMs })
    const first = queue.add('a', batch('a1'))
    await store.finish()
    const waiting = [queue.add('a', batch('a2')), queue.add('a', batch('a3'))]
    await assert.rejects(queue.add('a', batch('a4')), /overloaded/)
    waiting.push(queue.add('b', batch('b1')))
    for (let turns = 0; turns < 9; turns++) await store.finish()
    await Promise.all([first, ...waiting])
    assert.deepEqual(store.transactions.flat(), ['a1', 'a2', 'b1', 'a3'])
  })

  it('are divided by organisation if they cannot be stored together', async () => {
    const store = slowStore()
    const queue = new IngestQueue(store, [], { maxRows: 9, maxWaitingEach: 9, maxBlockedMs })
    const good = ['b1', 'b2'].map((name) => queue.add('b', batch(name)))
    const bad = assert.rejects(queue.add('c', batch('poison')), /poisoned/)
    for (let turns = 0; turns < 5; turns++) await store.finish()
    await bad
    await Promise.all(good)
    assert.deepEqual(store.transactions, [['b1', 'poison', 'b2'], ['b1', 'b2'], ['poison']])
  })

  it('are stored separately while one of their organisation is blocked, unlike those of others', async () => {
    const store = slowStore()
    const queue = new IngestQueue(store, [], { maxRows: 9, maxWaitingEach: 9, maxBlockedMs })
    store.blocked.add('a1')
    const blocked = queue.add('a', batch('a1'))
    const added = [queue.add('a', batch('a2')), queue.add('b', batch('b1'))]
    for (let turns = 0; turns < 3; turns++) await store.finish()
    added.push(...['b2', 'b3'].map((name) => queue.add('b', batch(name))))
    added.push(queue.add('a', batch('a3')))
    for (let turns = 0; turns < 4; turns++) await store.finish()
    await Promise.all(added)
    store.blocked.clear()
    for (let turns = 0; turns < 2; turns++) await store.finish()
    assert.equal((await blocked).events, 1)
    const last = [queue.add('a', batch('a4')), queue.add('b', batch('b4'))]
    for (let turns = 0; turns < 2; turns++) await store.finish()
    await Promise.all(last)
    const together = [['a1', 'b1', 'a2'], ['a1', 'a2'], ['b1']]
    const apart = [['a1'], ['b2', 'b3'], ['a2'], ['a3'], ['a1'], ['a1']]
    assert.deepEqual(store.transactions, [...together, ...apart, ['a4', 'b4']])
  })

  it('fail if they are blocked for too long, unlike later ones', async () => {
    const store = slowStore()
    const queue = new IngestQueue(store, [], { maxRows: 9, maxWaitingEach: 9, maxBlockedMs: 0 })
    store.blocked.add('a1')
    const blocked = assert.rejects(queue.add('a', batch('a1')), BatchBlocked)
    for (let turns = 0; turns < 3; turns++) await store.finish()
    await blocked
    const next = queue.add('a', batch('a2'))
    for (let turns = 0; turns < 2; turns++) await store.finish()
    assert.equal((await next).events, 1)
    assert.deepEqual(store.transactions, [['a1'], ['a1'], ['a2']])
  })
})
