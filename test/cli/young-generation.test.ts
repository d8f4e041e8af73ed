import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { commandLine } from '../support/command-line.ts'

/** V8 then tells of every line of code of which it counts how much of what it makes stays. */
const telling = '--trace-pretenuring-statistics'
const requests = 4_000
const atOnce = 32

describe('lethe serve', () => {
  it('does not let V8 put what requests make among the old', async (t) => {
    const cli = commandLine(t)
    const service = cli.startProgram(['serve'], { LETHE_LOG_LEVEL: 'info' }, [telling])
    const [line, url] = await service.waitFor('stdout', /.*"url":"([^"]+)".*\n/)
    const behind = service.stdout().indexOf(line) + line.length
    const client = async () => {
      for (let sent = 0; sent < requests / atOnce; sent++) {
        const { status, body } = await fetch(`${url}/v1/analytics/trackers/shop/subjects`)
        assert.ok(status === 401 || status === 429, String(status))
        await body?.cancel()
      }
    }
    await Promise.all(Array.from({ length: atOnce }, client))
    service.kill('SIGTERM')
    const { code, stdout } = await service.ended
    assert.equal(code, 0)
    const told = stdout.slice(behind).match(/^.*pretenuring: .*$/gm) ?? []
    assert.deepEqual(told, [])
  })
})
