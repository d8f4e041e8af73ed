import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { basename, dirname, extname, join, relative } from 'node:path'
import { getAsset, getAssetKeys, getRawAsset, isSea } from 'node:sea'
import { fileURLToPath } from 'node:url'

/** A folder of files that the program brings along. Names are relative to it, with `/` between their parts. */
export interface ProgramFolder {
  /** Every file in it and below, in order; none where there is no such folder. */
  names(): string[]
  /** Throws where there is no such file. */
  read(name: string): Buffer
}

/** One by its path in a clone. */
export function programFolder(path: string): ProgramFolder {
  return isSea() ? folderOfAssets(`${path}/`) : folderOnDisk(urlOf(`${path}/`))
}

/** Where a file of a clone or of an installed package lies. In the latter this module is part of a bundle in `src`. */
function urlOf(path: string): URL {
  const isSource = /\/runtime\/program-files\.[jt]s$/.test(import.meta.url)
  return new URL(isSource ? `../../${path}` : `../${path}`, import.meta.url)
}

/** A single file by its path in a clone. */
export function programFile(path: string): Buffer {
  return programFolder(dirname(path)).read(basename(path))
}

/** What a thread runs, by the path of its source in a clone: a file, or the text of a script. */
export function threadScript(path: string): { script: URL | string; eval: boolean } {
  if (isSea()) return { script: getAsset(path, 'utf8'), eval: true }
  // In an installed package it is JavaScript, as this is.
  const script = path.replace(/\.ts$/, extname(import.meta.url))
  return { script: urlOf(script), eval: false }
}

/** A folder of a clone or of an installed package. */
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

/** The files that lie inside a single executable, whose names are their paths in a clone. */
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
