import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { waitForMaintenanceLock } from '../../src/cli/command-kit.ts'
import type { Terminal } from '../../src/cli/terminal.ts'
import type { MaintenanceStore } from '../../src/domain/maintenance.ts'

/** A maintenance lock that another process holds for the given number of attempts. */
function busyFor(tries: number): MaintenanceStore {
  const no = () => Promise.reject(new Error('nobody asked for this'))
  return {
    withMaintenanceLock: async (work) => (tries-- > 0 ? null : work()),
    ...{ scrubsEveryByte: true, noteSweep: no, scrubState: no, scrub: no, backup: no, distribute: no },
  }
}

async function run(tries: number, work: () => Promise<unknown>) {
  const told: string[] = []
  const terminal: Terminal = {
    ...{
      env: {},
      print: assert.fail,
      pour: () => assert.fail(),
      ask: assert.fail,
      draw: assert.fail,
      columns: () => null,
    },
    tell: (line) => told.push(line),
  }
  return { result: await waitForMaintenanceLock(terminal, busyFor(tries), work), told }
}

describe('work that needs the maintenance lock', () => {
  it('runs immediately if the lock is free', async () => {
    assert.deepEqual(await run(0, async () => 'done'), { result: 'done', told: [] })
  })

  it('retries while another process holds the lock, and says so once', async () => {
    const { result, told } = await run(3, async () => 'done')
    assert.equal(result, 'done')
    assert.deepEqual(told, ['Waiting for another process that is sweeping, scrubbing or copying.'])
  })

  it('runs once, even if its result is null', async () => {
    let times = 0
    const { result } = await run(1, async () => {
      times++
      return null
    })
    assert.deepEqual([result, times], [null, 1])
  })
})
