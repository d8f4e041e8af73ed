import { readdirSync, statSync } from 'node:fs'
import { join, sep } from 'node:path'
import { buildConsole } from '../../console/build.js'
import { root } from './root.ts'

/** The folders and files that `src/runtime/program-files.ts` provides, by their path in a clone. */
export const carriedPaths = [
  'console/dist',
  'console/shared',
  'docs/verify.html',
  'src/http/api/reference',
  'src/storage/postgres/migrations',
  'src/storage/sqlite/migrations',
]

/** Scripts of worker threads. */
export const threads = ['src/storage/sqlite/writer-thread.ts']

/**
 * Every file that is shipped with the program: its location, by its path in a clone. The console's pages are
 * rebuilt with the current Node, because those of the clone may come from another one, which compresses
 * differently.
 */
export async function carriedFiles(workFolder: string): Promise<Map<string, string>> {
  const pages = join(workFolder, 'console')
  await buildConsole(pages)
  return new Map(
    carriedPaths.flatMap((path): [string, string][] => {
      const place = path === 'console/dist' ? pages : join(root, path)
      if (statSync(place).isFile()) return [[path, place]]
      return filesIn(place).map((name) => [`${path}/${name}`, join(place, name)])
    }),
  )
}

/** The files below a folder that are not sources. */
function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.name.endsWith('.ts'))
    .map(({ parentPath, name }) => join(parentPath, name).slice(folder.length + 1))
    .map((name) => name.split(sep).join('/'))
    .sort()
}
