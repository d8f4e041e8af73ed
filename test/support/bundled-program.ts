import { globSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { basename, dirname, extname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Plugin } from 'esbuild'
import { bundleModules } from '../../scripts/packaging/bundle.ts'
import { carriedPaths } from '../../scripts/packaging/carried-files.ts'
import { root } from '../../scripts/packaging/root.ts'

/**
 * Bundles the program into a folder, as the package does, and returns its entry: the bundle starts in a
 * quarter of the time of the sources. Test modules passed in `tests` and the `child-*.ts` programs are
 * bundled with it and share its modules.
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
    // They load files relative to their own.
    external: ['esbuild', 'playwright-core'],
    define: locationNames,
    plugins: [keepLocations(outdir)],
    // Stack traces of failures then show the sources.
    sourcemap: 'linked',
  })
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}')
  for (const path of ['node_modules', ...carriedPaths]) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    symlinkSync(join(root, path), join(folder, path))
  }
  return { program: join(outdir, 'main.js'), tests: entries.map(({ out }) => join(outdir, `${out}.js`)) }
}

/** What modules read to find files relative to their own. */
const locationNames = {
  'import.meta.url': 'moduleUrl',
  'import.meta.dirname': 'moduleFolder',
  'import.meta.filename': 'modulePath',
}

/**
 * Gives each module the location that it expects: test modules that of their source, modules of the program
 * that of the bundle, which holds the files that the program needs.
 */
function keepLocations(outdir: string): Plugin {
  const sources = join(root, 'src/')
  return {
    name: 'keep locations',
    setup({ onLoad }) {
      onLoad({ filter: /\.[jt]s$/ }, ({ path }) => {
        const text = readFileSync(path, 'utf8')
        if (!Object.keys(locationNames).some((name) => text.includes(name))) return null
        const location = path.startsWith(sources)
          ? join(outdir, `${path.slice(sources.length, -3)}.js`)
          : path
        const values = {
          moduleUrl: pathToFileURL(location).href,
          moduleFolder: dirname(location),
          modulePath: location,
        }
        const lines = Object.entries(values).map(
          ([name, value]) => `const ${name} = ${JSON.stringify(value)};`,
        )
        // Prepended to the first line, so that line numbers stay the same.
        return { contents: lines.join(' ') + text, loader: path.endsWith('.ts') ? 'ts' : 'js' }
      })
    },
  }
}
