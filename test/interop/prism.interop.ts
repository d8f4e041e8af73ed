import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { freePort, runProxy } from '../deploy/run-proxy.ts'
import { exampleTarget } from '../support/example-requests.ts'
import { startSample } from './sample.ts'
import { skip, toolPath } from './tools.ts'

describe('Prism as a proxy', { skip }, () => {
  test('finds no request and no answer that is not as the document says', async (t) => {
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
