import { spawnSync } from 'node:child_process'
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { build, transform } from 'esbuild'
import { readManifest, writeManifest } from './manifest.ts'
import { root } from './root.ts'

/** The folder inside for who calls `require`. The package's own manifest makes everything a module, so this one has another. */
const forRequire = 'cjs'

/** The folder inside for pages without a build step. */
const forPages = 'browser'

/** Makes what is published of the client in a folder: JavaScript and its types, for `import` and for `require`. */
export async function makeClient(folder: string): Promise<void> {
  rmSync(folder, { recursive: true, force: true })
  compile(folder)
  // TypeScript leaves the imports between declarations as they are in the sources.
  for (const file of filesOf(folder, '.d.ts')) {
    edit(join(folder, file), (text) => text.replaceAll(/(from '\.\/[\w-]+)\.ts'/g, "$1.js'"))
  }
  await translate(folder)
  await bundleForPages(folder)
  const { version, license, devDependencies } = readManifest('package.json')
  const { private: _, exports, ...manifest } = readManifest('client/package.json')
  // The providers for OpenFeature are tested with these versions; nothing else needs them.
  const peers = Object.entries(devDependencies).filter(([name]) => name.startsWith('@openfeature/'))
  writeManifest(folder, {
    ...manifest,
    version,
    license,
    peerDependencies: Object.fromEntries(peers.map(([name, tested]) => [name, `^${tested}`])),
    peerDependenciesMeta: Object.fromEntries(peers.map(([name]) => [name, { optional: true }])),
    // For resolvers that do not know `exports`.
    main: `./${forRequire}/index.js`,
    types: `./${forRequire}/index.d.ts`,
    exports: Object.fromEntries(
      Object.entries(exports).map(([name, source]) => [name, conditionsOf(source)]),
    ),
  })
  copyFileSync(join(root, 'client/README.md'), join(folder, 'README.md'))
  copyFileSync(join(root, 'LICENSE'), join(folder, 'LICENSE'))
}

/** The core is compiled without the types of Node, so that nothing of Node can slip into it. */
function compile(folder: string): void {
  for (const project of ['client/tsconfig.json', 'client/tsconfig.node.json']) {
    const args = ['node_modules/typescript/bin/tsc', '-p', project, '--outDir', folder]
    const { status } = spawnSync(process.execPath, args, { cwd: root, stdio: 'inherit' })
    if (status !== 0) throw new Error(`${project} does not compile.`)
  }
}

/** Every module once more, as what `require` takes: file by file, so that a class is the same one whichever entry it comes from. */
async function translate(folder: string): Promise<void> {
  const target = join(folder, forRequire)
  mkdirSync(target)
  for (const file of filesOf(folder, '.js')) {
    const options = { format: 'cjs', target: 'es2022', platform: 'neutral' } as const
    const { code } = await transform(readFileSync(join(folder, file), 'utf8'), options)
    writeFileSync(join(target, file), code)
  }
  for (const file of filesOf(folder, '.d.ts')) copyFileSync(join(folder, file), join(target, file))
  writeManifest(target, { type: 'commonjs', sideEffects: false })
}

/** The variables in one file, which a page can import from any web server. */
export async function bundleForPages(folder: string): Promise<void> {
  await build({
    entryPoints: [join(root, 'client/src/variables.ts')],
    outdir: join(folder, forPages),
    ...{ bundle: true, format: 'esm', target: 'es2022', platform: 'browser', logLevel: 'warning' },
    // Without short names for classes: an error's `name` is that of its class.
    ...{ minifySyntax: true, minifyWhitespace: true },
  })
}

/** An entry's files, by who asks. Types come first: the order is what counts. */
function conditionsOf(source: string) {
  const name = source.replace('./src/', '').replace(/\.ts$/, '')
  const both = (place: string) => ({ types: `${place}${name}.d.ts`, default: `${place}${name}.js` })
  return { require: both(`./${forRequire}/`), default: both('./') }
}

function filesOf(folder: string, ending: string): string[] {
  return readdirSync(folder).filter((name) => name.endsWith(ending))
}

function edit(file: string, change: (text: string) => string): void {
  writeFileSync(file, change(readFileSync(file, 'utf8')))
}
