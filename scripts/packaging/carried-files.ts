import { readdirSync, statSync } from 'node:fs'
import { join, sep } from 'node:path'
import { buildConsole } from '../../console/build.js'
import { root } from './root.ts'

/** What `src/runtime/program-files.ts` hands out: folders and single files, by their path in a clone. */
export const carriedPaths = [
  'console/dist',
  'console/shared',
  'docs/verify.html',
  'src/http/api/reference',
  'src/storage/postgres/migrations',
  'src/storage/sqlite/migrations',
]

/** Scripts that threads run. */
export const threads = ['src/storage/sqlite/writer-thread.ts']

/**
 * Every file that goes along with the program: where it lies, by its path in a clone. The console's pages are built anew, by this very
 * Node: those of the clone may be of another one, which compresses them otherwise.
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
