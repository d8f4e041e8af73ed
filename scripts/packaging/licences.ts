import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Metafile } from 'esbuild'
import { packagesOfPages } from './packages-of-pages.ts'
import { root } from './root.ts'

interface Manifest {
  name: string
  version: string
  license: string
}

/** The folders of all packages in a bundle, in order. */
export function packagesIn(bundle: Metafile): string[] {
  const folders = Object.keys(bundle.inputs).flatMap(
    (file) => /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file)?.[0] ?? [],
  )
  return [...new Set([...folders, ...packagesOfPages()])].sort()
}

/** The licences of bundled packages, as each package states them. */
export function licencesOf(folders: readonly string[]): string {
  return folders.map((folder) => licenceOf(join(root, folder))).join('\n')
}

/**
 * The licence of Node and its bundled software. The package for Windows has none, so the first package that
 * has one provides it.
 */
export function licenceOfNode(executables: readonly string[]): string {
  const file = executables.map((path) => join(dirname(dirname(path)), 'LICENSE')).find(existsSync)
  if (!file) throw new Error(`None of these brings its licence: ${executables.join(', ')}`)
  return `Node.js\n=======\n\n${readFileSync(file, 'utf8')}`
}

function licenceOf(folder: string): string {
  const manifest: Manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  const [file] = readdirSync(folder).filter((name) => /^licen[cs]e/i.test(name))
  const text = file ? readFileSync(join(folder, file), 'utf8').trim() : 'The package brings no text of it.'
  const title = `${manifest.name} ${manifest.version} (${manifest.license})`
  return `${title}\n${'='.repeat(title.length)}\n\n${text}\n`
}
