import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { IngestResult, PackedBatch } from '../../src/domain/ingest.ts'
import { IngestQueue } from '../../src/domain/ingest-queue.ts'

/** A batch of so many rows, which contains only its name. */
function batch(name: string, rows = 1): PackedBatch {
  return { pieces: [new TextEncoder().encode(name).buffer], rows }
}

const nameOf = ({ pieces: [piece] }: PackedBatch) => new TextDecoder().decode(piece)

/** A store that says what is stored together, and stores it when it is told to. */
function slowStore() {
  const transactions: string[][] = []
  let waiting: (() => void)[] = []
  return {
    transactions,
    /** Lets everything that is being stored end. */
    async finish(): Promise<void> {
      const ending = waiting
      waiting = []
      for (const end of ending) end()
      // What it sets off takes several turns of promises.
      await new Promise(setImmediate)
    },
    async ingestAll(batches: readonly PackedBatch[]): Promise<IngestResult[]> {
      const names = batches.map(nameOf)
      transactions.push(names)
      await new Promise<void>((resolve) => waiting.push(resolve))
      if (names.includes('poison')) throw new Error('poisoned')
      return batches.map(({ rows }) => ({ subjects: 1, sessions: 1, events: rows }))
    },
  }
}

describe('batches of many clients', () => {
  it('are stored together while others are being stored, one of each organisation in turn', async () => {
    const store = slowStore()
    const queue = new IngestQueue(store, [], { maxRows: 4, maxWaitingEach: 9 })
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

  it('are stored alone when they are larger than a transaction should be', async () => {
    const store = slowStore()
    const queue = new IngestQueue(store, [], { maxRows: 4, maxWaitingEach: 9 })
    const added = [batch('first'), batch('large', 9), batch('last')].map((each) => queue.add('a', each))
    for (let turns = 0; turns < 5; turns++) await store.finish()
    await Promise.all(added)
    assert.deepEqual(store.transactions, [['first'], ['large'], ['last']])
  })

  it('fail alone', async () => {
    const store = slowStore()
    const queue = new IngestQueue(store, [], { maxRows: 9, maxWaitingEach: 9 })
    const good = [queue.add('a', batch('good')), queue.add('b', batch('better'))]
    const bad = assert.rejects(queue.add('c', batch('poison')), /poisoned/)
    for (let turns = 0; turns < 5; turns++) await store.finish()
    await bad
    assert.equal((await Promise.all(good)).length, 2)
    assert.deepEqual(store.transactions, [['good', 'better', 'poison'], ['good'], ['better'], ['poison']])
  })

  it('are refused beyond a bound of each organisation, and only theirs', async () => {
    const store = slowStore()
    const queue = new IngestQueue(store, [], { maxRows: 1, maxWaitingEach: 2 })
    const first = queue.add('a', batch('a1'))
    await store.finish()
    const waiting = [queue.add('a', batch('a2')), queue.add('a', batch('a3'))]
    await assert.rejects(queue.add('a', batch('a4')), /overloaded/)
    waiting.push(queue.add('b', batch('b1')))
    for (let turns = 0; turns < 9; turns++) await store.finish()
    await Promise.all([first, ...waiting])
    assert.deepEqual(store.transactions.flat(), ['a1', 'a2', 'b1', 'a3'])
  })
})
