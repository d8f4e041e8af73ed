import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Something that ends and then runs cleanups: a test, or the hooks of a suite or file. */
interface Lifetime {
  after(work: () => void): void
}

/** A folder that is removed when the test ends. In its own file, because the test service is slow to load. */
export function temporaryFolder(t: Lifetime, parent = tmpdir()): string {
  const folder = mkdtempSync(join(parent, 'lethe-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}
