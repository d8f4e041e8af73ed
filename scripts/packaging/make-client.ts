import { spawnSync } from 'node:child_process'
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { build, transform } from 'esbuild'
import { readManifest, writeManifest } from './manifest.ts'
import { root } from './root.ts'

/**
 * The folder for callers of `require`. It has its own manifest, because the package's manifest makes
 * everything an ES module.
 */
const forRequire = 'cjs'

/** The folder for pages without a build step. */
const forPages = 'browser'

/**
 * Builds the published package of the client in a folder: JavaScript with types, for `import` and `require`.
 */
export async function makeClient(folder: string): Promise<void> {
  rmSync(folder, { recursive: true, force: true })
  compile(folder)
  // TypeScript does not rewrite the imports between declaration files.
  for (const file of filesOf(folder, '.d.ts')) {
    edit(join(folder, file), (text) => text.replaceAll(/(from '\.\/[\w-]+)\.ts'/g, "$1.js'"))
  }
  await translate(folder)
  await bundleForPages(folder)
  const { version, license, devDependencies } = readManifest('package.json')
  const { private: _, exports, ...manifest } = readManifest('client/package.json')
  // The OpenFeature providers are tested with these versions; nothing else needs them.
  const peers = Object.entries(devDependencies).filter(([name]) => name.startsWith('@openfeature/'))
  writeManifest(folder, {
    ...manifest,
    version,
    license,
    peerDependencies: Object.fromEntries(peers.map(([name, tested]) => [name, `^${tested}`])),
    peerDependenciesMeta: Object.fromEntries(peers.map(([name]) => [name, { optional: true }])),
    // For resolvers that do not support `exports`.
    main: `./${forRequire}/index.js`,
    types: `./${forRequire}/index.d.ts`,
    exports: Object.fromEntries(
      Object.entries(exports).map(([name, source]) => [name, conditionsOf(source)]),
    ),
  })
  copyFileSync(join(root, 'client/README.md'), join(folder, 'README.md'))
  copyFileSync(join(root, 'LICENSE'), join(folder, 'LICENSE'))
}

/** The core is compiled without Node's types, so that it cannot depend on Node by accident. */
function compile(folder: string): void {
  for (const project of ['client/tsconfig.json', 'client/tsconfig.node.json']) {
    const args = ['node_modules/typescript/bin/tsc', '-p', project, '--outDir', folder]
    const { status } = spawnSync(process.execPath, args, { cwd: root, stdio: 'inherit' })
    if (status !== 0) throw new Error(`${project} does not compile.`)
  }
}

/** Every module again for `require`, file by file, so that a class is the same from every entry point. */
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

/** The variables client in one file, which a page can import from any web server. */
export async function bundleForPages(folder: string): Promise<void> {
  await build({
    entryPoints: [join(root, 'client/src/variables.ts')],
    outdir: join(folder, forPages),
    ...{ bundle: true, format: 'esm', target: 'es2022', platform: 'browser', logLevel: 'warning' },
    // Class names are not minified, because an error's `name` is that of its class.
    ...{ minifySyntax: true, minifyWhitespace: true },
  })
}

/** The files of an entry point, by condition. Types come first, because the order matters. */
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
