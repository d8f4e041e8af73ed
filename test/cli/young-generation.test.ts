import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { describe, it } from 'node:test'
import { commandLine } from '../support/command-line.ts'

/** Makes V8 print each allocation site whose survival rate it tracks. */
const telling = '--trace-pretenuring-statistics'
const connections = 32
const requestsOnEach = 47

/**
 * Sends all requests at once over a plain socket, which costs less than an HTTP client. Returns the statuses.
 */
async function statusesAt(url: string): Promise<string[]> {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  await once(socket, 'connect')
  const request = (connection: string) =>
    `GET /v1/analytics/trackers/shop/subjects HTTP/1.1\r\nHost: ${hostname}\r\nConnection: ${connection}\r\n\r\n`
  socket.write(request('keep-alive').repeat(requestsOnEach - 1) + request('close'))
  const answers = await text(socket)
  return Array.from(answers.matchAll(/HTTP\/1\.1 (\d+) /g), ([, status = '']) => status)
}

describe('lethe serve', () => {
  it('does not make V8 allocate objects of requests in the old generation', async (t) => {
    const cli = commandLine(t)
    const service = cli.startProgram(['serve'], { LETHE_LOG_LEVEL: 'info' }, [telling])
    const [line, url = ''] = await service.waitFor('stdout', /.*"url":"([^"]+)".*\n/)
    const behind = service.stdout().indexOf(line) + line.length
    const statuses = await Promise.all(Array.from({ length: connections }, () => statusesAt(url)))
    assert.equal(statuses.flat().length, connections * requestsOnEach)
    assert.deepEqual(
      statuses.flat().filter((status) => status !== '401' && status !== '429'),
      [],
    )
    service.kill('SIGTERM')
    const { code, stdout } = await service.ended
    assert.equal(code, 0)
    const told = stdout.slice(behind).match(/^.*pretenuring: .*$/gm) ?? []
    assert.deepEqual(told, [])
  })
})
