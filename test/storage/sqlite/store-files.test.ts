import assert from 'node:assert/strict'
import { once } from 'node:events'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { withMaintenanceLock } from '../../../src/storage/sqlite/store-files.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { runChild } from './run-child.ts'

/** What another process says that wants to be alone. */
async function saidByAnother(path: string): Promise<string> {
  const child = runChild('child-locks.ts', path)
  const exited = once(child, 'exit')
  const [said] = await once(child.stdout.setEncoding('utf8'), 'data')
  await exited
  return said
}

describe('work that one process does alone', () => {
  it('is not done by another at the same time, and is afterwards', async (t) => {
    const path = join(temporaryFolder(t), 'lethe.db')
    assert.equal(await withMaintenanceLock(path, () => saidByAnother(path)), 'not alone\n')
    assert.equal(await saidByAnother(path), 'alone\n')
  })

  it('is not done by another when this process has tried a second time', async (t) => {
    const path = join(temporaryFolder(t), 'lethe.db')
    const said = await withMaintenanceLock(path, async () => {
      assert.equal(await withMaintenanceLock(path, async () => 'done'), null)
      return saidByAnother(path)
    })
    assert.equal(said, 'not alone\n')
  })

  it('is let go of by a process that is killed', async (t) => {
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

  it('hands on an error of its own that looks like a lock of others', async (t) => {
    const path = join(temporaryFolder(t), 'lethe.db')
    const busy = Object.assign(new Error('database is locked'), { errcode: 5 })
    await assert.rejects(
      withMaintenanceLock(path, () => Promise.reject(busy)),
      busy,
    )
    assert.equal(await withMaintenanceLock(path, async () => 'done'), 'done')
  })

  it('leaves a file beside the store that is empty and its owner’s alone', async (t) => {
    const path = join(temporaryFolder(t), 'lethe.db')
    await withMaintenanceLock(path, async () => {})
    const { size, mode } = statSync(`${path}-upkeep`)
    assert.equal(size, 0)
    assert.equal(mode & 0o777, 0o600)
  })
})
