import { readdirSync } from 'node:fs'
import { join, sep } from 'node:path'
import { buildConsole } from '../../console/build.js'
import { root } from './root.ts'

/** What `src/program-files.ts` hands out: folders by their path in a clone. */
export const carriedFolders = [
  'console/dist',
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
    carriedFolders.flatMap((folder) => {
      const place = folder === 'console/dist' ? pages : join(root, folder)
      return filesIn(place).map((name): [string, string] => [`${folder}/${name}`, join(place, name)])
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
