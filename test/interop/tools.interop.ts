import assert from 'node:assert/strict'
import { copyFileSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { identifierPattern } from '../../src/domain/identifier.ts'
import { runProxy } from '../deploy/run-proxy.ts'
import { listIn, objectIn } from '../support/answers.ts'
import { exampleTarget } from '../support/example-requests.ts'
import { freePort } from '../support/free-port.ts'
import { missing } from '../support/missing.ts'
import { startSample } from './sample.ts'
import { run, runTool, skip, toolPath, write } from './tools.ts'

describe('Spectral', { skip }, () => {
  for (const name of ['spectral-oas.yaml', 'spectral-owasp.yaml']) {
    test(`finds no problem in the served document by ${name}`, async (t) => {
      // As deployed behind TLS.
      const { folder, document } = await startSample(t, { LETHE_PUBLIC_URL: 'https://lethe.example' })
      // Rule sets are resolved from the folder of the file.
      const ruleset = join(folder, name)
      copyFileSync(fileURLToPath(new URL(name, import.meta.url)), ruleset)
      const args = ['lint', document, '--ruleset', ruleset, '--fail-severity', 'hint']
      const { status, output } = await runTool('spectral', args, { cwd: folder })
      assert.equal(status, 0, output)
    })
  }
})

// The examples of errors are skipped, because a working service does not return them. Dredd compares media
// types with their parameters, which an OpenAPI document does not have.
const hooks = `require('hooks').beforeEach((transaction, done) => {
  transaction.skip = transaction.expected.statusCode !== '200'
  transaction.expected.headers['Content-Type'] = 'application/json; charset=utf-8'
  done()
})
`

describe('Dredd', { skip }, () => {
  test('gets the documented response from every operation', async (t) => {
    const { url, key, folder, document, requests } = await startSample(t)
    const hookFile = write(join(folder, 'hooks.cjs'), hooks)
    const args = [document, url, '--header', `Authorization: Bearer ${key}`, '--hookfiles', hookFile]
    const { status, output } = await runTool('dredd', [...args, '--no-color', '--loglevel', 'error'], {
      cwd: folder,
    })
    assert.equal(status, 0, output)
    assert.equal(output.match(/^pass: /gm)?.length, requests.length, output)
  })
})

describe('Prism as a proxy', { skip }, () => {
  test('finds no request or response that violates the document', async (t) => {
    const { url, key, document, requests } = await startSample(t)
    const port = await freePort()
    const args = [toolPath('prism'), 'proxy', document, url, '--errors', '--port', String(port)]
    const prism = await runProxy(t, port, process.execPath, [...args, '--host', '127.0.0.1'])
    for (const request of requests) {
      const { method, body, operationId } = request
      const response = await fetch(`http://127.0.0.1:${port}${exampleTarget(request)}`, {
        method,
        headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      })
      const text = await response.text()
      assert.equal(response.status, 200, `${operationId}: ${text}`)
      assert.equal(response.headers.get('sl-violations'), null, operationId)
    }
    await prism.stop()
  })
})

describe('openapi-to-postmanv2 with newman', { skip }, () => {
  test('creates a collection in which every request succeeds', async (t) => {
    const { key, folder, document, requests } = await startSample(t)
    const collection = join(folder, 'collection.json')
    // Both are options of Postman’s import, because filters that exclude each other cannot all be enabled.
    const options = 'parametersResolution=Example,enableOptionalParameters=false'
    const args = ['-s', document, '-o', collection, '-O', options]
    const converted = await runTool('openapi2postmanv2', args, { cwd: folder })
    assert.equal(converted.status, 0, converted.output)

    const report = join(folder, 'report.json')
    // The document contains the address of the service.
    const variables = ['--env-var', `bearerToken=${key}`]
    const reporters = ['--reporters', 'json', '--reporter-json-export', report]
    const ran = await runTool('newman', ['run', collection, ...variables, ...reporters], { cwd: folder })
    assert.equal(ran.status, 0, ran.output)
    const executions = listIn(objectIn(JSON.parse(readFileSync(report, 'utf8')), 'run'), 'executions')
    assert.deepEqual(
      executions.map((execution) => objectIn(execution, 'response').code),
      requests.map(() => 200),
    )
  })
})

const folder = fileURLToPath(new URL('programs', import.meta.url))

// A window of a minute, so that even a slow machine gets a 429.
const budgets = { LETHE_LIMIT_KEY: '10/minute' }

const programs = [
  { name: 'curl', command: 'sh', args: ['try-lethe.sh'], skip: missing('curl') },
  { name: 'Python', command: 'python3', args: ['try-lethe.py'], skip: missing('python3') },
  { name: 'Go', command: 'go', args: ['run', 'try_lethe.go'], skip: missing('go') },
]

describe('a short program', { concurrency: true }, () => {
  for (const { name, command, args, skip } of programs) {
    test(`in ${name} reads, pages, waits after a 429, and erases`, { skip }, async (t) => {
      const { url, key } = await startSample(t, budgets)
      const env = { LETHE_URL: url, LETHE_API_KEY: key, LETHE_ID_PATTERN: identifierPattern }
      const { status, output } = await run(command, args, { cwd: folder, env })
      assert.equal(status, 0, output)
      t.diagnostic(output.split('\n')[0] ?? '')
      const [, ...lines] = output.trimEnd().split('\n')
      assert.deepEqual(lines, ['read visitor-61920061', 'page 5 True', 'refusals 1', 'erased 3'])
    })
  }
})
