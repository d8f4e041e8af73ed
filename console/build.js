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
const compressions = [
  { suffix: '.br', compress: promisify(brotliCompress) },
  { suffix: '.gz', compress: promisify(gzip) },
]

/**
 * Builds the pages: one script, one that sets the theme before anything is drawn, one style sheet, one font, one icon and the page that
 * names them.
 * Names hold a hash of the content, so that browsers may keep a file for good.
 *
 * @param {string} folder where to; it is made anew
 */
export async function buildConsole(folder) {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(path.join(folder, 'assets'), { recursive: true })
  const { outputFiles } = await build({
    absWorkingDir: here,
    entryPoints: { app: 'src/main.tsx', theme: 'src/theme.ts' },
    outdir: folder,
    bundle: true,
    minify: true,
    write: false,
    format: 'esm',
    target: 'es2022',
    charset: 'utf8',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    external: ['{{*'],
    logLevel: 'warning',
  })
  const built = outputFiles.map(({ path: file, contents }) => ({ name: path.basename(file), contents }))
  /** What is named by others comes before them. */
  const files = [
    { name: 'icon.svg', contents: readFileSync(path.join(here, 'shared/icon.svg')) },
    { name: 'inter.woff2', contents: readFileSync(path.join(inter, 'files/inter-latin-wght-normal.woff2')) },
    ...built.sort((a, b) => path.extname(a.name).localeCompare(path.extname(b.name))),
    { name: 'index.html', contents: readFileSync(path.join(here, 'index.html')) },
  ]
  /** @type {Map<string, string>} */
  const addresses = new Map()
  for (const { name, contents } of files) {
    const { name: base, ext } = path.parse(name)
    const named = ext === '.css' || ext === '.html' ? withAddresses(contents, addresses) : contents
    const hash = createHash('sha256').update(named).digest('hex').slice(0, 10)
    const asset = ext === '.html' ? name : `assets/${base}-${hash}${ext}`
    addresses.set(name, `/console/${asset}`)
    await write(path.join(folder, asset), named)
  }
  // The font's licence asks to go where the font goes.
  writeFileSync(path.join(folder, 'inter-licence.txt'), readFileSync(path.join(inter, 'LICENSE')))
}

/**
 * Puts the addresses of files in the place of their names in braces.
 *
 * @param {Uint8Array} contents
 * @param {Map<string, string>} addresses
 */
function withAddresses(contents, addresses) {
  const text = Buffer.from(contents).toString()
  return Buffer.from(text.replaceAll(/\{\{([\w.]+)\}\}/g, (braces, name) => addresses.get(name) ?? braces))
}

/**
 * Writes a file and what servers send of it to save the wire.
 *
 * @param {string} file
 * @param {Uint8Array} content
 */
async function write(file, content) {
  writeFileSync(file, content)
  // A font is packed already.
  if (file.endsWith('.woff2')) return
  for (const { suffix, compress } of compressions) writeFileSync(file + suffix, await compress(content))
}
