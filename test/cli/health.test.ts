import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { describe, it } from 'node:test'
import { assertRefused, commandLine, onlyJson } from '../support/command-line.ts'
import { listen } from '../support/listen.ts'
import { startTestService } from '../support/service.ts'

describe('lethe health', () => {
  it('succeeds if the service is ready, even if it listens on all addresses', async (t) => {
    const { url } = await startTestService(t)
    const env = { LETHE_PORT: new URL(url).port }
    const cli = commandLine(t)
    const { code, stdout } = await cli.run(['health'], { env })
    assert.deepEqual([code, stdout], [0, `The service at ${url}/readyz is ready.\n`])
    const everywhere = { ...env, LETHE_HOST: '0.0.0.0' }
    assert.deepEqual(onlyJson(await cli.run(['health', '--json'], { env: everywhere })), {
      status: 'ready',
      url: `${url}/readyz`,
    })
  })

  it('fails with one line if nothing responds or the service is not ready', async (t) => {
    const server = createServer((_, response) => response.writeHead(500).end())
    const env = { LETHE_PORT: String(await listen(server)) }
    const cli = commandLine(t)
    assertRefused(await cli.run(['health'], { env }), 1, /is not ready: it responded with 500\./)
    server.close()
    await once(server, 'close')
    assertRefused(await cli.run(['health'], { env }), 1, /does not respond: connect ECONNREFUSED/)
  })
})
