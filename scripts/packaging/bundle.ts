import { type BuildOptions, build, type Metafile } from 'esbuild'
import { threads } from './carried-files.ts'
import { root } from './root.ts'

/** The program and its threads. */
const program = ['src/main.ts', ...threads]

const shared = {
  absWorkingDir: root,
  bundle: true,
  platform: 'node',
  // Optional native replacements that drivers use if they are installed and enabled.
  external: ['pg-native', '@node-rs/xxhash'],
  // A single character beyond Latin-1 would double the memory of the text.
  charset: 'ascii',
  // They are in the file with all licences.
  legalComments: 'none',
  outbase: 'src',
  metafile: true,
  logLevel: 'warning',
} satisfies BuildOptions

/**
 * The program and its threads as one script each, for the single executable. Lines are kept, so that stack
 * traces are readable.
 */
export async function bundleScripts(outdir: string): Promise<Metafile> {
  const { metafile } = await build({
    ...shared,
    entryPoints: program,
    outdir,
    format: 'cjs',
    target: 'node26',
    // A script has no path and needs none, because its files are inside the executable.
    logOverride: { 'empty-import-meta': 'silent' },
  })
  return metafile
}

/** What is bundled with the program and shares its modules: paths by name, and the options. */
interface BundleOptions extends Pick<BuildOptions, 'define' | 'plugins' | 'sourcemap'> {
  entryPoints: { in: string; out: string }[]
  external: string[]
}

/** The same as modules, so that a command loads only what it needs. */
export async function bundleModules(
  outdir: string,
  { entryPoints, external, ...how }: BundleOptions = { entryPoints: [], external: [] },
): Promise<Metafile> {
  const { metafile } = await build({
    ...shared,
    ...how,
    entryPoints: [...program, ...entryPoints],
    external: [...shared.external, ...external],
    outdir,
    format: 'esm',
    target: 'node24',
    splitting: true,
    // Bundled CommonJS packages load Node's built-in modules with `require`.
    banner: {
      js: "import { createRequire as nodeRequire } from 'node:module'\nconst require = nodeRequire(import.meta.url)",
    },
  })
  return metafile
}
