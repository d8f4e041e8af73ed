import assert from 'node:assert/strict'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { startSample } from './sample.ts'
import { runTool, skip, write } from './tools.ts'

// A service that is well does not fail without a reason, which the examples do not give it. And Dredd compares the type of an answer
// with its parameters, of which a document tells none.
const hooks = `require('hooks').beforeEach((transaction, done) => {
  transaction.skip = transaction.expected.statusCode !== '200'
  transaction.expected.headers['Content-Type'] = 'application/json; charset=utf-8'
  done()
})
`

describe('Dredd', { skip }, () => {
  test('gets from every operation an answer as its example', async (t) => {
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
