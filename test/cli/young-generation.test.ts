import assert from 'node:assert/strict'
import { once } from 'node:events'
import { Agent, get, IncomingMessage } from 'node:http'
import { describe, it } from 'node:test'
import { commandLine } from '../support/command-line.ts'

/** V8 then tells of every line of code of which it counts how much of what it makes stays. */
const telling = '--trace-pretenuring-statistics'
const requests = 1_500
const atOnce = 32

const agent = new Agent({ keepAlive: true, maxSockets: atOnce })

/** Asks with less effort than `fetch` does, which would be most of this test. */
async function statusAt(url: string): Promise<number | undefined> {
  const [response] = await once(get(url, { agent }), 'response')
  assert.ok(response instanceof IncomingMessage)
  response.resume()
  await once(response, 'end')
  return response.statusCode
}

describe('lethe serve', () => {
  it('does not let V8 put what requests make among the old', async (t) => {
    const cli = commandLine(t)
    const service = cli.startProgram(['serve'], { LETHE_LOG_LEVEL: 'info' }, [telling])
    const [line, url] = await service.waitFor('stdout', /.*"url":"([^"]+)".*\n/)
    const behind = service.stdout().indexOf(line) + line.length
    const client = async () => {
      for (let sent = 0; sent < requests / atOnce; sent++) {
        const status = await statusAt(`${url}/v1/analytics/trackers/shop/subjects`)
        assert.ok(status === 401 || status === 429, String(status))
      }
    }
    await Promise.all(Array.from({ length: atOnce }, client))
    agent.destroy()
    service.kill('SIGTERM')
    const { code, stdout } = await service.ended
    assert.equal(code, 0)
    const told = stdout.slice(behind).match(/^.*pretenuring: .*$/gm) ?? []
    assert.deepEqual(told, [])
  })
})
