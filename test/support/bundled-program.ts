import { globSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { basename, dirname, extname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Plugin } from 'esbuild'
import { bundleModules } from '../../scripts/packaging/bundle.ts'
import { carriedPaths } from '../../scripts/packaging/carried-files.ts'
import { root } from '../../scripts/packaging/root.ts'

/**
 * Bundles the program as its package does, into a folder, and tells its entry: a process of it starts in a quarter of the time that
 * hundreds of sources take. Modules of tests can go with it, and are then told too: they share the program's. So do programs of tests.
 */
export async function bundleProgram(
  folder: string,
  tests: readonly string[] = [],
): Promise<{ program: string; tests: string[] }> {
  const outdir = join(folder, 'src')
  const children = globSync('test/**/child-*.ts', { cwd: root })
  const entries = tests.map((path) => ({ in: path, out: basename(path, extname(path)) }))
  await bundleModules(outdir, {
    entryPoints: [...entries, ...children.map((path) => ({ in: path, out: path.slice(0, -3) }))],
    // They look for files beside their own.
    external: ['esbuild', 'playwright-core'],
    define: asked,
    plugins: [tellPlaces(outdir)],
    // Without it nobody could tell where a test failed.
    sourcemap: 'linked',
  })
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}')
  for (const path of ['node_modules', ...carriedPaths]) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    symlinkSync(join(root, path), join(folder, path))
  }
  return { program: join(outdir, 'main.js'), tests: entries.map(({ out }) => join(outdir, `${out}.js`)) }
}

/** Where a module lies, as it would be told without a bundle. */
const asked = {
  'import.meta.url': 'moduleUrl',
  'import.meta.dirname': 'moduleFolder',
  'import.meta.filename': 'modulePath',
}

/**
 * Tells modules where their sources lie: tests read what is there. The program's are told that they lie in the bundle, where all is that
 * it brings along.
 */
function tellPlaces(outdir: string): Plugin {
  const sources = join(root, 'src/')
  return {
    name: 'tell places',
    setup({ onLoad }) {
      onLoad({ filter: /\.[jt]s$/ }, ({ path }) => {
        const text = readFileSync(path, 'utf8')
        if (!Object.keys(asked).some((name) => text.includes(name))) return null
        const place = path.startsWith(sources) ? join(outdir, `${path.slice(sources.length, -3)}.js`) : path
        const told = { moduleUrl: pathToFileURL(place).href, moduleFolder: dirname(place), modulePath: place }
        const lines = Object.entries(told).map(([name, value]) => `const ${name} = ${JSON.stringify(value)};`)
        // On the first line, so that the others keep their numbers.
        return { contents: lines.join(' ') + text, loader: path.endsWith('.ts') ? 'ts' : 'js' }
      })
    },
  }
}
