import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { bundleModules } from '../../scripts/packaging/bundle.ts'
import { carriedFolders } from '../../scripts/packaging/carried-files.ts'
import { root } from '../../scripts/packaging/root.ts'

/**
 * Bundles the program as its package does, into a folder, and tells its entry: a process of it starts in a quarter of the time that
 * hundreds of sources take.
 */
export async function bundleProgram(folder: string): Promise<string> {
  await bundleModules(join(folder, 'src'))
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}')
  for (const path of carriedFolders) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    symlinkSync(join(root, path), join(folder, path))
  }
  return join(folder, 'src/main.js')
}
