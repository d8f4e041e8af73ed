import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './root.ts'

interface Lock {
  packages: Record<
    string,
    { dependencies?: Record<string, string>; devDependencies?: Record<string, string> } | undefined
  >
}

/**
 * The folders of all packages that the console's pages are built from. In package.json they are development
 * dependencies, but they become part of the product.
 */
export function packagesOfPages(): string[] {
  const { packages }: Lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'))
  const found = new Set<string>()
  function add(needed: Record<string, string> = {}): void {
    for (const folder of Object.keys(needed).map((name) => `node_modules/${name}`)) {
      if (found.has(folder)) continue
      found.add(folder)
      add(packages[folder]?.dependencies)
    }
  }
  add(packages.console?.devDependencies)
  return [...found].sort()
}
