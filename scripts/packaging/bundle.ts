import { type BuildOptions, build, type Metafile } from 'esbuild'
import { threads } from './carried-files.ts'
import { root } from './root.ts'

/** The program and its threads. */
const program = ['src/main.ts', ...threads]

const shared = {
  absWorkingDir: root,
  bundle: true,
  platform: 'node',
  // What drivers would take in the place of their own JavaScript, if somebody installed it and said so.
  external: ['pg-native', '@node-rs/xxhash'],
  // One character beyond would double the memory that the text takes.
  charset: 'ascii',
  // They stand in the file with everybody's licence.
  legalComments: 'none',
  outbase: 'src',
  metafile: true,
  logLevel: 'warning',
} satisfies BuildOptions

/** The program and its threads as one script each, for the single executable. Lines stay, so that traces can be read. */
export async function bundleScripts(outdir: string): Promise<Metafile> {
  const { metafile } = await build({
    ...shared,
    entryPoints: program,
    outdir,
    format: 'cjs',
    target: 'node26',
    // A script does not know where it lies, and need not: its files lie inside the executable.
    logOverride: { 'empty-import-meta': 'silent' },
  })
  return metafile
}

/** What is bundled with the program, so that they share its modules: paths by the names that they get, and how. */
interface Together extends Pick<BuildOptions, 'define' | 'plugins' | 'sourcemap'> {
  entryPoints: { in: string; out: string }[]
  external: string[]
}

/** The same as modules, of which a command loads what it needs. */
export async function bundleModules(
  outdir: string,
  { entryPoints, external, ...how }: Together = { entryPoints: [], external: [] },
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
    // Packages inside that are no modules ask for Node's own by `require`.
    banner: {
      js: "import { createRequire as nodeRequire } from 'node:module'\nconst require = nodeRequire(import.meta.url)",
    },
  })
  return metafile
}
