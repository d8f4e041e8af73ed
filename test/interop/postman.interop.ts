import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { listIn, objectIn } from '../support/answers.ts'
import { startSample } from './sample.ts'
import { runTool, skip } from './tools.ts'

describe('openapi-to-postmanv2 with newman', { skip }, () => {
  test('makes a collection in which every request succeeds', async (t) => {
    const { key, folder, document, requests } = await startSample(t)
    const collection = join(folder, 'collection.json')
    // Both have a box to tick where Postman imports: filters that exclude each other cannot all be switched on.
    const options = 'parametersResolution=Example,enableOptionalParameters=false'
    const args = ['-s', document, '-o', collection, '-O', options]
    const converted = await runTool('openapi2postmanv2', args, { cwd: folder })
    assert.equal(converted.status, 0, converted.output)

    const report = join(folder, 'report.json')
    // Where the service is, the document says.
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
