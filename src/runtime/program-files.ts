import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { basename, dirname, extname, join, relative } from 'node:path'
import { getAsset, getAssetKeys, getRawAsset, isSea } from 'node:sea'
import { fileURLToPath } from 'node:url'

/** A folder of files shipped with the program. Names are relative, separated by `/`. */
export interface ProgramFolder {
  /** All files, recursively and sorted; empty if there is no such folder. */
  names(): string[]
  /** Throws if there is no such file. */
  read(name: string): Buffer
}

/** By its path in a clone. */
export function programFolder(path: string): ProgramFolder {
  return isSea() ? folderOfAssets(`${path}/`) : folderOnDisk(urlOf(`${path}/`))
}

/** In an installed package, this module is part of a bundle in `src`. */
function urlOf(path: string): URL {
  const isSource = /\/runtime\/program-files\.[jt]s$/.test(import.meta.url)
  return new URL(isSource ? `../../${path}` : `../${path}`, import.meta.url)
}

/** By its path in a clone. */
export function programFile(path: string): Buffer {
  return programFolder(dirname(path)).read(basename(path))
}

/** A thread's program, by its path in a clone: a file, or the text of a script. */
export function threadScript(path: string): { script: URL | string; eval: boolean } {
  if (isSea()) return { script: getAsset(path, 'utf8'), eval: true }
  // In an installed package, it is JavaScript, as this module is.
  const script = path.replace(/\.ts$/, extname(import.meta.url))
  return { script: urlOf(script), eval: false }
}

/** A folder of a clone or an installed package. */
export function folderOnDisk(folder: URL): ProgramFolder {
  return {
    names() {
      if (!existsSync(folder)) return []
      const entries = readdirSync(folder, { recursive: true, withFileTypes: true })
      const files = entries.filter((entry) => entry.isFile())
      const path = fileURLToPath(folder)
      return files
        .map(({ parentPath, name }) => relative(path, join(parentPath, name)).replaceAll('\\', '/'))
        .sort()
    },
    read: (name) => readFileSync(new URL(name, folder)),
  }
}

/** Files embedded in a single executable, named by their paths in a clone. */
function folderOfAssets(prefix: string): ProgramFolder {
  return {
    names: () =>
      getAssetKeys()
        .filter((key) => key.startsWith(prefix))
        .map((key) => key.slice(prefix.length))
        .sort(),
    read: (name) => Buffer.from(getRawAsset(prefix + name)),
  }
}
