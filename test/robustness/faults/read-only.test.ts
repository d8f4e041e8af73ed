import { execFileSync } from 'node:child_process'
import { chmodSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { assertRefused, commandLine } from '../../support/command-line.ts'
import { visit } from '../../support/shop.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { buildShop } from '../kill/visits.ts'
import { noMounts, smallDisk } from './small-disk.ts'

// Permissions do not restrict root, which mounts a disk and remounts it as read-only instead.
const isRoot = process.getuid?.() === 0
const skip = isRoot ? noMounts : process.platform === 'win32' ? 'folders have no modes here' : false

function folderOf(t: TestContext): { folder: string; makeReadOnly(): void } {
  if (isRoot) {
    const folder = smallDisk(t, 8)
    return { folder, makeReadOnly: () => execFileSync('mount', ['-o', 'remount,ro', folder]) }
  }
  const folder = temporaryFolder(t)
  t.after(() => chmodSync(folder, 0o700))
  return { folder, makeReadOnly: () => chmodSync(folder, 0o500) }
}

describe('a read-only folder', { skip }, () => {
  it('prevents the start with one line and exit code 1, with and without a store in it', async (t) => {
    const { folder, makeReadOnly } = folderOf(t)
    await buildShop(join(folder, 'lethe.db'), visit('anna'))
    makeReadOnly()
    for (const file of ['lethe.db', 'new.db', 'deeper/new.db']) {
      const cli = commandLine(t, `sqlite:${join(folder, file)}`)
      assertRefused(await cli.run(['serve']), 1, /Cannot open the store .*: the folder .* is not writable/)
    }
  })
})
