// Writes openapi/v1.json from the schemas in the source, and the client's types from that; with --check only tells whether they are
// up to date.
import { readFileSync, writeFileSync } from 'node:fs'
import { openApiDocument } from '../src/http/api/openapi/document.ts'
import { clientTypes } from './openapi/client-types.ts'

const documentFile = 'openapi/v1.json'
const generated: Record<string, () => string> = {
  [documentFile]: () => `${JSON.stringify(openApiDocument(), null, 2)}\n`,
  'client/src/api.ts': () => clientTypes(JSON.parse(readFileSync(locate(documentFile), 'utf8'))),
}

for (const [file, generate] of Object.entries(generated)) {
  if (!process.argv.includes('--check')) {
    writeFileSync(locate(file), generate())
  } else if (readFileSync(locate(file), 'utf8') !== generate()) {
    process.stderr.write(`${file} is out of date: run npm run openapi and commit what it writes.\n`)
    process.exitCode = 1
  }
}

function locate(file: string): URL {
  return new URL(`../${file}`, import.meta.url)
}
