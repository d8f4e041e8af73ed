// Writes openapi/v1.json from the schemas in the source; with --check only tells whether it is up to date.
import { readFileSync, writeFileSync } from 'node:fs'
import { openApiDocument } from '../src/http/openapi/document.ts'

const file = new URL('../openapi/v1.json', import.meta.url)
const generated = `${JSON.stringify(openApiDocument(), null, 2)}\n`

if (!process.argv.includes('--check')) {
  writeFileSync(file, generated)
} else if (readFileSync(file, 'utf8') !== generated) {
  process.stderr.write('openapi/v1.json is out of date: run npm run openapi and commit what it writes.\n')
  process.exitCode = 1
}
