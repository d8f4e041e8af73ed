import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './root.ts'

/** The fields of a package.json that are read. */
interface Manifest {
  name: string
  version: string
  description: string
  license: string
  private?: boolean
  type: string
  engines: Record<string, string>
  exports: Record<string, string>
  devDependencies: Record<string, string>
}

export function readManifest(file: string): Manifest {
  return JSON.parse(readFileSync(join(root, file), 'utf8'))
}

export function writeManifest(folder: string, manifest: object): void {
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`)
}
