import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const root = new URL('../../', import.meta.url)

/**
 * The page that verifies receipts, as one file: the client's own code, not minified, so that anyone can read
 * it. Its policy allows only that script and that style, and no requests.
 */
export async function verifyPage(): Promise<string> {
  const style = `\n${read('console/shared/tokens.css')}\n${read('scripts/verify-page/page.css')}`
  const script = `\n${await bundle('scripts/verify-page/browser/main.ts')}`
  const policy = [
    "default-src 'none'",
    `script-src '${hash(script)}'`,
    `style-src '${hash(style)}'`,
    "base-uri 'none'",
    "form-action 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; ')
  // As functions, because `$` has a meaning in replacement strings.
  return read('scripts/verify-page/page.html')
    .replace('{{policy}}', () => policy)
    .replace('<style></style>', () => `<style>${style}</style>`)
    .replace('<script></script>', () => `<script>${script}</script>`)
}

async function bundle(entry: string): Promise<string> {
  const { outputFiles } = await build({
    absWorkingDir: fileURLToPath(root),
    entryPoints: [entry],
    bundle: true,
    write: false,
    format: 'iife',
    target: 'es2022',
    charset: 'utf8',
    logLevel: 'warning',
  })
  return outputFiles.map(({ text }) => text).join('')
}

function hash(text: string): string {
  return `sha256-${createHash('sha256').update(text).digest('base64')}`
}

function read(file: string): string {
  return readFileSync(new URL(file, root), 'utf8')
}
