// Generates the OpenAPI documents from the schemas in the source, the client's types from the documents, and
// the console's types from its routes. With --check, only checks whether they are up to date.
import { readFileSync, writeFileSync } from 'node:fs'
import { readConfig } from '../src/config.ts'
import { hoistComponents, openApiDocument } from '../src/http/api/openapi/document.ts'
import { consoleRoutes } from '../src/http/console/routes.ts'
import { variablesDocument } from '../src/http/variables/document.ts'
import { clientTypes, consoleTypes } from './openapi/client-types.ts'

const documentFile = 'openapi/v1.json'
const generated: Record<string, () => string> = {
  [documentFile]: () => `${JSON.stringify(openApiDocument(readConfig({})), null, 2)}\n`,
  'openapi/variables.json': () => `${JSON.stringify(variablesDocument(readConfig({})), null, 2)}\n`,
  'client/src/api.ts': () => clientTypes(JSON.parse(readFileSync(locate(documentFile), 'utf8'))),
  'console/src/types.ts': () =>
    consoleTypes(hoistComponents({ responses: consoleRoutes.map(({ response }) => response) }).schemas),
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
