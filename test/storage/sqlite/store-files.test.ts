import assert from 'node:assert/strict'
import { once } from 'node:events'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { withMaintenanceLock } from '../../../src/storage/sqlite/store-files.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { runChild } from './run-child.ts'

/** The output of another process that tries to get the lock. */
async function outputOfAnother(path: string): Promise<string> {
  const child = runChild('child-locks.ts', path)
  const exited = once(child, 'exit')
  const [said] = await once(child.stdout.setEncoding('utf8'), 'data')
  await exited
  return said
}

describe('work under the maintenance lock', () => {
  it('is done by one process at a time', async (t) => {
    const path = join(temporaryFolder(t), 'lethe.db')
    assert.equal(await withMaintenanceLock(path, () => outputOfAnother(path)), 'not alone\n')
    assert.equal(await outputOfAnother(path), 'alone\n')
  })

  it('is not done by another process after this one has tried a second time', async (t) => {
    const path = join(temporaryFolder(t), 'lethe.db')
    const said = await withMaintenanceLock(path, async () => {
      assert.equal(await withMaintenanceLock(path, async () => 'done'), null)
      return outputOfAnother(path)
    })
    assert.equal(said, 'not alone\n')
  })

  it('is possible again after a process that held the lock is killed', async (t) => {
    const path = join(temporaryFolder(t), 'lethe.db')
    const child = runChild('child-locks.ts', path, 'stay')
    t.after(() => child.kill('SIGKILL'))
    await once(child.stdout, 'data')
    assert.equal(await withMaintenanceLock(path, async () => 'done'), null)
    const exited = once(child, 'exit')
    child.kill('SIGKILL')
    await exited
    assert.equal(await withMaintenanceLock(path, async () => 'done'), 'done')
  })

  it('passes on its own error that looks like a lock of another process', async (t) => {
    const path = join(temporaryFolder(t), 'lethe.db')
    const busy = Object.assign(new Error('database is locked'), { errcode: 5 })
    await assert.rejects(
      withMaintenanceLock(path, () => Promise.reject(busy)),
      busy,
    )
    assert.equal(await withMaintenanceLock(path, async () => 'done'), 'done')
  })

  it('leaves an empty file beside the store, accessible only to its owner', async (t) => {
    const path = join(temporaryFolder(t), 'lethe.db')
    await withMaintenanceLock(path, async () => {})
    const { size, mode } = statSync(`${path}-upkeep`)
    assert.equal(size, 0)
    assert.equal(mode & 0o777, 0o600)
  })
})
