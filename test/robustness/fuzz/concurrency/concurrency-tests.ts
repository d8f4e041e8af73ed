import assert from 'node:assert/strict'
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { after, describe, it } from 'node:test'
import { childProgram } from '../../../support/child-program.ts'
import { emptyStore, openStoreAt } from '../../../support/empty-store.ts'
import { inReverse } from '../../../support/in-reverse.ts'
import { always } from '../../../support/rows.ts'
import { seededRandom } from '../../../support/seeded-random.ts'
import { eraseIn } from '../../../support/test-keyring.ts'
import { beginChapters, organisationId, prepareStore, type WorkOrder } from './stage.ts'
import { type Action, assertLinearizable } from './subject-history.ts'

const workerPath = childProgram(new URL('child-works.ts', import.meta.url))

interface ConcurrencyPlan {
  processes: number
  /** How often all processes start again, on the same data. */
  rounds: number
  steps: number
  lanes: number
}

export async function concurrencyTests({ processes, rounds, steps, lanes }: ConcurrencyPlan): Promise<void> {
  const lifetime = inReverse({ after })
  const address = await emptyStore(lifetime)
  const store = await openStoreAt(address)
  lifetime.after(() => store.close())
  await prepareStore(store)

  /** The actions of all processes, and the final state. */
  async function work(seed: number, chapters: string[][]): Promise<Action[]> {
    const workers = Array.from({ length: processes }, (_, i) =>
      start({ address, seed: seed + i, chapters, name: `${seed}-${i}`, steps, lanes }),
    )
    await Promise.all(workers.map((worker) => once(worker, 'message')))
    const histories = workers.map(history)
    for (const worker of workers) worker.send('go')
    const actions = (await Promise.all(histories)).flat()
    for (const subject of chapters.flat()) {
      const told = await eraseIn(store, { organisationId, trackerId: subject, since: always }, 'anna')
      actions.push({
        kind: 'erase',
        sees: 'all',
        told,
        subject,
        startedAt: Number.MAX_VALUE,
        endedAt: Number.MAX_VALUE,
      })
    }
    return actions
  }

  describe('several processes that work on the same subjects', () => {
    it('would be caught: no order explains that two erasures deleted the same data', () => {
      const subject = 'first'
      const added = { subjects: 1, sessions: 1, events: 5 }
      const imported: Action = {
        kind: 'import',
        age: 'fresh',
        at: 1,
        events: 5,
        told: added,
        subject,
        startedAt: 1,
        endedAt: 2,
      }
      const erased = (startedAt: number, events: number): Action => {
        const told = { sessions: events === 0 ? 0 : 1, events }
        return { kind: 'erase', sees: 'all', told, subject, startedAt, endedAt: 9 }
      }
      assertLinearizable([imported, erased(1, 5), erased(1, 0)])
      assert.throws(() => assertLinearizable([imported, erased(1, 5), erased(1, 5)]), /no order explains/)
      assert.throws(() => assertLinearizable([imported, erased(3, 0)]), /no order explains/)
    })

    it('import, read, erase and sweep as if one after the other, and lists show every subject who stays', async (t) => {
      const { seed } = seededRandom()
      for (let round = 0; round < rounds; round++) {
        t.diagnostic(`LETHE_TEST_SEED=${seed + round}`)
        const actions = await work(seed + round, await beginChapters(store, round, steps))
        for (const those of Map.groupBy(actions, ({ subject }) => subject).values()) assertLinearizable(those)
        const imports = actions.filter((action) => action.kind === 'import')
        const refused = imports.filter(({ told }) => told.ofErased !== undefined).length
        t.diagnostic(`${imports.length} imports, ${refused} of them refused`)
        assert.ok(refused > 0 && refused < imports.length)
      }
    })
  })

  function start(order: WorkOrder): ChildProcess {
    const worker = fork(workerPath, [JSON.stringify(order)], { execArgv: [] })
    lifetime.after(() => void worker.kill())
    return worker
  }
}

/** The actions that a process reports. Fails if the process fails. */
async function history(worker: ChildProcess): Promise<Action[]> {
  const told: Action[] = []
  worker.on('message', (actions: Action[]) => told.push(...actions))
  const [code] = await once(worker, 'exit')
  assert.equal(code, 0, 'a process failed; it says why above')
  return told
}
