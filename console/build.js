import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { brotliCompress, gzip } from 'node:zlib'
import { build } from 'esbuild'

const here = fileURLToPath(new URL('.', import.meta.url))
const compressions = [
  { suffix: '.br', compress: promisify(brotliCompress) },
  { suffix: '.gz', compress: promisify(gzip) },
]

/**
 * Builds the pages: one script, one that sets the theme before anything is drawn, one style sheet, one icon and the page that names them.
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
    logLevel: 'warning',
  })
  const files = new Map(outputFiles.map((file) => [path.basename(file.path), file.contents]))
  files.set('icon.svg', readFileSync(path.join(here, 'src/icon.svg')))
  let page = readFileSync(path.join(here, 'index.html'), 'utf8')
  for (const [name, content] of files) {
    const { name: base, ext } = path.parse(name)
    const hash = createHash('sha256').update(content).digest('hex').slice(0, 10)
    const asset = `assets/${base}-${hash}${ext}`
    await write(path.join(folder, asset), content)
    page = page.replace(`{{${name}}}`, `/console/${asset}`)
  }
  await write(path.join(folder, 'index.html'), Buffer.from(page))
}

/**
 * Writes a file and what servers send of it to save the wire.
 *
 * @param {string} file
 * @param {Uint8Array} content
 */
async function write(file, content) {
  writeFileSync(file, content)
  for (const { suffix, compress } of compressions) writeFileSync(file + suffix, await compress(content))
}
