import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** What can tell when it is over: a test, or the hooks of a suite or file. */
interface Lifetime {
  after(work: () => void): void
}

/** A folder that goes when the test does. Apart from the test service, which takes a while to load. */
export function temporaryFolder(t: Lifetime, parent = tmpdir()): string {
  const folder = mkdtempSync(join(parent, 'lethe-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}
