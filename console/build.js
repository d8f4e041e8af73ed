import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { brotliCompress, gzip } from 'node:zlib'
import { build } from 'esbuild'

const here = fileURLToPath(new URL('.', import.meta.url))
const inter = path.dirname(createRequire(import.meta.url).resolve('@fontsource-variable/inter/package.json'))
/** Files that contain addresses of others. */
const referring = ['.css', '.js', '.html']
const compressions = [
  { suffix: '.br', compress: promisify(brotliCompress) },
  { suffix: '.gz', compress: promisify(gzip) },
]

/**
 * Builds the pages: the first script, the script with further pages, what both share, the editor that one page loads, a script that sets
 * the theme before the first paint, a style sheet, a font, an icon and the HTML page. File names contain a hash of the content, so that
 * browsers can cache them forever.
 *
 * @param {string} folder the output folder; it is replaced
 */
export async function buildConsole(folder) {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(path.join(folder, 'assets'), { recursive: true })
  const { outputFiles, metafile } = await build({
    absWorkingDir: here,
    entryPoints: { app: 'src/main.tsx', theme: 'src/theme.ts' },
    outdir: folder,
    // Without a hash, two shared scripts would have the same name: the build fails if there is more than one.
    chunkNames: '[name]',
    bundle: true,
    splitting: true,
    minify: true,
    write: false,
    metafile: true,
    format: 'esm',
    target: 'es2022',
    charset: 'utf8',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    external: ['{{*'],
    logLevel: 'warning',
  })
  const built = new Map(outputFiles.map(({ path: file, contents }) => [path.basename(file), contents]))
  /** Files that others refer to come first. */
  const files = [
    { name: 'icon.svg', contents: readFileSync(path.join(here, 'shared/icon.svg')) },
    { name: 'inter.woff2', contents: readFileSync(path.join(inter, 'files/inter-latin-wght-normal.woff2')) },
    ...importedFirst(metafile).map((name) => ({ name, contents: built.get(name) ?? new Uint8Array() })),
    { name: 'index.html', contents: readFileSync(path.join(here, 'index.html')) },
  ]
  /** @type {Map<string, string>} */
  const addresses = new Map()
  for (const { name, contents } of files) {
    const { name: base, ext } = path.parse(name)
    const named = referring.includes(ext) ? withAddresses(contents, addresses) : contents
    const hash = createHash('sha256').update(named).digest('hex').slice(0, 10)
    const asset = ext === '.html' ? name : `assets/${base}-${hash}${ext}`
    addresses.set(name, `/console/${asset}`)
    await write(path.join(folder, asset), named)
  }
  // The font's licence must accompany the font.
  writeFileSync(path.join(folder, 'inter-licence.txt'), readFileSync(path.join(inter, 'LICENSE')))
}

/**
 * The names of the built files, each after those that it imports.
 *
 * @param {import('esbuild').Metafile} metafile
 */
function importedFirst({ outputs }) {
  /** @type {Set<string>} */
  const names = new Set()
  /** @param {string} file */
  function add(file) {
    for (const { path: imported } of outputs[file]?.imports ?? []) if (outputs[imported]) add(imported)
    names.add(path.basename(file))
  }
  for (const file of Object.keys(outputs)) add(file)
  return [...names]
}

/**
 * Replaces file names in braces, and those of imported scripts, by their addresses.
 *
 * @param {Uint8Array} contents
 * @param {Map<string, string>} addresses
 */
function withAddresses(contents, addresses) {
  const text = Buffer.from(contents).toString()
  return Buffer.from(
    text
      .replaceAll(/\{\{([\w.]+)\}\}/g, (braces, name) => addresses.get(name) ?? braces)
      .replaceAll(/"\.\/([\w-]+\.js)"/g, (quoted, name) =>
        addresses.has(name) ? `"${addresses.get(name)}"` : quoted,
      ),
  )
}

/**
 * Writes a file and its compressed versions.
 *
 * @param {string} file
 * @param {Uint8Array} content
 */
async function write(file, content) {
  writeFileSync(file, content)
  // The font is already compressed.
  if (file.endsWith('.woff2')) return
  for (const { suffix, compress } of compressions) writeFileSync(file + suffix, await compress(content))
}
