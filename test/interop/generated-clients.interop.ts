import assert from 'node:assert/strict'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import type { ExampleRequest } from '../support/example-requests.ts'
import { type SampleService, startSample } from './sample.ts'
import { run, runTool, skip, write } from './tools.ts'

const preamble = `declare const process: { env: Record<string, string | undefined> }
declare const console: { log(text: string): void }
const baseUrl = process.env.LETHE_URL ?? ''
const headers = { Authorization: 'Bearer ' + process.env.LETHE_API_KEY }
`
const strict = ['--strict', '--skipLibCheck', '--target', 'es2022']

async function succeed(name: string, args: readonly string[], { folder: cwd }: SampleService): Promise<void> {
  const { status, output } = await runTool(name, args, { cwd })
  assert.equal(status, 0, output)
}

/** Runs a program that prints the name, the status and the presence of data for each operation. */
async function assertAllSucceed(
  program: string,
  { url, key, folder, requests }: SampleService,
): Promise<void> {
  const env = { LETHE_URL: url, LETHE_API_KEY: key }
  const { output } = await run(process.execPath, [program], { cwd: folder, env })
  const expected = requests.map(({ operationId }) => `${operationId} 200 true`)
  assert.deepEqual(output.trimEnd().split('\n'), expected)
}

describe('openapi-typescript with openapi-fetch', { skip }, () => {
  test('generates types that accept every example, and every operation succeeds', async (t) => {
    const sample = await startSample(t)
    const { folder, document, requests } = sample
    await succeed('openapi-typescript', [document, '-o', join(folder, 'api.ts')], sample)
    const program = write(
      join(folder, 'program.mts'),
      `import createClient from 'openapi-fetch'
import type { paths } from './api.js'
${preamble}const client = createClient<paths>({ baseUrl, headers })
${requests.map(fetchCall).join('')}`,
    )
    await succeed('tsc', [...strict, '--noEmit', '--module', 'nodenext', program], sample)
    await assertAllSucceed(program, sample)
  })
})

function fetchCall({ operationId, method, template, path, query, body }: ExampleRequest): string {
  const options = { params: taken({ path, query }), body }
  return `{
  const { data, response } = await client.${method}(${JSON.stringify(template)}, ${JSON.stringify(options)})
  console.log(['${operationId}', response.status, data !== undefined].join(' '))
}
`
}

describe('@hey-api/openapi-ts', { skip }, () => {
  test('generates a client that accepts every example, and every operation succeeds', async (t) => {
    const sample = await startSample(t)
    const { folder, document, requests } = sample
    await succeed('openapi-ts', ['-i', document, '-o', join(folder, 'sdk'), '--no-log-file'], sample)
    const program = write(
      join(folder, 'program.ts'),
      `import * as sdk from './sdk'
import { client } from './sdk/client.gen'
${preamble}client.setConfig({ headers })
async function main() {
${requests.map(sdkCall).join('')}}
main()
`,
    )
    const out = join(folder, 'out')
    const modules = '--module commonjs --moduleResolution node10 --lib es2022,dom,dom.iterable'.split(' ')
    await succeed('tsc', [...strict, ...modules, '--outDir', out, program], sample)
    await assertAllSucceed(join(out, 'program.js'), sample)
  })
})

function sdkCall({ operationId, path, query, body }: ExampleRequest): string {
  return `  {
    const { data, response } = await sdk.${operationId}(${JSON.stringify({ ...taken({ path, query }), body })})
    console.log(['${operationId}', response?.status, data !== undefined].join(' '))
  }
`
}

/** The kinds of parameters that the operation has. */
function taken(kinds: Record<string, object>): Record<string, object> {
  return Object.fromEntries(Object.entries(kinds).filter(([, values]) => Object.keys(values).length > 0))
}
